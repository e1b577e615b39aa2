/** Finds the known name that a client probably meant by an unknown one: a misspelt guard or limit would have no effect. */

/** Names for one thing, here and in other interfaces. Where two of them are known, the earlier one is suggested. */
const SYNONYMS: readonly (readonly string[])[] = [
  ["ifVersion", "expectedVersion", "baseVersion", "ifMatch", "version"],
  ["isBase64", "base64", "encoding"],
  ["directory", "pathPrefix", "prefix", "folder", "dir", "root", "path"],
  ["path", "filePath", "file", "fileName", "source", "from", "name"],
  ["destination", "dest", "target", "newPath", "to"],
  ["contentType", "mimeType", "mediaType", "type"],
  ["content", "text", "body", "data"],
  ["oldString", "oldStr", "oldText", "old", "find"],
  ["newString", "newStr", "newText", "new", "replacement"],
  ["replaceAll", "all", "global"],
  ["expectedOccurrences", "occurrences", "count"],
  ["dryRun", "preview", "simulate"],
  ["scopes", "permissions", "rights"],
  ["expiresAt", "expires", "expiry", "expiresIn", "ttl"],
  ["gracePeriodSeconds", "gracePeriod", "grace"],
  ["keepVersions", "maxVersions", "versions"],
  ["keepDays", "maxDays", "maxAge", "days"],
  ["limit", "pageSize", "perPage", "max", "maxResults", "top"],
  ["offset", "skip", "start", "page"],
  ["after", "cursor", "next", "pageToken", "since"],
  ["before", "until"],
  ["at", "asOf", "time", "timestamp", "date"],
  ["q", "query", "search", "pattern", "term"],
  ["wait", "timeout"],
  ["name", "label", "title"],
];

/** The synonyms by their letters: a table, since a client can cause many lookups. */
const SYNONYMS_BY_LETTERS = synonymsByLetters();

/** Most wrong letters of a name that is still recognized. */
const WRONG_LETTERS_MAX = 2;

/** The known name that is most similar, or a synonym; undefined where none is. */
export function meantName(name: string, known: readonly string[]): string | undefined {
  const given = lettersOf(name);
  const [nearest] = known
    .map((one) => ({ one, wrong: wrongLetters(given, lettersOf(one)) }))
    .filter(({ wrong }) => wrong <= WRONG_LETTERS_MAX)
    .toSorted((a, b) => a.wrong - b.wrong);
  if (nearest) return nearest.one;
  const synonyms = SYNONYMS_BY_LETTERS.get(given) ?? [];
  return synonyms.flatMap((letters) => known.filter((one) => lettersOf(one) === letters))[0];
}

function synonymsByLetters(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const words of SYNONYMS.map((names) => names.map(lettersOf))) {
    for (const word of words) found.set(word, [...found.get(word) ?? [], ...words]);
  }
  return found;
}

/** The letters of a name: those of `if_version`, `If-Version` and `ifVersion` are the same. */
function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}

/** Letters to change, add, remove or swap with the next one; Infinity where they are over a third of the known name. */
function wrongLetters(given: string, known: string): number {
  if (Math.abs(given.length - known.length) > WRONG_LETTERS_MAX) return Infinity;
  const rows = [Array.from({ length: known.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= given.length; row++) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= known.length; column++) {
      const isSame = given[row - 1] === known[column - 1];
      const isSwapped = given[row - 1] === known[column - 2] && given[row - 2] === known[column - 1];
      current.push(Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(row - 2, column - 2) + 1 : Infinity,
      ));
    }
  }
  const wrong = at(given.length, known.length);
  return wrong <= known.length / 3 ? wrong : Infinity;
}
