/** An archive that is abandoned, or whose segments cannot be read, stops reading and has no end record. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { archiveBytes, zipArchive } from "../../../supabase/functions/api/files/zip_archive.ts";
import type { Content } from "../../../supabase/functions/api/ports/files.ts";
import type { Segments } from "../../../supabase/functions/api/ports/segments.ts";
import { ByteBudget } from "../../../supabase/functions/api/runtime/byte_budget.ts";
import { Deadline } from "../../../supabase/functions/api/runtime/deadline.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { segmentOf } from "../segment_of.ts";

const SIZE = 10;
const BUDGET = 1_000;

/** Files of two segments each; the segment `broken` cannot be read. */
function laboratory(broken?: string) {
  const fetched: string[] = [];
  const unused = () => Promise.reject(new Error("not for reading"));
  const segments: Segments = {
    get({ name }) {
      fetched.push(name);
      return name === broken
        ? Promise.reject(new Error("out of reach"))
        : Promise.resolve(new Uint8Array(SIZE));
    },
    ...{ put: unused, free: () => {}, remove: unused, days: unused, list: unused, probe: unused },
  };
  const contents: Content[] = Array.from({ length: 10 }, (_, index) => ({
    file: {
      ...{ id: String(index), path: `dir/${index}.bin`, version: 1, mimeType: "text/plain", size: 2 * SIZE },
      ...{ createdAt: "2026-11-23T00:00:00.000Z", updatedAt: "2026-11-23T00:00:00.000Z" },
    },
    segments: [`${index}a`, `${index}b`].map((name) => segmentOf(name, SIZE)),
  }));
  const readAhead = new ByteBudget(BUDGET);
  const context = { segments, readAhead, deadline: new Deadline(1_000, new ManualClock()) };
  return { context, contents, fetched, readAhead };
}

async function isWhole(budget: ByteBudget): Promise<boolean> {
  // An abandoned fetch releases its memory only when it has ended.
  await new Promise((resolve) => setTimeout(resolve, 0));
  const release = budget.tryAcquire(BUDGET);
  release?.();
  return release !== null;
}

Deno.test("zipArchive() yields as many bytes as archiveBytes() says, and reads every segment once, in order", async () => {
  const { context, contents, fetched } = laboratory();
  let length = 0;
  for await (const piece of zipArchive(context, contents)) length += piece.length;
  assertEquals(length, archiveBytes(contents));
  assertEquals(fetched, contents.flatMap(({ segments }) => segments.map(({ name }) => name)));
});

Deno.test("zipArchive() that is given up reads nothing more, and gives back the memory for reading ahead", async () => {
  const { context, contents, fetched, readAhead } = laboratory();
  const pieces = zipArchive(context, contents);
  for (let piece = 0; piece < 5; piece++) await pieces.next();
  await pieces.return();
  const read = fetched.length;
  assert(read < 10, `${read} segments`);
  assert(await isWhole(readAhead));
  assertEquals(fetched.length, read);
});

for (const [broken, isFirst] of [["0a", true], ["4b", false]] as const) {
  Deno.test(
    `zipArchive() throws where ${isFirst ? "the first" : "a later"} segment cannot be read, ${
      isFirst ? "before its first piece" : "in its place"
    }`,
    async () => {
      const { context, contents, readAhead } = laboratory(broken);
      let length = 0;
      await assertRejects(
        async () => {
          for await (const piece of zipArchive(context, contents)) length += piece.length;
        },
        Error,
        "out of reach",
      );
      assertEquals(length === 0, isFirst);
      assert(length < archiveBytes(contents) / 2);
      assert(await isWhole(readAhead));
    },
  );
}
