/**
 * Highlights a text outside of the code view, by the same parsers and in the same colours. This module and its imports
 * are loaded when such a text is first seen.
 */
import { highlightCode } from "@lezer/highlight";
import { colours } from "./colours.ts";
import { loadLanguage } from "./languages.ts";

/** A part of the text, and the classes of its colours: empty for what has none. */
export interface Span {
  readonly text: string;
  readonly classes: string;
}

/** The whole text in parts. Null for a media type without a language. */
export async function highlight(text: string, mimeType: string): Promise<readonly Span[] | null> {
  const support = await loadLanguage(mimeType);
  if (support === null) return null;
  const spans: Span[] = [];
  const put = (part: string, classes: string) => {
    const last = spans.at(-1);
    if (last?.classes === classes) spans[spans.length - 1] = { text: last.text + part, classes };
    else spans.push({ text: part, classes });
  };
  highlightCode(text, support.language.parser.parse(text), colours, put, () => put("\n", ""));
  return spans;
}

let sheet: CSSStyleSheet | null = null;

/** Makes the classes known to the page: by a constructed style sheet, which its policy allows. */
export function adoptColours(): void {
  if (sheet !== null) return;
  sheet = new CSSStyleSheet();
  sheet.replaceSync(colours.module?.getRules() ?? "");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
