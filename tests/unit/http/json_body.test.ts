import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { readJsonBody } from "../../../supabase/functions/api/http/json_body.ts";
import { ContentText } from "../../../supabase/functions/api/http/json_string.ts";
import {
  JSON_DEPTH_MAX,
  JSON_FIELDS_BYTES_MAX,
  JSON_VALUES_MAX,
} from "../../../supabase/functions/api/limits.ts";
import { ApiError } from "../../../supabase/functions/api/errors.ts";

const OPTIONS = { limitBytes: 1e9, streamedField: "content", maxStreamedLength: 1e9 };
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Yields the bytes in chunks of the given lengths, repeating the lengths. */
async function* chunked(bytes: Uint8Array, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = lengths[turn % lengths.length] || bytes.length;
    yield await Promise.resolve(bytes.subarray(at, at + length));
    at += length;
  }
}

const MIB = 1024 * 1024;

const read = (body: string | Uint8Array, options = {}, lengths: readonly number[] = [0]) =>
  readJsonBody(chunked(typeof body === "string" ? bytesOf(body) : body, lengths), { ...OPTIONS, ...options });

/** Returns the parsed body in a comparable form, or "refused" if it is not JSON. */
async function outcome(bytes: Uint8Array, lengths: readonly number[], options = {}): Promise<unknown> {
  try {
    return shown(await read(bytes, options, lengths));
  } catch (error) {
    if (error instanceof ApiError && error.code === "INVALID_JSON") return "refused";
    throw error;
  }
}

function shown(body: unknown): unknown {
  const content: unknown = Object(body)["content"];
  if (Array.isArray(body) || !(content instanceof ContentText)) return { fields: JSON.stringify(body) };
  const { content: _, ...fields } = Object(body);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const text = content.chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") +
    decoder.decode();
  return { fields: JSON.stringify(fields), text, length: content.length, isWellFormed: content.isWellFormed };
}

/** The expected outcome, from `JSON.parse` of the whole body. */
function reference(bytes: Uint8Array): unknown {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return "refused";
  }
  const content: unknown = Array.isArray(body) ? undefined : Object(body)["content"];
  if (typeof body !== "object" || typeof content !== "string") return { fields: JSON.stringify(body) };
  const { content: _, ...fields } = Object(body);
  const isWellFormed = content.isWellFormed();
  return {
    fields: JSON.stringify(fields),
    text: content.toWellFormed(),
    length: content.length,
    isWellFormed,
  };
}

const lengths = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 });

const graphemes = fc.string({ unit: "grapheme", maxLength: 8 });
/** JSON strings in every notation: raw characters, short escapes, hexadecimal escapes, paired and lone surrogates. */
const stringToken = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: graphemes.map((text) => JSON.stringify(text).slice(1, -1)) },
    fc.constantFrom(...'\\n \\" \\\\ \\/ \\b \\u0000 \\uD83D\\uDE00 \\ud800 \\udC00 \\u00e9'.split(" ")),
    fc.constantFrom("\u2028", "\x7f", "😀", "\ufeff"),
  ),
  { maxLength: 8 },
).map((parts) => `"${parts.join("")}"`);
const nameToken = fc.oneof(
  fc.constantFrom('"content"', '"con\\u0074ent"', '"path"', '"__proto__"', '"a"'),
  stringToken,
);
const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
const valueToken = fc.oneof(
  stringToken,
  fc.json(),
  fc.constantFrom(..."0 -0 1e5 -1.5E-3 true false null".split(" "), '{"content":"inner"}', '["content","x"]'),
);
const document = fc.oneof(
  { weight: 1, arbitrary: valueToken },
  {
    weight: 5,
    arbitrary: fc.array(fc.tuple(nameToken, valueToken, space, space), { maxLength: 6 }).map((fields) =>
      `{${
        fields.map(([name, value, before, after]) => `${before}${name}${after}:${before}${value}${after}`)
          .join(",")
      }}`
    ),
  },
);
/** Bytes that change the meaning of the bytes around them. */
const telling = fc.constantFrom(...'"\\{}[]:,0-.eu \n\x00\x1f\x80\xc3\xed\xff').map((text) =>
  text.charCodeAt(0)
);

/** Strings from this length count as long, and are parsed one by one: none, nearly all, several, or few of them. */
const longStrings = fc.constantFrom({}, ...[2, 5, 12].map((longStringBytes) => ({ longStringBytes })));

Deno.test("readJsonBody equals JSON.parse for every document, whatever the chunks and the long strings", async () => {
  await fc.assert(
    fc.asyncProperty(document, lengths, longStrings, async (text, chunks, options) => {
      assertEquals(await outcome(bytesOf(text), chunks, options), reference(bytesOf(text)));
    }),
    { numRuns: 3000 },
  );
});

Deno.test("readJsonBody parses long strings in slices, and bounds each of them, what is left, and how many values there are", async () => {
  // Counts how often other work can run on this thread: never, if reading blocks it.
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const string = JSON.stringify("\n".repeat(400_000));
  const fields = await read(`{"a":[${Array.from({ length: 20 }, () => string).join()}]}`, {
    fieldsBytesMax: 24 * MIB,
  }).finally(() => clearInterval(timer));
  assertEquals(fields, { a: Array.from({ length: 20 }, () => "\n".repeat(400_000)) });
  assert(turns >= 10, `others had ${turns} turns`);
  for (
    const [body, details] of [
      [`{"a":"${"x".repeat(JSON_FIELDS_BYTES_MAX)}"}`, { limitBytes: JSON_FIELDS_BYTES_MAX }],
      [`{"a":1${" ".repeat(JSON_FIELDS_BYTES_MAX)}}`, { limitBytes: JSON_FIELDS_BYTES_MAX }],
      [`[${"1,".repeat(JSON_VALUES_MAX)}1]`, { rule: "json_values", limit: JSON_VALUES_MAX }],
    ] as const
  ) {
    const error = await assertRejects(() => read(body, { fieldsBytesMax: 24 * MIB }), ApiError);
    assertEquals([error.code, error.details], ["CONTENT_TOO_LARGE", details]);
  }
});

Deno.test("readJsonBody equals JSON.parse for every document with some bytes changed", async () => {
  const change = fc.tuple(
    fc.nat(),
    fc.oneof(telling, fc.nat({ max: 255 })),
    fc.constantFrom("set", "insert", "cut"),
  );
  const changes = fc.array(change, { minLength: 1, maxLength: 3 });
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(document, changes, lengths, async (text, edits, chunks) => {
      const bytes = [...bytesOf(text)];
      for (const [place, byte, kind] of edits) {
        const at = place % (bytes.length + 1);
        if (kind === "cut") bytes.splice(at);
        else bytes.splice(at, kind === "set" ? 1 : 0, byte);
      }
      const changed = Uint8Array.from(bytes);
      const expected = reference(changed);
      if (expected === "refused") refused++;
      assertEquals(await outcome(changed, chunks), expected);
    }),
    { numRuns: 4000 },
  );
  assert(refused > 500 && refused < 3900, `${refused} refused`);
});

Deno.test("readJsonBody equals JSON.parse for strings longer than a chunk, whatever is at its border", async () => {
  for (const unit of ["a", "é", "日", "😀", "\\n", "\\u65e5", "\\ud83d\\ude00", "\\ud83d", '\\"a']) {
    for (const shift of ["", "x", "xx", "xxx"]) {
      const text = `{"content":"${shift}${unit.repeat(400_000)}","path":"a"}`;
      assertEquals(await outcome(bytesOf(text), [65_536]), reference(bytesOf(text)), unit);
    }
  }
});

Deno.test("readJsonBody refuses what JSON.parse refuses", async () => {
  const refused = ['{"content":"abc', "\\x41", "\\u12", "\\u+123", '" "', "\0", "\n", '"}{"a":"', '",'];
  const bodies = refused.map((text) => bytesOf(text.startsWith("{") ? text : `{"content":"${text}"}`));
  const cut = Uint8Array.from([...bytesOf('{"content":"'), 0xc3, ...bytesOf('\\u0080"}')]);
  for (const body of [...bodies, cut, bytesOf("{'content':'a'}")]) {
    assertEquals([await outcome(body, [0]), reference(body)], ["refused", "refused"]);
  }
});

Deno.test("readJsonBody takes the last of several fields of the same name", async () => {
  assertEquals(await read('{"content":"a","content":5}'), { content: 5 });
  const { chunks, length } = await contentOf('{"content":5,"con\\u0074ent":"b"}');
  assertEquals({ chunks, length }, { chunks: [bytesOf("b")], length: 1 });
});

async function contentOf(...given: Parameters<typeof read>): Promise<ContentText> {
  const content: unknown = Object(await read(...given))["content"];
  if (!(content instanceof ContentText)) throw new Error("the body has no content");
  return content;
}

Deno.test("readJsonBody counts a string over the maximum and stores none of it", async () => {
  const body = `{"content":"${"é".repeat(3_000_000)}"}`;
  const { chunks, length } = await contentOf(body, { maxStreamedLength: 2_999_999 }, [65_536]);
  assertEquals({ chunks, length }, { chunks: [], length: 3_000_000 });
  const exact = await contentOf(body, { maxStreamedLength: 3_000_000 }, [65_536]);
  assert(exact.chunks.length > 0);
});

Deno.test("readJsonBody refuses a body over its limit as soon as that much came, and stops reading", async () => {
  let pulled = 0;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled++;
      controller.enqueue(bytesOf(pulled === 1 ? '{"content":"' : "a".repeat(100)));
    },
    cancel: () => {
      cancelled = true;
    },
  });
  const error = await assertRejects(() => readJsonBody(body, { ...OPTIONS, limitBytes: 1000 }), ApiError);
  assertEquals([error.code, error.details], ["CONTENT_TOO_LARGE", { limitBytes: 1000 }]);
  assert(pulled < 15 && cancelled);
  const exact = '{"content":"a"}';
  await read(exact, { limitBytes: exact.length });
  await assertRejects(() => read(exact, { limitBytes: exact.length - 1 }), ApiError);
});

Deno.test("readJsonBody bounds nesting", async () => {
  const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
  await read(nested(JSON_DEPTH_MAX));
  const error = await assertRejects(() => read(nested(JSON_DEPTH_MAX + 1)), ApiError);
  assertEquals(error.code, "INVALID_JSON");
});
