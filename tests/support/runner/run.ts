/**
 * Runs the tests of a tier in several processes at a time: TEST_JOBS, or one more than there are processors, since some
 * wait for indexing. Prints a line for each process that ends and the whole output of a failed one; at the end all
 * failures again, and last "N passed, N failed". Usage: run.ts test|all [NAME…], where NAME selects the processes whose
 * line contains it, such as "browser" or "as deployed"
 */
import { fileURLToPath, pathToFileURL } from "node:url";
import { DEPLOYED_DENO } from "../../../supabase/local/repository.ts";
import { startStack } from "../../../supabase/local/stack/stack.ts";
import { freshDataDirectory } from "../stack/fresh_data_directory.ts";
import { startPostgres } from "../postgres/postgres.ts";
import { createDatabase, MIGRATED_DATABASE } from "../stack/test_database.ts";
import { type Job, jobsOf, pathOf, type Tier, VARIABLES } from "./tiers.ts";
import { countsOf, errorsOf } from "./output.ts";

type Variables = Readonly<Record<string, string>>;

interface Total {
  passed: number;
  failed: number;
  /** The failures, each with the name of its job. */
  readonly errors: string[];
}

/** A process that exceeds this is killed and counts as failed. */
const JOB_TIMEOUT_MILLISECONDS = 40 * 60_000;
/** Lines of failures that are repeated at the end. */
const ERROR_LINES_MAX = 100;

/** Free memory, in KiB, from which on tests keep their databases and objects in memory. They do not measure disks. */
const MEMORY_KIB_MIN = 4 * 1024 * 1024;
const MEMORY_DIRECTORY = "/dev/shm";

const print = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));

if (import.meta.main) {
  const [tier, ...names] = Deno.args;
  if (tier !== "test" && tier !== "all") throw new Error("Usage: run.ts test|all [NAME…]");
  const jobs = jobsOf(tier).filter(({ name }) =>
    names.length === 0 || names.some((part) => name.includes(part))
  );
  const variables = { ...VARIABLES[tier], ...await hasRoomInMemory() ? { TMPDIR: MEMORY_DIRECTORY } : {} };
  const total = jobs.some(({ isDeployed }) => isDeployed)
    ? await withDeployment((deployed) => run(jobs, variables, deployed))
    : await run(jobs, variables, {});
  conclude(tier, total);
}

async function run(jobs: readonly Job[], variables: Variables, deployed: Variables): Promise<Total> {
  const queue = [...jobs];
  const total: Total = { passed: 0, failed: 0, errors: [] };
  const worker = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      await runJob(job, { ...variables, ...job.isDeployed ? deployed : {} }, total);
    }
  };
  const workers = Number(Deno.env.get("TEST_JOBS") ?? navigator.hardwareConcurrency + 1);
  await Promise.all(Array.from({ length: workers }, worker));
  return total;
}

async function runJob({ name, files, isShared }: Job, variables: Variables, total: Total): Promise<void> {
  const started = performance.now();
  const paths = files.map(pathOf);
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["test", "-A", "--no-check", `--config=${pathOf("deno.jsonc")}`],
      ...isShared ? [fileURLToPath(new URL("./together.ts", import.meta.url))] : paths,
    ],
    env: {
      NO_COLOR: "1",
      ...variables,
      ...isShared && { TEST_FILES: paths.map((path) => pathToFileURL(path).href).join("\n") },
    },
    stdin: "null",
    signal: AbortSignal.timeout(JOB_TIMEOUT_MILLISECONDS),
  }).output();
  const [output, problems] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  const { passed, failed } = countsOf(output ?? "", code);
  total.passed += passed;
  total.failed += failed;
  const seconds = Math.round((performance.now() - started) / 1000);
  const counts = `${passed} passed${failed === 0 ? "" : `, ${failed} failed`}`;
  print(`${failed === 0 ? "ok    " : "FAILED"} ${name}: ${counts}, ${seconds} s`);
  if (failed === 0) return;
  print(`${output}${problems}`);
  total.errors.push(`── ${name}`, errorsOf(output ?? "") || (problems ?? ""));
}

/** Prints the total, and sets the exit code if a test failed. */
function conclude(tier: Tier, { passed, failed, errors }: Total): void {
  const lines = errors.join("\n").split("\n");
  if (failed > 0) print(lines.slice(0, ERROR_LINES_MAX).join("\n"));
  print(`\ndeno task test${tier === "test" ? "" : `:${tier}`}: ${Math.round(performance.now() / 1000)} s`);
  print(`${passed} passed, ${failed} failed`);
  if (failed > 0) Deno.exitCode = 1;
}

/**
 * Runs `body` with the variables of a stack as deployed: one Postgres, with a database for each stack, and the
 * platform's Deno.
 */
async function withDeployment<T>(body: (variables: Variables) => Promise<T>): Promise<T> {
  const server = await startPostgres();
  try {
    await migrateOnce(server.url);
    return await body({
      TEST_DATABASE: "postgres",
      TEST_POSTGRES_URL: server.url,
      FUNCTION_DENO: DEPLOYED_DENO,
    });
  } finally {
    await server.stop();
  }
}

/** Creates the database that is copied for each stack. */
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
