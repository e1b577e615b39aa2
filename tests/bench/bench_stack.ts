/** The stack to be measured, and access to it. */
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Administration } from "../../supabase/local/admin/administration.ts";
import { newKey } from "../../supabase/local/admin/new_key.ts";
import { MIGRATIONS_DIRECTORY } from "../../supabase/local/repository.ts";
import { loadSecrets } from "../../supabase/local/stack/secrets.ts";
import { StackChild } from "../support/stack/stack_child.ts";
import {
  type BareFunction,
  type BareFunctionOptions,
  restartFunction,
  startBareFunction,
} from "../support/stack/test_stack.ts";
import { BENCH_BUCKET } from "./baselines.ts";
import { Client } from "./client.ts";
import type { BenchAddresses } from "./stack_process.ts";

const at = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

export const EMPTY_FUNCTION_WITH_IMPORTS = at("./functions/empty_with_imports.ts");

/** A limit that no benchmark reaches. Requests are still counted in the window's row, as for any limited project. */
const REQUESTS_PER_MINUTE_PLENTY = 1_000_000_000;

export interface Project {
  readonly id: string;
  readonly key: string;
}

export interface BenchStack extends BenchAddresses {
  /** A supabase-js client of the gateway, with the secret key. */
  readonly supabase: SupabaseClient;
  /** A project of the tier enterprise. It has a request limit, whose counting has a cost, unless `hasLimit` is false. */
  project(hasLimit?: boolean): Promise<Project>;
  setTier(projectId: string, tier: string): Promise<void>;
  /** A new key of the project. */
  key(projectId: string): Promise<string>;
  sql<Row = Record<string, unknown>>(statement: string, parameters?: readonly unknown[]): Promise<Row[]>;
  script(sql: string): Promise<void>;
  /** Ends the function's process; the next one has nothing in memory. */
  restartFunction(): Promise<void>;
  /** A function of its own beside the stack's; by default it runs on the Deno that runs the stack. */
  ownFunction(options: BareFunctionOptions, supabaseUrl?: string): Promise<BareFunction>;
  stop(): Promise<void>;
}

export async function startBenchStack(
  databaseUrl: string | undefined,
  functionVariables: Readonly<Record<string, string>> = {},
): Promise<BenchStack> {
  const directory = await Deno.makeTempDir({ prefix: "filestore-bench-" });
  const dataDir = join(directory, "data");
  const options = {
    dataDir,
    port: 0,
    migrationsDirectory: await benchMigrations(directory),
    databaseUrl,
    functionVariables,
  };
  const child = await StackChild.start<BenchAddresses>(options, () => {}, at("./stack_process.ts"));
  const { addresses } = child;
  const administration = new Administration(addresses.backendUrl, addresses.secretKey);
  const key = (projectId: string) => newBenchKey(administration, projectId);
  return {
    ...addresses,
    supabase: clientOf(addresses.supabaseUrl, addresses.secretKey),
    project: (hasLimit) => newBenchProject(administration, hasLimit),
    setTier: async (projectId, tier) => void await administration.setTier(projectId, tier, {}),
    key,
    sql: (sql, parameters) => child.sql(sql, parameters),
    script: (sql) => child.script(sql),
    restartFunction: () => restartFunction(addresses.baseUrl, () => child.functionPids()),
    ownFunction: async (options, supabaseUrl = addresses.backendUrl) => {
      const secrets = await loadSecrets(join(dataDir, "secrets.json"));
      return await startBareFunction({ secrets }, supabaseUrl, options);
    },
    async stop() {
      await child.stop();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

function clientOf(supabaseUrl: string, secretKey: string): SupabaseClient {
  return createClient(supabaseUrl, secretKey, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
  });
}

async function newBenchKey(administration: Administration, projectId: string): Promise<string> {
  const { apiKey, stored } = await newKey();
  await administration.createKey(projectId, "bench", stored, { scopes: ["read", "write", "admin"] });
  return apiKey;
}

async function newBenchProject(administration: Administration, hasLimit = true): Promise<Project> {
  const { id } = await administration.createProject(`bench ${crypto.randomUUID()}`, "enterprise");
  if (hasLimit) {
    await administration.setTier(id, "enterprise", { requestsPerMinute: REQUESTS_PER_MINUTE_PLENTY });
  }
  return { id, key: await newBenchKey(administration, id) };
}

/** What a deployment has of a stack. Its function cannot be restarted. */
export interface Measured
  extends Pick<BenchStack, "baseUrl" | "bareFunctionUrl" | "project" | "secretKey" | "supabase"> {
  readonly restartFunction: BenchStack["restartFunction"] | null;
}

/**
 * A deployment with the bare function beside it, as `benchmarks.md` describes. `stop` deletes the projects that were
 * made, and the objects of the bare function.
 */
export function openDeployment(supabaseUrl: string, secretKey: string, bareFunctionUrl: string) {
  const administration = new Administration(supabaseUrl, secretKey);
  const supabase = clientOf(supabaseUrl, secretKey);
  const baseUrl = `${supabaseUrl}/functions/v1/api`;
  const keys: string[] = [];
  const measured: Measured = {
    baseUrl,
    bareFunctionUrl,
    secretKey,
    supabase,
    restartFunction: null,
    async project(hasLimit) {
      const project = await newBenchProject(administration, hasLimit);
      keys.push(project.key);
      return project;
    },
  };
  const stop = async () => {
    for (const key of keys) {
      const client = new Client(baseUrl, key);
      const { data } = JSON.parse(await client.send("GET", "/project"));
      await client.send("DELETE", `/project?confirm=${encodeURIComponent(data.name)}`);
    }
    await supabase.storage.emptyBucket(BENCH_BUCKET);
  };
  return { ...measured, stop };
}

/** Copies the repository's migrations and the benchmarks' own to one folder. */
async function benchMigrations(directory: string): Promise<string> {
  const migrations = join(directory, "migrations");
  await Deno.mkdir(migrations);
  for await (const { name } of Deno.readDir(MIGRATIONS_DIRECTORY)) {
    await Deno.copyFile(join(MIGRATIONS_DIRECTORY, name), join(migrations, name));
  }
  await Deno.copyFile(at("./bench.sql"), join(migrations, "29991231000000_bench.sql"));
  return migrations;
}
