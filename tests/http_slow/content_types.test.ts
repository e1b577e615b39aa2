/** Content types: requested, detected, inherited, and their effect on a read. */
import { assertEquals } from "@std/assert";
import { detectMediaType, MEDIA_TYPES } from "../../supabase/functions/api/contract/media_types.ts";
import { TYPES } from "../support/content/media_types.ts";
import cases from "../acceptance/content_types.ts";
import { acceptance, test } from "../support/stack/suite.ts";

await acceptance(cases);

test("the 27 content types are the contract's", () => {
  assertEquals([...MEDIA_TYPES].sort(), Object.keys(TYPES).sort());
  for (const path of ["constructor", "a.__proto__"]) assertEquals(detectMediaType(path, true), "text/plain");
});
