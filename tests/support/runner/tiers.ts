/**
 * Selects the test files of each tier: `test:all` runs all, `test` all outside folders whose name ends with `_slow`.
 * The files themselves decide how they run: those that call `suite()` share a stack, others have one of their own.
 */
import { fileURLToPath } from "node:url";

/** `test` proves each promise once, briefly; `all` runs everything except the long forms. */
export type Tier = "test" | "all";

/** Files that run one after another in one process. */
export interface Job {
  readonly name: string;
  /** Paths relative to `tests/`. */
  readonly files: readonly string[];
  /** Files are loaded together and share the stack of `suite()` and `browserSuite()`; otherwise each is loaded alone. */
  readonly isShared: boolean;
  /** The stack has a real Postgres, and the function runs on the Deno of Supabase's edge runtime. */
  readonly isDeployed?: boolean;
}

/** The variables that select the forms of the tests. */
export const VARIABLES: Readonly<Record<Tier, Readonly<Record<string, string>>>> = {
  test: { TEST_BRIEF: "1" },
  all: { TEST_SCALE: "1" },
};

/** Matches files that use the default stack, which files in one process share. */
const SHARES_A_STACK = /await (?:suite|acceptance|browserSuite)\(/;
/** Matches files that run on both databases, and the command that tests a service from outside. */
const IS_FOR_EMBEDDED = /TEST_DATABASE|acceptance\/run\.ts/;
const IS_FROM_OUTSIDE = /acceptance\/run\.ts/;

/** Matches single files that take minutes. One that started last would keep one processor busy alone. */
const IS_LONG = /^(?:local_slow\/bench|client_slow\/node|trust_slow\/(?:model|upgrade))\./;

/** More jobs than processors, so that all are busy until the end. */
const HTTP_JOBS = 6;

/** In starting order: in `test` the cheap ones first, so that most failures show early; in `all` the longest first. */
export function jobsOf(tier: Tier): Job[] {
  return tier === "test" ? jobsOfTest() : jobsOfAll();
}

function jobsOfTest(): Job[] {
  const http = filesOf("http");
  return [
    together("unit", filesOf("unit")),
    alone("database", filesOf("database")),
    together("browser", filesOf("browser")),
    ...filesOf("trust").map((file) => alone(file, [file])),
    alone("local", filesOf("local")),
    together("client", filesOf("client")),
    alone("http, stacks of their own", http.filter(not(SHARES_A_STACK))),
    ...dealt("http", http.filter(has(SHARES_A_STACK)), HTTP_JOBS, together),
  ];
}

/** HTTP tests run only as deployed here; browsers, agents, commands and faults cover the embedded stack. */
function jobsOfAll(): Job[] {
  const http = [...filesOf("http"), ...filesOf("http_slow")];
  const deployed = http.filter(not(IS_FROM_OUTSIDE));
  const asDeployed = [
    ...dealt("http as deployed, stacks of their own", deployed.filter(not(SHARES_A_STACK)), 2, alone),
    ...dealt("http as deployed", deployed.filter(has(SHARES_A_STACK)), HTTP_JOBS, together),
  ].map((job) => ({ ...job, isDeployed: true }));
  const each = (...folders: string[]) => folders.flatMap(filesOf).map((file) => alone(file, [file]));
  const [scale, ofDatabase] = partition(
    each("database_slow", "database"),
    ({ name }) => /\/plans\./.test(name),
  );
  const [long, others] = partition(
    [...each("trust_slow", "trust"), ...ofDatabase, ...each("mcp_slow", "local_slow", "client_slow")],
    ({ name }) => IS_LONG.test(name),
  );
  return [
    ...scale,
    ...dealt("browser", ["browser", "browser_slow"].flatMap(filesOf), 2, together),
    ...asDeployed,
    ...long,
    alone("http, embedded", http.filter(has(IS_FOR_EMBEDDED))),
    ...others,
    alone("local", filesOf("local")),
    together("client", filesOf("client")),
    together("unit", filesOf("unit")),
  ];
}

function alone(name: string, files: readonly string[]): Job {
  return { name, files, isShared: false };
}

function together(name: string, files: readonly string[]): Job {
  return { name, files, isShared: true };
}

/** Distributes the files over `jobs` jobs. */
function dealt(name: string, files: readonly string[], jobs: number, job: typeof alone): Job[] {
  return Array.from(
    { length: jobs },
    (_, index) => job(`${name} ${index + 1} of ${jobs}`, files.filter((_, nth) => nth % jobs === index)),
  );
}

function has(pattern: RegExp): (file: string) => boolean {
  return (file) => pattern.test(Deno.readTextFileSync(pathOf(file)));
}

function not(pattern: RegExp): (file: string) => boolean {
  return (file) => !has(pattern)(file);
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): readonly [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

/** The sorted test files of a folder, at any depth. */
function filesOf(folder: string): string[] {
  return [...Deno.readDirSync(pathOf(folder))].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesOf(`${folder}/${name}`) : name.endsWith(".test.ts") ? [`${folder}/${name}`] : []
  ).sort();
}

/** The path of a file that is named relative to `tests/`. */
export function pathOf(file: string): string {
  return fileURLToPath(new URL(`../../${file}`, import.meta.url));
}
