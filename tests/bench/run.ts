/** `deno task bench`: measures everything side by side and reports which bars hold. Slowness is never an error. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import {
  parseCommand,
  parseWholeNumber,
  printLine,
  printNotice,
  run,
  UsageError,
} from "../../supabase/local/cli/command_line.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { type Group, makeBrief } from "./bench.ts";
import { type BenchStack, openDeployment, startBenchStack } from "./bench_stack.ts";
import { branches } from "./branches.ts";
import { capacity } from "./capacity.ts";
import { clients } from "./clients.ts";
import { commits } from "./commits.ts";
import { flushes } from "./flushes.ts";
import { git } from "./git.ts";
import { largeAppends, largeEdits } from "./large_files.ts";
import { largeProjects } from "./large_projects.ts";
import { largeSearch } from "./large_search.ts";
import { longHistories } from "./long_histories.ts";
import { neighbours } from "./neighbours.ts";
import { ranking } from "./ranking/ranking.ts";
import { Report } from "./report.ts";
import { smallOperations } from "./small_operations.ts";
import { startUp } from "./start_up.ts";
import { sync } from "./sync.ts";
import { toolCalls } from "./tool_calls.ts";
import { upgrade } from "./upgrade.ts";

const GROUPS: Readonly<Record<string, Group>> = {
  small: smallOperations,
  tools: toolCalls,
  appends: largeAppends,
  edits: largeEdits,
  versions: longHistories,
  start: startUp,
  projects: largeProjects,
  clients,
  flushes,
  commits,
  branches,
  sync,
  git,
  capacity,
  neighbours,
  ranking,
  search: largeSearch,
  upgrade,
};
/** Groups that only make sense on a real Postgres; without --db they get one of their own. */
const ON_POSTGRES = [
  "projects",
  "clients",
  "flushes",
  "branches",
  "capacity",
  "neighbours",
  "search",
  "sync",
  "git",
];

const ROUNDS_DEFAULT = 100;
const ROUNDS_MIN = 3;
const ROUNDS_MAX = 10_000;
const JSON_DEFAULT = fileURLToPath(new URL("../../supabase/.temp/bench.json", import.meta.url));

const USAGE = `deno task bench [--only NAME]... [--rounds N] [--brief] [--db URL] [--json FILE]
       deno task bench --supabase URL [--bare URL] [--rounds N]

  --only NAME        ${Object.keys(GROUPS).join(", ")};
                     may be given as a list with commas
  --brief            a hundredth of each size and 3 rounds: shows that every group works, and measures nothing
  --rounds N         how often a small request is repeated (default ${ROUNDS_DEFAULT})
  --db URL           an empty database of a Postgres server instead of PGlite
  --supabase URL     measure the group small of a deployment, from outside; needs its SUPABASE_SECRET_KEY in the
                     environment, and the bare function beside it: see benchmarks.md
  --bare URL         the bare function (default URL/functions/v1/bench)
  --json FILE        where the figures are kept (default supabase/.temp/bench.json)
  --help             this text`;

const OPTIONS = {
  only: { type: "string" },
  rounds: { type: "string" },
  db: { type: "string" },
  supabase: { type: "string" },
  bare: { type: "string" },
  brief: { type: "boolean" },
  json: { type: "string" },
} as const;

await run(USAGE, async () => {
  const { values } = parseCommand(Deno.args, OPTIONS, USAGE);
  const names = values.only?.split(",") ?? Object.keys(GROUPS);
  if (values.brief) makeBrief();
  const rounds = values.rounds === undefined
    ? values.brief ? ROUNDS_MIN : ROUNDS_DEFAULT
    : parseWholeNumber(values.rounds, "--rounds", ROUNDS_MIN, ROUNDS_MAX);
  for (const name of names) {
    if (!GROUPS[name]) throw new UsageError(`Unknown group '${name}'.`);
  }
  const report = new Report();
  printLine(
    "what, the baseline's median, its own, their ratio (quartiles of the rounds), the difference, the bar",
  );
  if (values.supabase === undefined && values.bare !== undefined) {
    throw new UsageError("--bare is for --supabase.");
  }
  if (values.supabase !== undefined) {
    if (values.only !== undefined || values.db !== undefined) {
      throw new UsageError("--supabase takes neither --only nor --db.");
    }
    await measureDeployment(values.supabase.replace(/\/+$/, ""), values.bare, rounds, report);
    return report.summary();
  }
  const onPglite = names.filter((name) => values.db !== undefined || !ON_POSTGRES.includes(name));
  await measure(onPglite, values.db, rounds, report);
  const onPostgres = names.filter((name) => !onPglite.includes(name));
  if (onPostgres.length > 0) {
    const server = await startPostgres({ durable: true });
    try {
      await measure(onPostgres, server.url, rounds, report);
    } finally {
      await server.stop();
    }
  }
  report.summary();
  const file = values.json ?? JSON_DEFAULT;
  await keep(file, rounds, report);
});

/** Runs the groups one after another, on a stack of their own. */
async function measure(
  names: readonly string[],
  databaseUrl: string | undefined,
  rounds: number,
  report: Report,
): Promise<void> {
  if (names.length === 0) return;
  const stack: BenchStack = await startBenchStack(databaseUrl);
  try {
    for (const name of names) {
      const before = report.rows.length;
      await GROUPS[name]?.({ stack, rounds, report });
      if (report.rows.length === before) throw new Error(`The group ${name} measured nothing.`);
    }
  } finally {
    await stack.stop();
  }
}

async function measureDeployment(
  url: string,
  bareUrl: string | undefined,
  rounds: number,
  report: Report,
): Promise<void> {
  const secretKey = Deno.env.get("SUPABASE_SECRET_KEY");
  if (!secretKey) throw new UsageError("--supabase needs SUPABASE_SECRET_KEY in the environment.");
  const stack = openDeployment(url, secretKey, bareUrl ?? `${url}/functions/v1/bench`);
  try {
    await smallOperations({ stack, rounds, report });
  } finally {
    await stack.stop();
  }
}

/** Replaces the groups that were measured now, and keeps the others. */
async function keep(file: string, rounds: number, report: Report): Promise<void> {
  const measured = new Set(report.rows.map((row) => row.group));
  const { rows = [] } = await Deno.readTextFile(file).then(JSON.parse, () => ({}));
  const earlier = rows.filter((row: { group: string }) => !measured.has(row.group));
  await Deno.mkdir(dirname(file), { recursive: true });
  const figures = {
    measuredAt: new Date().toISOString(),
    deno: Deno.version.deno,
    processors: navigator.hardwareConcurrency,
    rounds,
    rows: [...earlier, ...report.rows],
  };
  await Deno.writeTextFile(file, JSON.stringify(figures, null, 2) + "\n");
  printNotice(`Kept in ${file}.`);
}
