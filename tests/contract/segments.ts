/** The contract of `ports/segments.ts`, each statement once: to be run over every implementation. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ApiError, type ErrorCode } from "../../supabase/functions/api/errors.ts";
import { describeSegment } from "../../supabase/functions/api/files/segment.ts";
import { SEGMENT_BYTES_MAX } from "../../supabase/functions/api/limits.ts";
import { segmentName } from "../../supabase/functions/api/ports/segment_name.ts";
import type { Segment, Segments } from "../../supabase/functions/api/ports/segments.ts";
import { test } from "../support/stack/suite.ts";

export interface SegmentsTarget {
  /** An instance that has nothing in memory; all instances use the same storage. */
  open(): Segments;
  /** An instance whose storage is out of reach. */
  unreachable(): Segments;
  /** Replaces an object, or removes it, without the port. */
  tamper(name: string, bytes: Uint8Array | null): Promise<void>;
}

const encoder = new TextEncoder();

export function segmentsContract(name: string, { open, unreachable, tamper }: SegmentsTarget): void {
  /** A segment of a project, as an upload of that day would describe it. */
  async function segment(
    bytes: Uint8Array,
    projectId: string = crypto.randomUUID(),
    day = new Date(),
  ): Promise<Segment> {
    const id = crypto.randomUUID();
    return await describeSegment(id, segmentName(projectId, day, id), bytes);
  }

  async function stored(text: string, projectId?: string, day?: Date): Promise<Segment> {
    const bytes = encoder.encode(text);
    const made = await segment(bytes, projectId, day);
    await open().put(made, bytes);
    return made;
  }

  test(`${name}.put: the bytes are durable once it resolves, of any size a segment may have`, async () => {
    for (const size of [1, 1000, SEGMENT_BYTES_MAX]) {
      const bytes = new Uint8Array(size).map((_, index) => index * 31);
      const made = await segment(bytes);
      await open().put(made, bytes);
      assertEquals(await open().get(made), bytes, `${size} bytes`);
    }
  });

  test(`${name}.put may be repeated`, async () => {
    const made = await stored("once");
    await open().put(made, encoder.encode("once"));
    assertEquals(await open().get(made), encoder.encode("once"));
  });

  for (
    const [what, bytes] of [
      ["missing", null],
      ["short", encoder.encode("whol")],
      ["long", encoder.encode("whole!")],
      ["changed", encoder.encode("whale")],
    ] as const
  ) {
    test(`${name}.get throws CONTENT_CORRUPT for an object that is ${what}`, async () => {
      const made = await stored("whole");
      await tamper(made.name, bytes);
      await rejects(() => open().get(made), "CONTENT_CORRUPT");
    });
  }

  test(`${name}.get keeps a segment for the next reader, unless told not to`, async () => {
    const [kept, passed] = [await stored("kept"), await stored("passed")];
    const segments = open();
    await segments.get(kept);
    await segments.get(passed, false);
    for (const { name } of [kept, passed]) await tamper(name, null);
    assertEquals(await segments.get(kept), encoder.encode("kept"));
    await rejects(() => segments.get(passed), "CONTENT_CORRUPT");
  });

  test(`${name}.remove removes these objects and no other; names without an object are ignored`, async () => {
    const projectId = crypto.randomUUID();
    const [first, second, third] = [
      await stored("first", projectId),
      await stored("second", projectId),
      await stored("third", projectId),
    ];
    await open().remove([]);
    await open().remove([first.name, third.name, segmentName(projectId, new Date(), crypto.randomUUID())]);
    await open().remove([first.name]);
    for (const { name } of [first, third]) {
      await rejects(() => open().get({ ...first, name }), "CONTENT_CORRUPT");
    }
    assertEquals(await open().get(second), encoder.encode("second"));
  });

  test(`${name}.days: the days of the project that have objects, ascending, and nothing else`, async () => {
    const projectId = crypto.randomUUID();
    assertEquals(await open().days(projectId), []);
    for (const day of ["2025-03-01", "2024-12-31", "2025-03-01", "2025-01-02"]) {
      await stored(day, projectId, new Date(day));
    }
    await stored("another project's", undefined, new Date("2025-02-02"));
    await tamper(`${projectId}/notes/x`, encoder.encode("not of the service"));
    assertEquals(await open().days(projectId), ["2024-12-31", "2025-01-02", "2025-03-01"]);
  });

  test(`${name}.list: the ids of a day in a fixed order, page by page`, async () => {
    const projectId = crypto.randomUUID();
    const [day, other] = ["2025-01-02", "2025-01-03"];
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push((await stored(`${n}`, projectId, new Date(day))).id);
    await stored("of another day", projectId, new Date(other));
    const all = await open().list(projectId, day, 0, 10);
    assertEquals(all.toSorted(), ids.toSorted());
    assertEquals(await open().list(projectId, day, 0, 10), all, "the order is fixed");
    const pages = [];
    for (const offset of [0, 2, 4, 6]) pages.push(await open().list(projectId, day, offset, 2));
    assertEquals(pages, [all.slice(0, 2), all.slice(2, 4), all.slice(4), []]);
  });

  test(`${name}.probe stores one object outside all projects and reads it, however often`, async () => {
    await open().probe();
  });

  test(`${name}: every method throws SERVICE_UNAVAILABLE when the storage stays out of reach`, async () => {
    const segments = unreachable();
    const made = await segment(encoder.encode("a"));
    await rejects(() => segments.put(made, encoder.encode("a")), "SERVICE_UNAVAILABLE");
    await rejects(() => segments.get(made), "SERVICE_UNAVAILABLE");
    await rejects(() => segments.remove([made.name]), "SERVICE_UNAVAILABLE");
    await rejects(() => segments.days("p"), "SERVICE_UNAVAILABLE");
    await rejects(() => segments.list("p", "2025-01-02", 0, 1), "SERVICE_UNAVAILABLE");
    await rejects(() => segments.probe(), "SERVICE_UNAVAILABLE");
  });
}

/** That the call throws an ApiError of this code. */
export async function rejects(call: () => Promise<unknown>, code: ErrorCode): Promise<void> {
  const error = await assertRejects(call, ApiError);
  assert(error.code === code, `${error.code}, not ${code}`);
}
