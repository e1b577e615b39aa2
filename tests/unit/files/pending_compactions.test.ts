/** Which merges are left to the next append, and for how long. */
import { assertEquals } from "@std/assert";
import {
  COMPACTION_CHECK_EVERY_SEGMENTS,
  PENDING_COMPACTION_SEGMENTS_MAX,
  SEGMENT_BYTES_MAX,
} from "../../../supabase/functions/api/limits.ts";
import { DueMerges } from "../../../supabase/functions/api/files/pending_compactions.ts";
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
const SMALL = same(COMPACTION_CHECK_EVERY_SEGMENTS, 100);
/** Large ones, of which none is worth merging with its neighbour, then as many small ones as are worth it. */
const LARGE = same(10, SEGMENT_BYTES_MAX);

Deno.test("left are the small segments at the end of a rope, with what is in front of them; one append gets them", () => {
  const merges = new DueMerges();
  const sizes = [...LARGE, ...same(14, 100)];
  assertEquals(merges.leave("file", 7, rope(...sizes)), true);
  assertEquals(merges.take("other"), undefined);
  assertEquals(merges.take("file"), {
    version: 7,
    kept: rope(...LARGE).map(({ id }) => id),
    run: rope(...sizes).slice(LARGE.length),
  });
  assertEquals(merges.take("file"), undefined);
});

const NOT_LEFT: Readonly<Record<string, readonly number[]>> = {
  "a rope that is not worth merging": [...LARGE, ...same(6, 100)],
  "a run that is not at the end": [...same(12, 100), ...LARGE.slice(0, 2)],
  "a rope of very many segments": [
    ...same(40, SEGMENT_BYTES_MAX),
    ...same(PENDING_COMPACTION_SEGMENTS_MAX - 39, 100),
  ],
  "one that was due at the check before": [...SMALL, ...SMALL],
};

for (const [name, sizes] of Object.entries(NOT_LEFT)) {
  Deno.test(`not left: ${name}`, () => {
    const merges = new DueMerges();
    assertEquals(merges.leave("file", 1, rope(...sizes)), false);
    assertEquals(merges.take("file"), undefined);
  });
}

Deno.test("a later version of the file ends it; the version itself, an earlier one and another file's do not", () => {
  const merges = new DueMerges();
  merges.leave("file", 5, rope(...SMALL));
  merges.isAt("file", 4);
  merges.isAt("file", 5);
  merges.isAt("other", 6);
  assertEquals(merges.take("file")?.version, 5);
  merges.leave("file", 5, rope(...SMALL));
  merges.isAt("file", 6);
  assertEquals(merges.take("file"), undefined);
});
