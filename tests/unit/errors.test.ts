/** The table of error codes is complete, and the database refuses with no other codes. */
import { assert, assertEquals } from "@std/assert";
import { ERROR_CODES, ERRORS, REFUSAL_CODES } from "../../supabase/functions/api/errors.ts";
import { meaningOf } from "../../supabase/functions/api/openapi/meanings.ts";

const schemas = new URL("../../supabase/schemas/", import.meta.url);

/** Refusals of the functions for the operator's commands. */
const OPERATOR_CODES = [
  ..."ACCOUNT_REFUSED INVALID_LIMIT INVALID_MAKER PROJECT_AMBIGUOUS PROJECT_DELETED UNKNOWN_TIER".split(" "),
];

/** The codes of all refusals that the schema's functions return. */
async function codesOfSchema(): Promise<Set<string>> {
  const codes = new Set<string>();
  for await (const { name } of Deno.readDir(schemas)) {
    if (!name.endsWith(".sql")) continue;
    const sql = await Deno.readTextFile(new URL(name, schemas));
    for (
      const [code] of sql.matchAll(
        /\brefusal\(\s*(case\b[^;]*?\bend\b|'[A-Z_]+')|'code', '[A-Z_]+'|v_code := case\b[^;]*?\bend\b/g,
      )
    ) {
      for (const [, name = ""] of code.matchAll(/'([A-Z_]+)'/g)) codes.add(name);
    }
  }
  return codes;
}

Deno.test("REFUSAL_CODES are the codes with which the database refuses, besides those that no client sees", async () => {
  assertEquals(
    [...await codesOfSchema()].sort(),
    [...REFUSAL_CODES, "SEGMENT_LIST_FULL", "TEXTS_TO_MERGE", ...OPERATOR_CODES].sort(),
  );
});

Deno.test("ERRORS: each code has an HTTP error status and a sentence, and every refusal has a message", () => {
  for (const [code, { status }] of Object.entries(ERRORS)) assert(status >= 400 && status < 600, code);
  for (const code of ERROR_CODES) assert(/^[A-Z`].*\.$/.test(meaningOf(code)), code);
  for (const code of REFUSAL_CODES) assert(/^[A-Z].*\.$/.test(ERRORS[code].message), code);
});
