import { assertEquals } from "@std/assert";
import { sha256Hex } from "../../supabase/functions/api/domain/sha256.ts";

Deno.test("sha256Hex() is SHA-256 of few bytes and of many, of a part of a buffer and of shared memory", async () => {
  assertEquals(
    await sha256Hex(new TextEncoder().encode("abc")),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  for (const length of [0, 1, 55, 56, 63, 64, 65, 1000, 60_000]) {
    const buffer = crypto.getRandomValues(new Uint8Array(length + 2));
    const bytes = buffer.subarray(1, length + 1);
    const expected = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    assertEquals(await sha256Hex(bytes), expected, `${length} bytes`);
    const shared = new Uint8Array(new SharedArrayBuffer(length));
    shared.set(bytes);
    assertEquals(await sha256Hex(shared), expected, `${length} shared bytes`);
  }
});
