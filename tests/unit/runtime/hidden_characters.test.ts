/** Invisible characters, and no others, are escaped in texts for a person or a model. */
import { assertEquals } from "@std/assert";
import { escapeHidden, unescapeHidden } from "../../../supabase/functions/api/runtime/hidden_characters.ts";

const HIDDEN = [
  ["a zero-width space", "a\u200bb", "a\\u200bb"],
  ["a zero-width non-joiner", "a\u200cb", "a\\u200cb"],
  ["a joiner between letters", "a\u200db", "a\\u200db"],
  ["a word joiner", "a\u2060b", "a\\u2060b"],
  ["a byte order mark", "\ufeffa", "\\ufeffa"],
  ["a soft hyphen", "a\u00adb", "a\\u00adb"],
  ["tag characters", "a\u{e0049}\u{e0067}", "a\\udb40\\udc49\\udb40\\udc67"],
  ["a variation selector after a letter", "a\ufe0f", "a\\ufe0f"],
  ["a variation selector of the second plane", "a\u{e0100}", "a\\udb40\\udd00"],
  ["a line separator", "a\u2028b", "a\\u2028b"],
  ["a paragraph separator", "a\u2029b", "a\\u2029b"],
  ["an override of direction", "a\u202eb", "a\\u202eb"],
  ["a filler that is called a letter", "a\u3164b", "a\\u3164b"],
  ["a grapheme joiner", "a\u034fb", "a\\u034fb"],
  ["a Braille pattern of no dots", "a\u2800b", "a\\u2800b"],
  ["a line feed and an escape", "a\n\u001b[2J", "a\\u000a\\u001b[2J"],
  ["a control of the second block", "a\u0085b", "a\\u0085b"],
  ["a joiner after an emoji", "👍\u200d.md", "👍\\u200d.md"],
  ["a second selector", "❤\ufe0f\ufe0f", "❤\ufe0f\\ufe0f"],
  ["a selector after a digit", "1\ufe0f", "1\\ufe0f"],
  ["tags of a flag that there is not", "🏴\u{e0041}\u{e007f}", "🏴\\udb40\\udc41\\udb40\\udc7f"],
] as const;
for (const [what, text, shown] of HIDDEN) {
  Deno.test(`escapeHidden() escapes ${what}, and unescapeHidden() takes it back`, () => {
    assertEquals(escapeHidden(text), shown);
    assertEquals(escapeHidden(shown), shown, "once is enough");
    assertEquals(unescapeHidden(shown), text);
    assertEquals(JSON.parse(escapeHidden(JSON.stringify(text))), text, "within JSON");
  });
}

const FLAG = "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";
const EMOJI = "👨\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3 👍🏽 🇨🇭.md";
const SCRIPTS = ["naïve/e\u0301tude, 日本語/ぷらん.md", "שלום/مرحبا.txt", "नमस्ते.md", "a b\u00a0c\u3000d"];
for (const text of ["notes/plan.md", ...SCRIPTS, EMOJI, FLAG]) {
  Deno.test(`escapeHidden() leaves ${JSON.stringify(text)} as it is`, () =>
    assertEquals(escapeHidden(text), text));
}

for (const text of ["\\u0041.md", "C:\\users", "\\u200b\\u002f", "\\ud83d\\ude00", "\\u2e", "\\udb40"]) {
  Deno.test(`unescapeHidden() leaves ${text}, which escapeHidden() does not write, as it is`, () =>
    assertEquals(unescapeHidden(text), text));
}

Deno.test("unescapeHidden() takes capitals, too", () =>
  assertEquals(unescapeHidden("a\\uFEFFb"), "a\ufeffb"));
