/** A read fetches segments ahead, and releases their memory. */
import { assertEquals, assertRejects } from "@std/assert";
import { ByteBudget } from "../../../supabase/functions/api/runtime/byte_budget.ts";
import { READ_AHEAD_SEGMENTS } from "../../../supabase/functions/api/limits.ts";
import { readSegments } from "../../../supabase/functions/api/files/read_segments.ts";
import type { Segments } from "../../../supabase/functions/api/ports/segments.ts";
import { segmentOf } from "../segment_of.ts";

const SIZE = 10;
const SEGMENTS = Array.from({ length: 8 }, (_, index) => segmentOf(String(index), SIZE));

/**
 * A storage whose segments have ten bytes, each with the value of the segment's number. Records fetches, and fails for
 * `broken`.
 */
function storage(broken?: string): { segments: Segments; fetched: string[] } {
  const fetched: string[] = [];
  const unused = () => Promise.reject(new Error("not for reading"));
  const segments: Segments = {
    get(segment) {
      fetched.push(segment.name);
      if (segment.name === broken) return Promise.reject(new Error("out of reach"));
      return Promise.resolve(new Uint8Array(SIZE).fill(Number(segment.name)));
    },
    ...{ put: unused, free: () => {}, remove: unused, days: unused, list: unused, probe: unused },
  };
  return { segments, fetched };
}

/** Returns whether the whole budget has been released. */
async function isWhole(budget: ByteBudget, bytes: number): Promise<boolean> {
  // An abandoned fetch releases its memory only when it has ended.
  await new Promise((resolve) => setTimeout(resolve, 0));
  const release = budget.tryAcquire(bytes);
  release?.();
  return release !== null;
}

for (const [memory, ahead] of [[0, 0], [SIZE, 1], [2 * SIZE, 2], [1000, READ_AHEAD_SEGMENTS]] as const) {
  Deno.test(`readSegments() with memory for ${memory} bytes ahead fetches ${ahead} segments ahead, and reads all in order`, async () => {
    const { segments, fetched } = storage();
    const readAhead = new ByteBudget(memory);
    const read: number[] = [];
    for await (const bytes of readSegments({ segments, readAhead }, SEGMENTS)) {
      read.push(bytes[0] ?? -1);
      assertEquals(fetched.length, Math.min(read.length + ahead, SEGMENTS.length));
    }
    assertEquals(read, SEGMENTS.map((_, index) => index));
    assertEquals(await isWhole(readAhead, memory), true);
  });
}

Deno.test("readSegments() of many readers take memory for reading ahead once, not each", async () => {
  const { segments, fetched } = storage();
  const readAhead = new ByteBudget(2 * SIZE);
  const readers = Array.from({ length: 5 }, () => readSegments({ segments, readAhead }, SEGMENTS));
  for (const reader of readers) await reader.next();
  assertEquals(fetched.length, 5 + 2);
  for (const reader of readers) await reader.return();
  assertEquals(await isWhole(readAhead, 2 * SIZE), true);
});

Deno.test("readSegments() gives its memory back when the reader stops, and when a segment is out of reach", async () => {
  const readAhead = new ByteBudget(1000);
  const stopped = readSegments({ segments: storage().segments, readAhead }, SEGMENTS);
  await stopped.next();
  await stopped.return();
  assertEquals(await isWhole(readAhead, 1000), true);

  const failing = readSegments({ segments: storage("2").segments, readAhead }, SEGMENTS);
  await failing.next();
  await failing.next();
  await assertRejects(() => failing.next(), Error, "out of reach");
  assertEquals(await isWhole(readAhead, 1000), true);
});
