import { assertEquals, assertMatch } from "@std/assert";
import { challengeOf, isChallenge } from "../../../supabase/functions/api/oauth/pkce.ts";

/** RFC 7636, appendix B. */
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

Deno.test("a challenge is a SHA-256 by the method S256: nothing else may be asked for", () => {
  assertEquals(isChallenge(CHALLENGE, "S256"), true);
  for (const method of [undefined, "", "plain", "s256", "S512"]) {
    assertEquals(isChallenge(CHALLENGE, method), false);
  }
  const others = [
    undefined,
    "",
    VERIFIER.slice(1),
    `${CHALLENGE}A`,
    `${CHALLENGE}=`,
    CHALLENGE.replace("-", "+"),
    `${CHALLENGE}\n`,
  ];
  for (const challenge of [...others, CHALLENGE.replace(/M$/, "N")]) {
    assertEquals(isChallenge(challenge, "S256"), false);
  }
});

Deno.test("a verifier has 43 to 128 unreserved characters, and its challenge is the standard's", async () => {
  assertEquals(await challengeOf(VERIFIER), CHALLENGE);
  assertEquals(isChallenge(await challengeOf("~.".repeat(64)), "S256"), true);
  assertMatch(await challengeOf("a".repeat(43)) ?? "", /^.{43}$/);
  for (
    const text of [
      "",
      "a".repeat(42),
      "a".repeat(129),
      `${VERIFIER}\n`,
      `${VERIFIER} `,
      `${VERIFIER}=`,
      `${VERIFIER}ä`,
    ]
  ) {
    assertEquals(await challengeOf(text), undefined, text);
  }
});
