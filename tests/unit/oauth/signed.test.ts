import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { OAUTH_RECORD_LENGTH_MAX } from "../../../supabase/functions/api/limits.ts";
import { SignedRecords } from "../../../supabase/functions/api/oauth/signed.ts";

const RECORD = { name: "Ä\u2028 🜁", list: [1, null] };

Deno.test("a signed record is read in every isolate with the same secret, and in no other", async () => {
  const text = await new SignedRecords("secret").sign("client", RECORD);
  assertMatch(text, /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$/);
  assertEquals(await new SignedRecords("secret").read("client", text), RECORD);
  assertEquals(await new SignedRecords("other").read("client", text), undefined);
});

Deno.test("a record of one kind is none of another kind", async () => {
  const records = new SignedRecords("secret");
  const text = await records.sign("client", RECORD);
  for (const kind of ["request", "", "Client", "client\n", `client\n${text}`]) {
    assertEquals(await records.read(kind, text), undefined, kind);
  }
});

Deno.test("a record that is changed at any place, cut, joined or too long is none", async () => {
  const records = new SignedRecords("secret");
  const text = await records.sign("a", RECORD);
  for (let at = 0; at < text.length; at++) {
    for (const other of ["A", "B", ".", "="]) {
      const changed = text.slice(0, at) + other + text.slice(at + 1);
      if (changed !== text) assertEquals(await records.read("a", changed), undefined, `${at}: ${other}`);
    }
  }
  const [payload, mac] = text.split(".");
  for (
    const broken of [
      "",
      ".",
      text.slice(1),
      text.slice(0, -1),
      `${text}=`,
      `${text}.${mac}`,
      `.${mac}`,
      `${payload}.`,
      `${text}\n`,
    ]
  ) {
    assertEquals(await records.read("a", broken), undefined, broken);
  }
  const long = await records.sign("a", "a".repeat(OAUTH_RECORD_LENGTH_MAX));
  assertEquals(await records.read("a", long), undefined);
});

Deno.test("the signature is not that of the secret itself, which signs other things", async () => {
  const text = await new SignedRecords("secret").sign("a", 1);
  const [payload = "", mac] = text.split(".");
  const bytes = new TextEncoder();
  const key = await crypto.subtle.importKey(
    "raw",
    bytes.encode("secret"),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const own = await crypto.subtle.sign("HMAC", key, bytes.encode(`a\n${payload}`));
  assertNotEquals(mac, new Uint8Array(own).toBase64({ alphabet: "base64url", omitPadding: true }));
});
