/** Syntax highlighting by media type; each language is loaded on first use. */
import type { LanguageSupport } from "@codemirror/language";

type Loader = () => Promise<LanguageSupport>;

const javascript = async (options: { jsx?: boolean; typescript?: boolean }) =>
  (await import("@codemirror/lang-javascript")).javascript(options);
const xml: Loader = async () => (await import("@codemirror/lang-xml")).xml();
const cpp: Loader = async () => (await import("@codemirror/lang-cpp")).cpp();

const LOADERS: Readonly<Record<string, Loader>> = {
  "application/json": async () => (await import("@codemirror/lang-json")).json(),
  "application/xml": xml,
  "application/yaml": async () => (await import("@codemirror/lang-yaml")).yaml(),
  "image/svg+xml": xml,
  "text/css": async () => (await import("@codemirror/lang-css")).css(),
  "text/html": async () => (await import("@codemirror/lang-html")).html(),
  "text/javascript": () => javascript({ jsx: true }),
  "text/markdown": async () => (await import("@codemirror/lang-markdown")).markdown(),
  "text/typescript": () => javascript({ jsx: true, typescript: true }),
  "text/x-c++src": cpp,
  "text/x-csrc": cpp,
  "text/x-java-source": async () => (await import("@codemirror/lang-java")).java(),
  "text/x-python": async () => (await import("@codemirror/lang-python")).python(),
};

/** Null for a media type without a language. */
export async function loadLanguage(mimeType: string): Promise<LanguageSupport | null> {
  return await LOADERS[mimeType]?.() ?? null;
}
