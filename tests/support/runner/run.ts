/**
 * Runs the tests of the tiers that are named: several processes at a time, one more than there are processors, since some
 * wait for the indexing of what they wrote (or TEST_JOBS). The output of a process is written when it has ended.
 *
 * Usage: run.ts test|rest|edge|scale…
 */
import { fileURLToPath } from "node:url";
import { startStack } from "../../../supabase/local/stack/stack.ts";
import { freshDataDirectory } from "../stack/fresh_data_directory.ts";
import { cpuSecondsOfChildren } from "../stack/processes.ts";
import { startPostgres } from "../postgres/postgres.ts";
import { createDatabase, MIGRATED_DATABASE } from "../stack/test_database.ts";
import { type Job, jobsOf } from "./tiers.ts";

type Variables = Readonly<Record<string, string>>;

interface Result {
  readonly passed: number;
  readonly isOk: boolean;
}

/** The Deno inside Supabase's edge runtime. */
const EDGE_RUNTIME_DENO = "2.1.4";
/** A process that hangs is ended, and fails. */
const JOB_TIMEOUT_MILLISECONDS = 20 * 60_000;

/** Free memory, in KiB, with which tests keep their databases and objects in it: they do not measure disks. */
const MEMORY_KIB_MIN = 4 * 1024 * 1024;
const MEMORY_DIRECTORY = "/dev/shm";

const at = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const write = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text));

let cpuOfChildren = 0;
const temporaryDirectory = await hasRoomInMemory() ? { TMPDIR: MEMORY_DIRECTORY } : {};

if (import.meta.main) {
  for (const tier of Deno.args) {
    if (tier === "edge") await runAsDeployed();
    else if (tier === "test" || tier === "rest" || tier === "scale") await run(tier, jobsOf(tier), {});
    else throw new Error("Usage: run.ts test|rest|edge|scale…");
  }
}

/** Sets the exit code where a job fails. */
async function run(tier: string, jobs: readonly Job[], variables: Variables): Promise<void> {
  const started = performance.now();
  const queue = [...jobs];
  const failed: string[] = [];
  let passed = 0;
  const worker = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const result = await runJob(job, variables);
      passed += result.passed;
      if (!result.isOk) failed.push(job.name);
    }
  };
  const workers = Number(Deno.env.get("TEST_JOBS") ?? navigator.hardwareConcurrency + 1);
  await Promise.all(Array.from({ length: workers }, worker));
  const seconds = Math.round((performance.now() - started) / 1000);
  write(`\n${tier}: ${passed} tests passed in ${seconds} s; failed: ${failed.join(", ") || "none"}\n`);
  if (failed.length > 0) Deno.exitCode = 1;
}

async function runJob(job: Job, variables: Variables): Promise<Result> {
  const started = performance.now();
  const addresses = job.files.map((file) => new URL(`../../${file}`, import.meta.url));
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["test", "-A", "--no-check", `--config=${at("../../deno.jsonc")}`],
      ...job.isShared ? [at("./together.ts")] : addresses.map((address) => fileURLToPath(address)),
    ],
    env: {
      ...temporaryDirectory,
      ...variables,
      ...job.variables,
      ...job.isShared && { TEST_FILES: addresses.map(({ href }) => href).join("\n") },
    },
    stdin: "null",
    signal: AbortSignal.timeout(JOB_TIMEOUT_MILLISECONDS),
  }).output();
  const output = new TextDecoder().decode(stdout);
  const seconds = Math.round((performance.now() - started) / 1000);
  write(
    `\n── ${job.name}: ${seconds} s, ${cpuOfLastChild()} s of processor time\n${output}${
      code === 0 ? "" : new TextDecoder().decode(stderr)
    }`,
  );
  return { passed: passedIn(output), isOk: code === 0 };
}

/** Processor seconds of the process that ended last, and of those that it started (Linux). */
function cpuOfLastChild(): number {
  const before = cpuOfChildren;
  cpuOfChildren = Deno.build.os === "linux" ? cpuSecondsOfChildren() : NaN;
  return Math.round(cpuOfChildren - before);
}

/** Deno ends with `ok | 12 passed (3 steps) | 0 failed (1s)`, perhaps in color. */
function passedIn(output: string): number {
  return Number(/\| (\d+) passed/.exec(output)?.[1] ?? 0);
}

/** The HTTP suite on a real Postgres, a database for each stack, with the function on the Deno of Supabase's edge runtime. */
async function runAsDeployed(): Promise<void> {
  const server = await startPostgres();
  try {
    await migrateOnce(server.url);
    await run("edge", jobsOf("edge"), {
      TEST_DATABASE: "postgres",
      TEST_POSTGRES_URL: server.url,
      FUNCTION_DENO: EDGE_RUNTIME_DENO,
    });
  } finally {
    await server.stop();
  }
}

/** Makes the database that those of the stacks are copies of. */
async function migrateOnce(serverUrl: string): Promise<void> {
  const databaseUrl = await createDatabase(serverUrl, MIGRATED_DATABASE, "template1");
  const dataDir = await freshDataDirectory();
  const stack = await startStack({ dataDir, port: 0, demo: false, databaseUrl });
  await stack.stop();
  await Deno.remove(dataDir, { recursive: true });
}

async function hasRoomInMemory(): Promise<boolean> {
  if (Deno.build.os !== "linux") return false;
  const { stdout } = await new Deno.Command("df", { args: ["--output=avail", "-k", MEMORY_DIRECTORY] })
    .output();
  return Number(new TextDecoder().decode(stdout).trim().split("\n").at(-1)) >= MEMORY_KIB_MIN;
}
