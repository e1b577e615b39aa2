import { assertEquals } from "@std/assert";
import { detach, drainAndDetach } from "../../../supabase/functions/api/runtime/bytes.ts";

Deno.test("detach() leaves nothing of the bytes' buffer", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  detach(bytes);
  assertEquals([bytes.length, bytes.buffer.byteLength], [0, 0]);
});

Deno.test("drainAndDetach() yields every chunk whole, and detaches it when the next one is requested", () => {
  const chunks = [new Uint8Array([1, 2]), new Uint8Array([3]), new Uint8Array([4, 5, 6])];
  const seen: number[][] = [];
  for (const chunk of drainAndDetach(chunks)) {
    seen.push([...chunk]);
    assertEquals(chunks.map(({ length }) => length > 0), chunks.map((_, index) => index >= seen.length - 1));
  }
  assertEquals(seen, [[1, 2], [3], [4, 5, 6]]);
  assertEquals(chunks.map(({ length }) => length), [0, 0, 0]);
});
