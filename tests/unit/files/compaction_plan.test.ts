import { assert, assertEquals, assertLess, assertLessOrEqual } from "@std/assert";
import fc from "fast-check";
import { planCompaction, segmentListMax } from "../../../supabase/functions/api/files/compact.ts";
import {
  COMPACTION_CHECK_EVERY_SEGMENTS,
  COMPACTION_RUN_BYTES_MAX,
  COMPACTION_RUN_SEGMENTS_MAX,
  SEGMENT_BYTES_MAX,
} from "../../../supabase/functions/api/limits.ts";

/** Upper bound of the bytes that compactions write per appended byte, counting 4 KiB extra for each append. */
const WRITE_AMPLIFICATION_MAX = 4;

const MIB = SEGMENT_BYTES_MAX;
const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);

/** Returns the sizes into which `cutSegments` cuts this number of bytes of text if every cut falls 3 bytes short. */
function recut(bytes: number): number[] {
  const sizes: number[] = [];
  let rest = bytes;
  for (; rest >= 2 * MIB; rest -= MIB - 3) sizes.push(MIB - 3);
  for (; rest > MIB; rest -= sizes.at(-1) ?? 0) sizes.push(Math.ceil(rest / 2) - 3);
  return rest > 0 ? [...sizes, rest] : sizes;
}

/** Appends segments one by one and compacts whenever the plan has a run. Fails if the list gets too long. */
function simulate(start: readonly number[], appends: Iterable<number>, bytesMax: number) {
  let sizes = [...start];
  const outcome = { appends: 0, appended: 0, rewritten: 0, compactions: 0, longest: 0 };
  for (const size of appends) {
    if (outcome.appended >= bytesMax) break;
    sizes.push(size);
    outcome.appends++;
    outcome.appended += size;
    assertLessOrEqual(sizes.length, segmentListMax(sum(start) + outcome.appended), `${outcome.appends}`);
    outcome.longest = Math.max(outcome.longest, sizes.length);
    if (sizes.length % COMPACTION_CHECK_EVERY_SEGMENTS !== 0) continue;
    const run = planCompaction(sizes, false);
    if (run === null) continue;
    const bytes = sum(sizes.slice(run.from, run.to));
    const compacted = recut(bytes);
    assertLess(compacted.length, run.to - run.from);
    sizes = [...sizes.slice(0, run.from), ...compacted, ...sizes.slice(run.to)];
    outcome.rewritten += bytes;
    outcome.compactions++;
  }
  return outcome;
}

function* repeated(pattern: readonly (readonly [size: number, times: number])[], appendsMax: number) {
  for (let made = 0; made < appendsMax;) {
    for (const [size, times] of pattern) {
      for (let time = 0; time < times && made < appendsMax; time++, made++) yield size;
    }
  }
}

/** 1 byte to 1 MiB; every order of magnitude is equally likely. */
const anySize = fc.double({ min: 0, max: 20, noNaN: true }).map((exponent) => Math.ceil(2 ** exponent));

const HARD: readonly (readonly [string, readonly (readonly [number, number])[]])[] = [
  ["of 1 byte", [[1, 1]]],
  ["of 4 KiB", [[4096, 1]]],
  ["of 40 kB", [[40_000, 1]]],
  ["of half a MiB", [[MIB / 2, 1]]],
  ["of half a MiB and a byte", [[MIB / 2 + 1, 1]]],
  ["tiny and huge in turn", [[1, 1], [MIB, 1]]],
  ["tiny and half in turn", [[1, 1], [MIB / 2, 1]]],
  ["tiny and just over half in turn", [[1, 1], [MIB / 2 + 1, 1]]],
  ["15 tiny, then 600 kB", [[1, 15], [600_000, 1]]],
  ["40 tiny, then 1 MiB", [[100, 40], [MIB, 1]]],
  ["40 tiny, then 300 kB", [[100, 40], [300_000, 1]]],
  ["of 340 kB, three of which just fit", [[349_525, 3], [1, 2]]],
];

for (const [name, pattern] of HARD) {
  Deno.test(`planCompaction keeps the segment list short and writes little: appends ${name}`, () => {
    const outcome = simulate([], repeated(pattern, 30_000), 100 * MIB);
    assertLess(outcome.rewritten, WRITE_AMPLIFICATION_MAX * (outcome.appended + 4096 * outcome.appends));
  });
}

Deno.test("planCompaction keeps the segment list short and writes little, whatever is appended", () => {
  const sizeAndTimes = fc.tuple(anySize, fc.integer({ min: 1, max: 64 }));
  const pattern = fc.array(sizeAndTimes, { minLength: 1, maxLength: 6 });
  const start = fc.integer({ min: 0, max: 50 });
  fc.assert(
    fc.property(start, pattern, (full, sizes) => {
      const outcome = simulate(new Array<number>(full).fill(MIB), repeated(sizes, 2500), 100 * MIB);
      assertLess(outcome.rewritten, WRITE_AMPLIFICATION_MAX * (outcome.appended + 4096 * outcome.appends));
    }),
    { numRuns: 150 },
  );
});

Deno.test("planCompaction keeps the segment list short for appends with no pattern", () => {
  fc.assert(
    fc.property(fc.array(anySize, { minLength: 300, maxLength: 1500, size: "max" }), (sizes) => {
      simulate([], sizes, 100 * MIB);
    }),
    { numRuns: 50 },
  );
});

Deno.test("planCompaction: 1,000 appends of 100 bytes to a 10 MiB file store at most 2 MB", () => {
  const outcome = simulate(new Array<number>(10).fill(MIB), repeated([[100, 1]], 1000), Infinity);
  assertEquals(outcome.appends, 1000);
  assertLessOrEqual(outcome.appended + outcome.rewritten, 2_000_000);
  assertLessOrEqual(outcome.longest, 32);
});

Deno.test("planCompaction finds the only pair of a full segment list that can be compacted, wherever it is", () => {
  fc.assert(fc.property(fc.nat({ max: 300 }), fc.nat({ max: 300 }), (before, after) => {
    const full = (count: number) => new Array<number>(count).fill(MIB);
    const sizes = [...full(before), 500_000, 500_000, ...full(after)];
    const run = planCompaction(sizes, true);
    assert(run !== null && run.from <= before && run.to >= before + 2);
  }));
});

Deno.test("planCompaction returns null for a full segment list only where no compaction saves a segment", () => {
  assertEquals(planCompaction([], true), null);
  assertEquals(planCompaction([1], true), null);
  assertEquals(planCompaction([MIB, 1, MIB], true), null);
  assertEquals(planCompaction([MIB / 2, MIB / 2 + 1], true), null);
  assertEquals(planCompaction([MIB / 2, MIB / 2], true), { from: 0, to: 2 });
});

Deno.test("planCompaction accepts any price once there are too many segments", () => {
  const sizes = new Array<number>(16_000).fill(521_000);
  assertLess(segmentListMax(sum(sizes)) - 32, sizes.length);
  assert(planCompaction(sizes, false) !== null);
});

Deno.test("planCompaction does not rely on cuts that would split a character", () => {
  assertEquals(planCompaction([700_000, 2 * MIB - 1_400_000, 700_000], true), null);
  assertEquals(planCompaction([700_000, 2 * MIB - 1_400_006, 700_000], true), { from: 0, to: 3 });
});

Deno.test("planCompaction leaves short segment lists alone", () => {
  assertEquals(planCompaction([100, 100, 100], false), null);
  assertEquals(planCompaction(new Array<number>(10).fill(MIB), false), null);
});

Deno.test("planCompaction stays within the bounds of one compaction, and reads each size once for each run it is in", () => {
  for (const size of [1, 3000, 70_000, 400_000]) {
    let reads = 0;
    const sizes = new Proxy(new Array<number>(5_000).fill(size), {
      get: (array, key) => (reads++, Reflect.get(array, key)),
    });
    const run = planCompaction(sizes, true) ?? { from: 0, to: 0 };
    // Twice: each read of a size comes with one of the length.
    assertLessOrEqual(reads, 2 * 5_000 * (COMPACTION_RUN_SEGMENTS_MAX + 1));
    assertLess(1, run.to - run.from);
    assertLessOrEqual(run.to - run.from, COMPACTION_RUN_SEGMENTS_MAX);
    assertLessOrEqual(sum(sizes.slice(run.from, run.to)), COMPACTION_RUN_BYTES_MAX);
  }
});

Deno.test("segmentListMax is 128 and two per MiB", () => {
  assertEquals([0, 1, MIB, MIB + 1, 100 * MIB].map(segmentListMax), [128, 130, 130, 132, 328]);
});
