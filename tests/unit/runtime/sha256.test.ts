import { assertEquals } from "@std/assert";
import { HASHED_AT_ONCE_BYTES_MAX, HASHES_BEFORE_LOADING } from "../../../supabase/functions/api/limits.ts";
import { sha256Hex } from "../../../supabase/functions/api/runtime/bytes.ts";

const MOST = HASHED_AT_ONCE_BYTES_MAX;
const LENGTHS = [0, 1, 55, 56, 63, 64, 65, 1000, MOST, MOST + 1, 60_000];

async function isRight(): Promise<void> {
  assertEquals(
    await sha256Hex(new TextEncoder().encode("abc")),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  for (const length of LENGTHS) {
    const buffer = crypto.getRandomValues(new Uint8Array(length + 2));
    const bytes = buffer.subarray(1, length + 1);
    const expected = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    const shared = new Uint8Array(new SharedArrayBuffer(length));
    shared.set(bytes);
    assertEquals(await sha256Hex(shared), expected, `${length} shared bytes`);
    const hash = sha256Hex(bytes);
    bytes.fill(0);
    assertEquals(await hash, expected, `${length} bytes`);
  }
}

/** Returns the number of calls to Web Crypto during `work`. */
async function callsDuring(work: () => Promise<unknown>): Promise<number> {
  const digest = crypto.subtle.digest;
  let calls = 0;
  crypto.subtle.digest = (...parameters) => {
    calls++;
    return digest.apply(crypto.subtle, parameters);
  };
  try {
    await work();
  } finally {
    crypto.subtle.digest = digest;
  }
  return calls;
}

Deno.test(
  "sha256Hex() is SHA-256 of few bytes and of many, of a part of a buffer and of shared memory",
  isRight,
);

Deno.test("an isolate that has hashed some hashes what is short at once, and the same", async () => {
  for (let hashes = 0; hashes < HASHES_BEFORE_LOADING; hashes++) await sha256Hex(new Uint8Array(1));
  await import("node:crypto");
  const hash = (length: number) => () => sha256Hex(new Uint8Array(length));
  assertEquals(await callsDuring(hash(HASHED_AT_ONCE_BYTES_MAX)), 0);
  assertEquals(await callsDuring(hash(HASHED_AT_ONCE_BYTES_MAX + 1)), 1);
  await isRight();
});
