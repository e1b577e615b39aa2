/** Values that a schema does not expect: at its bounds, of another type, or invalid everywhere. */

/** A lone surrogate cannot be written as UTF-8, so these are escapes in JSON and broken escapes in a URL. */
export const ODD_TEXTS: readonly string[] = [
  ..."\0 a\0b \ud800 a\udc00\ud800 \ufffe \u{10ffff} \ufeff e\u0301 \u202e \x7f\x85 \r\n".split(" "),
  "",
  " ",
  ..."/ //a a/ ../.. a/./b \\ % %00 * {a [z-a] (".split(" "),
  "'; select 1; --",
  ..."$1 null true 1 -1 0 1.5 1e400 NaN 9007199254740993 2147483648 99999999999999999999".split(" "),
  ..."9999-99-99 0000-00-00T00:00:00Z +275760-09-13T00:00:00Z".split(" "),
  "x".repeat(300),
  "x".repeat(5000),
  "日".repeat(600),
  "a/".repeat(40) + "b",
];

/** For a URL: escapes that are broken, overlong, of surrogates, or beyond Unicode. */
export const ODD_ESCAPES: readonly string[] = [
  ..."% %0 %zz %00 a%00 %ff %c0%80 %ed%a0%80 %f4%90%80%80 + %2B %2F %2e%2e%2f %25 = []".split(" "),
];

/** Stands for a number that `JSON.stringify` cannot write. */
const NUMBERS = {
  "@huge@": "1e400",
  "@minus huge@": "-1e400",
  "@tiny@": "1e-400",
  "@long@": "1".repeat(400),
};

export const ODD_JSON: readonly unknown[] = [
  ...ODD_TEXTS,
  ...Object.keys(NUMBERS),
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  [],
  {},
  [null],
  [[[[]]]],
  { "": "" },
  { constructor: 1, toString: null },
];

/** The value as JSON, with odd numbers and texts inserted. */
export function oddJson(value: unknown): string {
  let text = JSON.stringify(value);
  for (const [name, number] of Object.entries(NUMBERS)) text = text.replaceAll(`"${name}"`, number);
  return text;
}

/** Functions that turn valid JSON into a broken body. */
export const BROKEN_BODIES: readonly ((text: string) => string | Uint8Array<ArrayBuffer>)[] = [
  () => "",
  () => "null",
  () => "[]",
  () => '"text"',
  (text) => text.slice(0, Math.floor(text.length / 2)),
  (text) => `${text}}`,
  (text) => `\ufeff${text}`,
  (text) => text.replaceAll('"', "'"),
  (text) => `${text.slice(0, -1)},}`,
  (text) => `[${text}]`,
  () => "[".repeat(5000),
  () => `{"a":${"[".repeat(40)}${"]".repeat(40)}}`,
  (text) => new Uint8Array([...new TextEncoder().encode(text.slice(0, -2)), 0xff, 0x22, 0x7d]),
  () => new Uint8Array(64),
];

/** Odd header values, as far as a client can send them. */
export const ODD_HEADERS: readonly string[] = [
  "",
  "*",
  '"',
  '""',
  ",",
  'W/"x"',
  '"a", "b"',
  "\x80\xff",
  "x",
  "x".repeat(300),
  ..."bytes=0-0 bytes=-0 bytes=99999999999999999999- bytes=5-1 items=1-2 true -1".split(" "),
];

export const ODD_CONTENT_TYPES: readonly string[] = [
  "text/plain",
  "application/octet-stream",
  "image/png",
  "multipart/form-data; boundary=x",
  "application/json; charset=utf-16",
  "application/x-www-form-urlencoded",
  "application/vnd.x+json",
  "nonsense",
  "",
];
