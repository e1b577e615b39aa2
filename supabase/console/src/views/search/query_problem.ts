/** What is wrong with a query, in the words of the person who typed it. */
import { reasonFor } from "../../api/failure.ts";

/** The service's reasons about a regular expression, which contain these texts. */
const SENTENCES: readonly (readonly [part: string, sentence: string])[] = [
  ["has a `(` without `)`", "The parenthesis is not closed."],
  ["has a `)` without `(`", "A parenthesis is closed that was not opened. For the character, write \\)."],
  ["has a `[` without `]`", "The square bracket is not closed."],
  [
    "with nothing to repeat",
    "There is nothing to repeat before *, +, ? or {. For the character, put \\ before it.",
  ],
  ["has an empty pattern", "The expression, or a part of it, is empty."],
  ["ends with a backslash", "The expression ends with a backslash. For the character, write \\\\."],
  ["has `\\d`", "\\d is not supported: write [0-9]."],
  ["has a back-reference", "References such as \\1 are not supported."],
  ["has `(?`", "Flags and look-around, such as (?i) and (?=…), are not supported."],
  ["range in the wrong order", "A range is in the wrong order: write [a-z], not [z-a]."],
  ["bounds in the wrong order", "The numbers in { } are in the wrong order: write {1,3}, not {3,1}."],
];

/** Returns a sentence about the query, or undefined if the failure is about something else. */
export function queryProblem(error: unknown): string | undefined {
  const reason = reasonFor(error, "q");
  if (reason === undefined) return undefined;
  return SENTENCES.find(([part]) => reason.includes(part))?.[1] ?? `The query ${reason}.`;
}
