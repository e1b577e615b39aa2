import { assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { isUtf8 } from "../../../supabase/functions/api/files/segment.ts";
import { encodeBase64, jsonContent } from "../../../supabase/functions/api/http/json_content.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for await (const piece of pieces) text += decoder.decode(piece, { stream: true });
  return text + decoder.decode();
}

const anyRecord = fc.dictionary(fc.string().filter((key) => key !== "__proto__"), fc.jsonValue());
/** Text with many characters that must be escaped, and many that must not. */
const anyText = fc.array(
  fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("\n", '"', "\\", "\0", "\x1f", "\x7f", "\u2028", "😀", "\ufeff"),
  ),
).map((parts) => parts.join(""));

Deno.test("jsonContent equals JSON.stringify of the whole answer, in text and in base64", async () => {
  const segments = fc.oneof(fc.array(anyText.map(bytesOf)), fc.array(fc.uint8Array()));
  await fc.assert(
    fc.asyncProperty(anyRecord, segments, anyText, async (fields, segments, message) => {
      const { content: _, isBase64: __, ...record } = fields;
      const whole = Uint8Array.from(segments.flatMap((segment) => [...segment]));
      for (const isBase64 of isUtf8(whole) ? [false, true] : [true]) {
        const answer = { record, segments, isBase64, operation: "read_file", message };
        const content = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
          isBase64 ? encodeBase64(whole) : whole,
        );
        const data = { ...record, content, ...isBase64 && { isBase64 } };
        assertEquals(
          await textOf(jsonContent(answer)),
          JSON.stringify({ success: true, data, operation: "read_file", message }),
        );
      }
    }),
    { numRuns: 200 },
  );
});

Deno.test("jsonContent fails where a segment fails, before the text is well-formed", async () => {
  async function* segments() {
    yield bytesOf("a");
    throw new Error("segment gone");
  }
  const answer = { record: {}, segments: segments(), isBase64: false, operation: "read_file", message: "m" };
  let text = "";
  await assertRejects(
    async () => {
      for await (const piece of jsonContent(answer)) text += new TextDecoder().decode(piece);
    },
    Error,
    "segment gone",
  );
  assertEquals(text, '{"success":true,"data":{"content":"a');
});

Deno.test("jsonContent equals JSON.stringify where parts of a long text end within characters", async () => {
  const texts = ["", "a", "ab", "abc"].map((start) => start + "😀\n".repeat(60_000));
  const answer = { record: {}, segments: texts.map(bytesOf), isBase64: false, operation: "o", message: "m" };
  const { data } = JSON.parse(await textOf(jsonContent(answer)));
  assertEquals(data.content, texts.join(""));
});

// deno-lint-ignore require-yield -- it fails before its first segment
async function* unreachable(): AsyncGenerator<Uint8Array> {
  throw new Error("segment gone");
}

Deno.test("jsonContent: the first piece holds the first segment, so a failure of that segment comes before any piece", async () => {
  for (const isBase64 of [false, true]) {
    const answer = { record: { size: 2 }, isBase64, operation: "read_file", message: "m" };
    const first = await jsonContent({ ...answer, segments: [bytesOf("abc"), bytesOf("def")] }).next();
    const content = isBase64 ? "YWJj" : "abc";
    const opening = `{"success":true,"data":{"size":2,"content":"${content}`;
    assertEquals(first.value && new TextDecoder().decode(first.value), opening);
    const pieces = jsonContent({ ...answer, segments: unreachable() });
    await assertRejects(() => pieces.next(), Error, "segment gone");
  }
});

Deno.test("jsonContent gives a segment back once it is encoded", async () => {
  const texts = ["plain", "line\n".repeat(100_000)];
  for (const isBase64 of [false, true]) {
    const freed: Uint8Array[] = [];
    const free = (segment: Uint8Array) => {
      freed.push(segment);
      // Overwritten, because nothing may read it any more.
      segment.fill(0);
    };
    const segments = texts.map(bytesOf);
    const answer = { record: {}, segments, isBase64, free, operation: "read_file", message: "m" };
    const { data } = JSON.parse(await textOf(jsonContent(answer)));
    const content = isBase64 ? new TextDecoder().decode(Uint8Array.fromBase64(data.content)) : data.content;
    assertEquals(content, texts.join(""));
    assertEquals(freed, segments);
  }
});
