/** Documents stay short enough to be read in one sitting, also on a phone. */
import { assert, assertEquals } from "@std/assert";
import { readDocuments } from "../support/content/documents.ts";

const PAGE_LINES_MAX = 250;
const ROW_LENGTH_MAX = 300;
const DECISIONS_WORDS_MAX = 12_000;
const DECISION_LINES_MAX = 90;

const documents = await readDocuments();
const decisions = documents.filter(({ path }) => /^supabase\/docs\/decisions\/\d/.test(path));

Deno.test(`documents: a page of the API, and one for operators, has at most ${PAGE_LINES_MAX} lines`, () => {
  const pages = documents.filter(({ path }) => /^supabase\/docs\/(?:api|operating)\//.test(path));
  assert(pages.length > 30);
  assertEquals(tooLong(pages, PAGE_LINES_MAX), []);
});

Deno.test(`documents: a row of a table has at most ${ROW_LENGTH_MAX} characters`, () => {
  const wide = documents.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) =>
      line.startsWith("|") && line.length > ROW_LENGTH_MAX ? [`${path}:${index + 1}: ${line.length}`] : []
    )
  );
  assertEquals(wide, []);
});

Deno.test(`documents: a decision has at most ${DECISION_LINES_MAX} lines, all of them ${DECISIONS_WORDS_MAX} words`, () => {
  assert(decisions.length >= 30);
  assertEquals(tooLong(decisions, DECISION_LINES_MAX), []);
  const words = decisions.flatMap(({ lines }) => lines.join("\n").match(/\S+/g) ?? []).length;
  assert(words <= DECISIONS_WORDS_MAX, `${words} words`);
});

function tooLong(pages: typeof documents, max: number): string[] {
  return pages.filter(({ lines }) => lines.length - 1 > max).map(({ path, lines }) =>
    `${path}: ${lines.length - 1}`
  );
}
