/** The index of the tests: for each operation or promise, the files that test it, found by the names of files and tests. */
import { fileURLToPath } from "node:url";
import { code, wrap } from "./markdown.ts";

/** Subjects that a reader may search for, with a pattern for names: operations first, then promises. */
export const SUBJECTS: readonly (readonly [subject: string, pattern: RegExp])[] = [
  ["append", /append/],
  ["write", /\bwrites?\b|write_file|write_link|\bcontent\b/],
  ["write raw bytes", /raw (?:writes?|bod)|large raw/],
  ["edit", /\bedits?\b/],
  ["read", /read_file|raw reads?|\breading\b|\blines\b/],
  ["list", /list_files|\blists?\b|paging|\bpages?\b/],
  ["list and read as it was (`at`)", /\bat\b.*moment|\bmoments?\b|^at$|\bpast\b/],
  ["versions", /\bversions?\b/],
  ["diff", /diff|comparisons?/],
  ["copy and move", /copy|copies|move[sd]?\b|copy_folder|move_folder/],
  ["folders", /folders?\b|directory|directories/],
  ["delete and restore", /delete_file|delete_folder|delet|restor/],
  ["batch", /\bbatch(?:es)?\b/],
  ["undo of a run", /undo|undoes|\bruns?\b.*undo|undo_run/],
  ["runs, activity and provenance", /\bruns?\b|activity|provenance|get_run|list_runs|list_activity/],
  ["change feed", /changes|\bfeed\b|list_changes/],
  ["search", /search|grep|trigram|semantic|indexing|vector/],
  ["export and import", /export|import\b|archive|export_files/],
  ["webhooks", /webhooks?/],
  ["links", /links?\b/],
  ["memory tool", /memory (?:tool|command)|^memory$/],
  ["MCP", /\bmcp\b|inspector|conformance|newcomer/],
  ["purge and redaction", /purge|redact|erase|erasure/],
  ["retention", /retention/],
  ["sweep", /sweep/],
  ["usage", /usage/],
  ["quota", /quota/],
  ["rate limit", /rate limit|rate window|admission|costly/],
  ["keys, scopes and prefixes", /api_keys?|\bkeys?\b|scopes?\b|prefix/],
  ["projects", /projects?\b/],
  ["accounts", /accounts?\b|sign(?:s|ed|ing)? (?:in|up)/],
  ["health", /health/],
  ["isolation of projects", /isolation|stranger|another project|row level security/],
  ["idempotency and retries", /idempoten|retries|retry|replay|recorded answers/],
  ["conditions and entity tags", /if-match|precondition|entity tag|etag|conditions/],
  ["bad input", /bad (?:input|values)|refused|hostile|fuzz|\bnul\b|mistyped/],
  ["crashes, faults and stalls", /crash|faults?\b|stalls?\b|backend fail|corrupt/],
  ["many clients at once", /concurren|hot file|races?\b|clients?\b|contention|turns/],
  ["compaction and segments", /compact|segments?\b/],
  ["everything at random, against a model", /\bmodel\b|at random/],
  ["limits of memory and time", /memory|megabytes?|cpu|neighbours/],
  ["SQL: schema, grants, plans", /catalog|schemas?\b|migrations?|grants?\b|pgtap|plans\b|linter|privileges/],
  ["deployment, backup and verify", /deploy|backup|verify/],
  ["local stack and commands", /deno task|command|gateway|stack|data directory|npx/],
  ["documents and OpenAPI", /docs\b|documents?\b|openapi|curl/],
];

/** A file with fewer matching test names is not listed. */
const NAMES_MIN = 2;
const FILES_SHOWN_MAX = 16;

interface TestFile {
  /** Below `tests/`, without the extension. */
  readonly path: string;
  readonly name: string;
  readonly tests: readonly string[];
}

/** A list by subject. Files named after the subject come first, then those with the most matching tests. */
export function testsIndex(): string {
  const files = testFiles();
  const listed = new Set<TestFile>();
  const lines = SUBJECTS.map(([subject, pattern]) => {
    const found = files.map((file) => ({ file, rank: rankOf(file, pattern) }))
      .filter(({ rank }) => rank >= NAMES_MIN)
      .sort((one, other) => other.rank - one.rank || (one.file.path < other.file.path ? -1 : 1));
    const shown = found.slice(0, FILES_SHOWN_MAX).map(({ file }) => file);
    for (const file of shown) listed.add(file);
    return line(subject, shown);
  });
  return [...lines, line("anything else", files.filter((file) => !listed.has(file)))].join("\n");
}

function line(subject: string, files: readonly TestFile[]): string {
  return wrap(`- **${subject}**: ${files.map(({ path }) => code(path)).join(", ") || "—"}`);
}

/** The number of matching test names. A file named after the subject ranks above all others. */
function rankOf({ name, tests }: TestFile, pattern: RegExp): number {
  return (pattern.test(name) ? 1000 : 0) + tests.filter((test) => pattern.test(test)).length;
}

function testFiles(): TestFile[] {
  const root = fileURLToPath(new URL("../../../tests/", import.meta.url));
  const below = (folder: string): string[] =>
    [...Deno.readDirSync(root + folder)].flatMap(({ name, isDirectory }) =>
      isDirectory ? below(`${folder}${name}/`) : name.endsWith(".test.ts") ? [`${folder}${name}`] : []
    );
  return below("").sort().map((file) => {
    const path = file.replace(/\.test\.ts$/, "");
    return {
      path,
      name: path.slice(path.lastIndexOf("/") + 1).replaceAll("_", " "),
      tests: namesIn(Deno.readTextFileSync(root + file)),
    };
  });
}

/** The names of tests and steps: the first string of each call, in lower case. */
function namesIn(source: string): string[] {
  return [...source.matchAll(/\b(?:test|testOfTwo|step)\(\s*(["'`])(.*?)\1/g)]
    .map(([, , name = ""]) => name.toLowerCase());
}
