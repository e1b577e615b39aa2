/** The port to Storage stores durably, verifies every read, and fails only with 503. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { BUCKET, SupabaseSegments } from "../../supabase/functions/api/adapters/supabase_segments.ts";
import { ApiError, type ErrorCode } from "../../supabase/functions/api/errors.ts";
import { describeSegment } from "../../supabase/functions/api/files/segment.ts";
import { SEGMENT_BYTES_MAX } from "../../supabase/functions/api/limits.ts";
import { segmentName } from "../../supabase/functions/api/ports/segment_name.ts";
import type { Segment } from "../../supabase/functions/api/ports/segments.ts";
import { suite, test } from "../support/stack/suite.ts";
import { client, silentParts } from "../support/stack/supabase_client.ts";

const { service: { stack } } = await suite();
const supabase = client(stack.backendUrl, stack.secretKey);
const bucket = supabase.storage.from(BUCKET);
const encoder = new TextEncoder();

/** A port with nothing in memory; all ports use the same storage. */
const open = () => new SupabaseSegments(() => supabase, silentParts());

/** Replaces or removes an object without using the port. */
async function tamper(name: string, bytes: Uint8Array | null): Promise<void> {
  const { error } = bytes === null
    ? await bucket.remove([name])
    : await bucket.upload(name, new Uint8Array(bytes), { upsert: true });
  assertEquals(error, null);
}

/** A segment of a project, as an upload of that day describes it. */
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

test("segments: put: the bytes are durable once it resolves, of any size a segment may have", async () => {
  for (const size of [1, 1000, SEGMENT_BYTES_MAX]) {
    const bytes = new Uint8Array(size).map((_, index) => index * 31);
    const made = await segment(bytes);
    await open().put(made, bytes);
    assertEquals(await open().get(made), bytes, `${size} bytes`);
  }
});

const DAMAGES = { missing: null, short: "whol", long: "whole!", changed: "whale" };

for (const [what, text] of Object.entries(DAMAGES)) {
  test(`segments: get throws CONTENT_CORRUPT for an object that is ${what}`, async () => {
    const made = await stored("whole");
    await tamper(made.name, text === null ? null : encoder.encode(text));
    await rejects(() => open().get(made), "CONTENT_CORRUPT");
  });
}

test("segments: get keeps a segment for the next reader, unless the caller forbids it", async () => {
  const [kept, passed] = [await stored("kept"), await stored("passed")];
  const segments = open();
  await segments.get(kept);
  await segments.get(passed, false);
  for (const { name } of [kept, passed]) await tamper(name, null);
  assertEquals(await segments.get(kept), encoder.encode("kept"));
  await rejects(() => segments.get(passed), "CONTENT_CORRUPT");
});

test("segments: remove removes these objects and no other; names without an object are ignored", async () => {
  const projectId = crypto.randomUUID();
  const [first, second] = [await stored("first", projectId), await stored("second", projectId)];
  const third = await stored("third", projectId);
  await open().remove([]);
  await open().remove([first.name, third.name, segmentName(projectId, new Date(), crypto.randomUUID())]);
  await open().remove([first.name]);
  for (const { name } of [first, third]) {
    await rejects(() => open().get({ ...first, name }), "CONTENT_CORRUPT");
  }
  assertEquals(await open().get(second), encoder.encode("second"));
});

test("segments: days: the days of the project that have objects, ascending, and nothing else", async () => {
  const projectId = crypto.randomUUID();
  assertEquals(await open().days(projectId), []);
  for (const day of ["2025-03-01", "2024-12-31", "2025-03-01", "2025-01-02"]) {
    await stored(day, projectId, new Date(day));
  }
  await stored("another project's", undefined, new Date("2025-02-02"));
  await tamper(`${projectId}/notes/x`, encoder.encode("not of the service"));
  assertEquals(await open().days(projectId), ["2024-12-31", "2025-01-02", "2025-03-01"]);
});

test("segments: list: the ids of a day in a fixed order, page by page", async () => {
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

/** Asserts that the call throws an ApiError with this code. */
async function rejects(call: () => Promise<unknown>, code: ErrorCode): Promise<void> {
  const error = await assertRejects(call, ApiError);
  assert(error.code === code, `${error.code}, not ${code}`);
}
