/**
 * Which test files run when. Every file of a folder runs in one of the tiers: a new file of `unit`, `contract`, `local`
 * or `http` in `test`, one of another folder in `rest`, unless it is listed here.
 */
import { fileURLToPath } from "node:url";

/**
 * `test` proves each promise once; `edge` is the HTTP suite as deployed, `scale` what is done with a million files, and
 * `rest` everything else but the long forms.
 */
export type Tier = "test" | "rest" | "edge" | "scale";

/** Files that run one after another in a process of their own. */
export interface Job {
  readonly name: string;
  /** Below `tests/`. */
  readonly files: readonly string[];
  /** They are loaded together and share a stack. Else each file is loaded alone. */
  readonly isShared: boolean;
  readonly variables?: Readonly<Record<string, string>>;
}

/** HTTP tests that have a stack of their own: with other variables, several processes, or for another process's requests. */
const PRIVATE_STACK = [
  "http/acceptance.test.ts",
  // It uses up what its address may fail to authenticate, and others fail, too.
  "http/auth.test.ts",
  "http/large_raw.test.ts",
  // They ask whether all tables are consistent, which others break to see what comes of it.
  "http/redact.test.ts",
  "http/retention.test.ts",
  "http/search_index.test.ts",
  "http/search_semantic.test.ts",
  "http/search_without_vectors.test.ts",
  "http/sweep_turns.test.ts",
];

/**
 * The breadth of what others prove with one file: contents of published packages, every way to 100 MB, and what linters and
 * generators make of the OpenAPI document.
 */
const HTTP_REST = ["http/openapi_tools.test.ts", "http/packages.test.ts", "http/sizes.test.ts"];
/**
 * What takes long because it tries many forms of the same (pages, ranges, bodies, differences, moments, archives, lists of
 * segments, and the console as one more client). With HTTP_REST as deployed alone.
 */
const HTTP_BREADTH = [
  "accounts_console",
  "accounts_scopes",
  "at",
  "bad_input",
  "bad_values",
  "content_types",
  "diff",
  "edit_turns",
  "empty_conditions",
  "erased_answers",
  "export",
  "lines",
  "memory",
  "paging",
  "preconditions",
  "project_deletion",
  "raw_read",
  "raw_write",
  "search_walk",
  "segment_lists",
  "thousand_files",
  "usage",
]
  .map((name) => `http/${name}.test.ts`);
/**
 * They share a stack with nobody else: a complete sweep goes through whatever the others have made, which takes most of their
 * time.
 */
const HTTP_SWEEPING = ["account_deletion", "erased_answers", "project_deletion", "purge", "usage"]
  .map((name) => `http/${name}.test.ts`);
/** The acceptance command runs again, in one go, what most HTTP files run each for itself. */
const ACCEPTANCE = "http/acceptance.test.ts";
/** Here, too, what waits for indexing or sweeps: thousands of files, endpoints that fail, and rules of retention. */
const HTTP_REST_ALONE = [
  ACCEPTANCE,
  "http/large_raw.test.ts",
  "http/retention.test.ts",
  "http/search_index.test.ts",
  "http/search_semantic.test.ts",
  "http/search_without_vectors.test.ts",
  "http/sweep_turns.test.ts",
];

/** In brief in `test`, as usual in `edge`: a thousand retries, and a thousand requests one after the other. */
const HTTP_BRIEF = ["http/rate_limit.test.ts", "http/retries.test.ts"];

const PLANS = "database/plans.test.ts";

/** RLS, pgTAP and privileges, each on a real Postgres. */
const DATABASE_TEST = [
  "database/catalog.test.ts",
  "database/limits.test.ts",
  "database/pgtap.test.ts",
  "database/row_level_security.test.ts",
];

/** The way through the console from signing up to a revoked key. */
const BROWSER_SMOKE = ["browser/path.test.ts"];

const BRIEF = { TEST_BRIEF: "1" };

/** Crashes, races, faults and odd requests, in brief; in `rest` as usual. */
const TRUST_TEST = ["crash", "concurrency", "faults", "openapi_fuzz"].map((name) => `trust/${name}.test.ts`);

/** What takes seconds each: the documents' commands, the way from a fresh clone, folders of other versions, older Denos. */
const LOCAL_REST = [
  "local/docs_commands.test.ts",
  "local/docs_storage_format.test.ts",
  "local/embeddings.test.ts",
  "local/erase_command.test.ts",
  "local/files_command.test.ts",
  "local/first_hour.test.ts",
  "local/npx.test.ts",
  "local/pglite_session.test.ts",
  "local/postgres_database.test.ts",
  "local/recorded_migrations.test.ts",
  "local/stack.test.ts",
  "local/start_output.test.ts",
  "local/verify_command.test.ts",
];

/** Jobs that the HTTP files are dealt out to: more than processors, so that all are busy until the end. */
const HTTP_JOBS = 6;

/** In the order in which they start: cheap ones first in `test`, so that most failures show early; else the longest first. */
export function jobsOf(tier: Tier): Job[] {
  const http = filesOf("http").filter(isNotIn([...PRIVATE_STACK, ...HTTP_SWEEPING]));
  switch (tier) {
    case "test":
      return [
        ...shared("unit", filesOf("unit"), 1),
        ...shared("contract", filesOf("contract"), 1),
        alone("database", DATABASE_TEST),
        ...shared("browser", BROWSER_SMOKE, 1),
        ...TRUST_TEST.map((file) => ({ ...alone(`${file}, brief`, [file]), variables: BRIEF })),
        alone("local", filesOf("local").filter(isNotIn(LOCAL_REST))),
        alone("http, stacks of their own", PRIVATE_STACK.filter(isNotIn(HTTP_REST_ALONE))),
        ...shared("http, brief", HTTP_BRIEF, 1).map((job) => ({ ...job, variables: BRIEF })),
        ...shared("http, sweeping", HTTP_SWEEPING.filter(isNotIn(HTTP_BREADTH)), 1),
        ...shared("http", http.filter(isNotIn([...HTTP_REST, ...HTTP_BREADTH, ...HTTP_BRIEF])), HTTP_JOBS),
      ];
    case "rest":
      return [
        alone("http, acceptance, indexing and large bodies", HTTP_REST_ALONE),
        ...shared("browser", filesOf("browser").filter(isNotIn(BROWSER_SMOKE)), 2),
        ...[...["trust", "database", "mcp"].flatMap(filesOf), ...LOCAL_REST]
          .filter(isNotIn(DATABASE_TEST)).map((file) => alone(file, [file])),
      ];
    case "edge":
      return [
        alone("http, stacks of their own", PRIVATE_STACK.filter(isNotIn([ACCEPTANCE]))),
        ...shared("http, sweeping", HTTP_SWEEPING, 1),
        ...shared("http", http, HTTP_JOBS),
      ];
    case "scale":
      return [{
        ...alone("database/plans.test.ts, a million files", [PLANS]),
        variables: { TEST_SCALE: "1" },
      }];
  }
}

function alone(name: string, files: readonly string[]): Job {
  return { name, files, isShared: false };
}

/** Deals the files out to so many jobs. */
function shared(name: string, files: readonly string[], jobs: number): Job[] {
  return Array.from({ length: jobs }, (_, job) => ({
    name: jobs === 1 ? name : `${name} ${job + 1} of ${jobs}`,
    files: files.filter((_, index) => index % jobs === job),
    isShared: true,
  }));
}

function isNotIn(listed: readonly string[]): (file: string) => boolean {
  return (file) => !listed.includes(file);
}

/** The test files of a folder and those below it, sorted. */
function filesOf(folder: string): string[] {
  const directory = fileURLToPath(new URL(`../../${folder}`, import.meta.url));
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesOf(`${folder}/${name}`) : name.endsWith(".test.ts") ? [`${folder}/${name}`] : []
  ).sort();
}
