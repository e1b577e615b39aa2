/** Words that a page breaks in their middle. */
import type { Page } from "playwright-core";

/** Longest word, in letters, that fits into every column. */
const WORD_LETTERS_MAX = 15;

/** Returns the words that are broken across lines, except long words and names of people and agents. */
export async function brokenWords(page: Page): Promise<string[]> {
  return await page.evaluate((lettersMax) => {
    const broken: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.parentElement?.closest("option, .visually-hidden, .account")) continue;
      for (const word of (node.textContent ?? "").matchAll(/\p{L}+/gu)) {
        if (word[0].length > lettersMax) continue;
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) {
          broken.push(word[0]);
        }
      }
    }
    return broken;
  }, WORD_LETTERS_MAX);
}
