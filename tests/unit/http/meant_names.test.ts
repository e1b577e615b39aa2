import { assertEquals } from "@std/assert";
import { meantName } from "../../../supabase/functions/api/http/validate.ts";

const WRITE = ["path", "content", "contentType", "isBase64", "ifVersion"];
const KEY = ["name", "environment", "scopes", "pathPrefix", "expiresAt"];

/** A given name, the known names, and the one that was probably meant. */
const NAMES: readonly (readonly [string, readonly string[], string | undefined])[] = [
  ["ifVersoin", WRITE, "ifVersion"],
  ["ifversion", WRITE, "ifVersion"],
  ["if_version", WRITE, "ifVersion"],
  ["If-Version", WRITE, "ifVersion"],
  ["ifVersionn", WRITE, "ifVersion"],
  ["fVersion", WRITE, "ifVersion"],
  ["encoding", WRITE, "isBase64"],
  ["mimeType", WRITE, "contentType"],
  ["contetn", WRITE, "content"],
  ["prefix", KEY, "pathPrefix"],
  ["prefix", ["path", "directory"], "directory"],
  ["scope", KEY, "scopes"],
  ["expires", KEY, "expiresAt"],
  // Too different from all known names; a short name allows a smaller difference.
  ["patch", ["path"], "path"],
  ["pa", ["path"], undefined],
  ["x", ["q", "at"], undefined],
  ["nonsense", [...WRITE, ...KEY], undefined],
  ["", WRITE, undefined],
  ["path", [], undefined],
];

for (const [name, known, meant] of NAMES) {
  Deno.test(`meantName: ${name || "nothing"} of ${known.join(", ") || "none"} is ${meant ?? "none"}`, () => {
    assertEquals(meantName(name, known), meant);
  });
}
