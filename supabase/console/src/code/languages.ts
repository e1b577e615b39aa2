/** The languages with highlighting, by media type; each is loaded on first use. */
import type { LanguageSupport } from "@codemirror/language";

interface Language {
  /** Names of the language in a Markdown code fence, as on GitHub. */
  readonly names?: string;
  readonly load: () => Promise<LanguageSupport>;
}

const javascript = async (options: { jsx?: boolean; typescript?: boolean }) =>
  (await import("@codemirror/lang-javascript")).javascript(options);
const xml = async () => (await import("@codemirror/lang-xml")).xml();
const cpp = async () => (await import("@codemirror/lang-cpp")).cpp();

const LANGUAGES: Readonly<Record<string, Language>> = {
  "application/json": {
    names: "json jsonl ndjson",
    load: async () => (await import("@codemirror/lang-json")).json(),
  },
  "application/xml": { names: "xml svg xsd xsl", load: xml },
  "application/yaml": {
    names: "yaml yml",
    load: async () => (await import("@codemirror/lang-yaml")).yaml(),
  },
  "image/svg+xml": { load: xml },
  "text/css": { names: "css", load: async () => (await import("@codemirror/lang-css")).css() },
  "text/html": { names: "html htm", load: async () => (await import("@codemirror/lang-html")).html() },
  // JSON with comments: parsers of JSON reject it.
  "text/javascript": {
    names: "javascript js jsx mjs cjs jsonc json5",
    load: () => javascript({ jsx: true }),
  },
  "text/markdown": {
    names: "markdown md",
    load: async () => (await import("@codemirror/lang-markdown")).markdown(),
  },
  "text/typescript": {
    names: "typescript ts tsx mts cts",
    load: () => javascript({ jsx: true, typescript: true }),
  },
  "text/x-c++src": { names: "c++ cc cpp hpp", load: cpp },
  "text/x-csrc": { names: "c h", load: cpp },
  "text/x-java-source": { names: "java", load: async () => (await import("@codemirror/lang-java")).java() },
  "text/x-python": {
    names: "python py python3",
    load: async () => (await import("@codemirror/lang-python")).python(),
  },
};

/** Returns null for a media type without a language. */
export async function loadLanguage(mimeType: string): Promise<LanguageSupport | null> {
  return await LANGUAGES[mimeType]?.load() ?? null;
}

/**
 * Returns the media type for the first word of a code fence: `ts`, `Python`, `js{1,3}`. Undefined if the word names no known
 * language.
 */
export function typeOfFence(word: string): string | undefined {
  const name = /^[\w+]*/.exec(word.toLowerCase())?.[0] ?? "";
  return Object.entries(LANGUAGES).find(([, { names }]) => names?.split(" ").includes(name))?.[0];
}
