/** Code in documents: the right parts are coloured, and no text is lost or added. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { typeOfFence } from "../../../supabase/console/src/code/languages.ts";
import { highlight } from "../../../supabase/console/src/code/highlight.ts";

/** The word of a fence, a code for it, and a part of the code with a colour of its own. */
const SAMPLES: readonly (readonly [word: string, code: string, coloured: string])[] = [
  ["json", `{"a": 12}`, "12"],
  ["JSONC", "{} // why\n", "// why"],
  ["xml", `<a b="c"/>`, `"c"`],
  ["svg", "<svg/>", "svg"],
  ["yaml", "# why\na: 1\n", "# why"],
  ["yml", "a: b # why\n", "# why"],
  ["css", "a { color: red } /* why */", "/* why */"],
  ["html", "<script>const a = 1</script>", "const"],
  ["js", "const a = 1;\n", "const"],
  ["jsx", "const a = <b/>;\n", "const"],
  ["ts", "let a: number = 42;\n", "42"],
  ["TypeScript", "let a = 42;\n", "42"],
  ["ts{1,3}", "let a = 42;\n", "42"],
  ["tsx", "type A = 'b';\n", "'b'"],
  ["md", "# Head\n\ntext\n", "Head"],
  ["c", "int a = 42;\n", "42"],
  ["c++", "return 42;\n", "return"],
  ["java", "return 42;\n", "return"],
  ["py", "def f():\n  return 42\n", "return"],
];

Deno.test("code: every language that a fence can name is highlighted", async () => {
  for (const [word, code, coloured] of SAMPLES) {
    const spans = await highlight(code, typeOfFence(word) ?? "none") ?? [];
    assert(
      spans.some(({ text, classes }) => classes !== "" && text.includes(coloured)),
      `${word}: ${JSON.stringify(spans)}`,
    );
  }
});

Deno.test("code: words that name no language are plain, whatever they are", async () => {
  for (const word of ["", "text", "sh", "constructor", "__proto__", "toString", "<ts>", "j s"]) {
    assertEquals(typeOfFence(word), undefined, word);
  }
  assertEquals(await highlight("text", "text/plain"), null);
});

Deno.test("code: the parts are the whole text, broken code and markup included", async () => {
  const words = fc.constantFrom(..."< > </script> ` ' \" { } /* */ a".split(" "), "\n", "\r\n", "\0");
  const texts = fc.oneof(fc.string({ unit: "binary-ascii" }), fc.array(words).map((all) => all.join("")));
  await fc.assert(
    fc.asyncProperty(texts, fc.constantFrom(...SAMPLES.map(([word]) => word)), async (text, word) => {
      const spans = await highlight(text, typeOfFence(word) ?? "none") ?? [];
      assertEquals(spans.map((span) => span.text).join(""), text);
    }),
    { numRuns: 30 },
  );
});
