import { assertEquals } from "@std/assert";
import {
  expiryOf,
  isAccessToken,
  isPersonsToken,
} from "../../../supabase/functions/api/auth/access_token.ts";
import { ACCESS_TOKEN_LENGTH_MAX } from "../../../supabase/functions/api/limits.ts";

const encode = (bytes: Uint8Array) => bytes.toBase64({ alphabet: "base64url", omitPadding: true });
const part = (value: unknown) => encode(new TextEncoder().encode(JSON.stringify(value)));

Deno.test("isAccessToken takes a token signed with an asymmetric key, which only the back end can verify", async () => {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const { privateKey } = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const unsigned = `${part({ alg: "ES256", typ: "JWT", kid: "k" })}.${
    part({ sub: "é?>", exp: 2_000_000_000 })
  }`;
  const signature = await crypto.subtle.sign(
    { name: "ECDSA", hash: "SHA-256" },
    privateKey,
    new TextEncoder().encode(unsigned),
  );
  const token = `${unsigned}.${encode(new Uint8Array(signature))}`;
  assertEquals([isAccessToken(token), expiryOf(token)], [true, 2_000_000_000_000]);
});

Deno.test("isAccessToken refuses what is no signed JWT: keys, unsigned tokens, other texts, and what is too long", () => {
  const token = (length: number) => `a.b.${"c".repeat(length - 4)}`;
  assertEquals(isAccessToken(token(ACCESS_TOKEN_LENGTH_MAX)), true);
  const others = [
    "",
    "a.b.c ",
    "a.b.c\n",
    ..."a a.b a.b. a..c .b.c a.b.c.d a.b.é oa_abc sb_secret_x".split(" "),
  ];
  for (const text of others) assertEquals(isAccessToken(text), false, JSON.stringify(text));
  assertEquals(isAccessToken(token(ACCESS_TOKEN_LENGTH_MAX + 1)), false);
});

Deno.test("expiryOf is null where a token does not say when it ends", () => {
  for (const payload of [part({}), part({ exp: "1" }), part(null), part([1]), "!", "abc"]) {
    assertEquals(expiryOf(`a.${payload}.c`), null, payload);
  }
});

Deno.test("isPersonsToken takes the role and audience of people who signed in, or no audience, and no third-party app's token", () => {
  const role = "authenticated";
  const table: readonly (readonly [unknown, boolean])[] = [
    [{ role }, true],
    [{ role, aud: null }, true],
    [{ role, aud: [] }, true],
    [{ role, aud: "authenticated" }, true],
    [{ role, aud: ["other", "authenticated"] }, true],
    [{ role, aud: "" }, false],
    [{ role, aud: "other" }, false],
    [{ role, aud: "Authenticated" }, false],
    [{ role, aud: ["other"] }, false],
    [{ role, aud: 1 }, false],
    [{ role, aud: { authenticated: true } }, false],
    [{ role, client_id: "an app" }, false],
    [{ role, client_id: null }, false],
    [{ role: "postgres" }, false],
    [{ role: "service_role" }, false],
    [{ role: [role] }, false],
    [{ role: null }, false],
    [{ aud: "authenticated" }, false],
  ];
  for (const [claims, isPersons] of table) {
    assertEquals(isPersonsToken(`a.${part(claims)}.c`), isPersons, JSON.stringify(claims));
  }
});
