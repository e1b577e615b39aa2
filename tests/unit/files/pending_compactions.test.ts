/** Which merges are left to the next append, and for how long. */
import { assertEquals } from "@std/assert";
import {
  DUE_MERGE_ROPE_SEGMENTS_MAX,
  MERGE_CHECK_EVERY_SEGMENTS,
  SEGMENT_BYTES_MAX,
} from "../../../supabase/functions/api/limits.ts";
import { PendingCompactions } from "../../../supabase/functions/api/files/pending_compactions.ts";
import type { Segment } from "../../../supabase/functions/api/ports/segments.ts";

/** A rope of these sizes. The ids tell the places. */
function rope(...sizes: number[]): Segment[] {
  return sizes.map((size, place) => ({
    id: `${place}`,
    name: `project/20261122/${place}`,
    size,
    sha256: "",
    newlines: 0,
    endsWithNewline: false,
    isText: true,
  }));
}

const same = (count: number, size: number) => Array.from({ length: count }, () => size);
const SMALL = same(MERGE_CHECK_EVERY_SEGMENTS, 100);
/** Large ones, of which none is worth merging with its neighbour, then as many small ones as are worth it. */
const LARGE = same(10, SEGMENT_BYTES_MAX);

Deno.test("left are the small segments at the end of a rope, with what is in front of them; one append gets them", () => {
  const merges = new PendingCompactions();
  const sizes = [...LARGE, ...same(14, 100)];
  assertEquals(merges.defer("file", 7, rope(...sizes)), true);
  assertEquals(merges.claim("other"), undefined);
  assertEquals(merges.claim("file"), {
    version: 7,
    kept: rope(...LARGE).map(({ id }) => id),
    run: rope(...sizes).slice(LARGE.length),
  });
  assertEquals(merges.claim("file"), undefined);
});

const NOT_LEFT: Readonly<Record<string, readonly number[]>> = {
  "a rope that is not worth merging": [...LARGE, ...same(6, 100)],
  "a run that is not at the end": [...same(12, 100), ...LARGE.slice(0, 2)],
  "a rope of very many segments": [
    ...same(40, SEGMENT_BYTES_MAX),
    ...same(DUE_MERGE_ROPE_SEGMENTS_MAX - 39, 100),
  ],
  "one that was due at the check before": [...SMALL, ...SMALL],
};

for (const [name, sizes] of Object.entries(NOT_LEFT)) {
  Deno.test(`not left: ${name}`, () => {
    const merges = new PendingCompactions();
    assertEquals(merges.defer("file", 1, rope(...sizes)), false);
    assertEquals(merges.claim("file"), undefined);
  });
}

Deno.test("a later version of the file ends it; the version itself, an earlier one and another file's do not", () => {
  const merges = new PendingCompactions();
  merges.defer("file", 5, rope(...SMALL));
  merges.forgetOlderThan("file", 4);
  merges.forgetOlderThan("file", 5);
  merges.forgetOlderThan("other", 6);
  assertEquals(merges.claim("file")?.version, 5);
  merges.defer("file", 5, rope(...SMALL));
  merges.forgetOlderThan("file", 6);
  assertEquals(merges.claim("file"), undefined);
});
