/**
 * Highlights text outside of the code view, with the same parsers and colours. This module and its imports are loaded when
 * such a text is first shown.
 */
import { highlightCode } from "@lezer/highlight";
import { colours } from "./colours.ts";
import { loadLanguage } from "./languages.ts";

/** A part of the text and the classes of its colours; without a colour, the classes are empty. */
export interface Span {
  readonly text: string;
  readonly classes: string;
}

/** Splits the whole text into spans. Returns null for a media type without a language. */
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

/** Adds the classes to the page with a constructed style sheet, which the Content-Security-Policy allows. */
export function adoptColours(): void {
  if (sheet !== null) return;
  sheet = new CSSStyleSheet();
  sheet.replaceSync(colours.module?.getRules() ?? "");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
