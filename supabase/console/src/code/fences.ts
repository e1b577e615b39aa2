/** What a fence of Markdown calls the languages that are highlighted, as GitHub takes it. */

const NAMES: Readonly<Record<string, readonly string[]>> = {
  "application/json": ["json", "jsonl", "ndjson"],
  "application/xml": ["xml", "svg", "xsd", "xsl"],
  "application/yaml": ["yaml", "yml"],
  "text/css": ["css"],
  "text/html": ["html", "htm"],
  // JSON with comments is JSON to no parser of JSON.
  "text/javascript": ["javascript", "js", "jsx", "mjs", "cjs", "jsonc", "json5"],
  "text/markdown": ["markdown", "md"],
  "text/typescript": ["typescript", "ts", "tsx", "mts", "cts"],
  "text/x-c++src": ["c++", "cc", "cpp", "hpp"],
  "text/x-csrc": ["c", "h"],
  "text/x-java-source": ["java"],
  "text/x-python": ["python", "py", "python3"],
};

const TYPES = new Map(
  Object.entries(NAMES).flatMap(([type, names]) => names.map((name) => [name, type] as const)),
);

/** The media type whose language the first word of a fence names: `ts`, `Python`, `js{1,3}`. Undefined for others. */
export function typeOfFence(word: string): string | undefined {
  return TYPES.get(/^[\w+]*/.exec(word.toLowerCase())?.[0] ?? "");
}
