/**
 * `deno task lock`: writes every lock file again, after a version in an import map has changed. Deno downloads every
 * package of a lock file with its dependencies, so the lock file of the local stack is reduced to the packages that the
 * stack runs.
 */
import { join } from "node:path";
import {
  ACCEPTANCE_CONFIG,
  CLIENT_CONFIG,
  CONSOLE_CONFIG,
  DENO_CONFIG,
  DEPLOYED_DENO,
  EDGE_RUNTIME,
  EMBEDDINGS_PROCESS,
  FUNCTION_CONFIG,
  FUNCTION_ENTRY,
  LOCAL_CONFIG,
  MODEL_CONFIG,
  NPX_CONFIG,
  TESTS_CONFIG,
} from "./repository.ts";

interface Package {
  readonly integrity: string;
  readonly dependencies?: readonly string[];
  readonly optionalDependencies?: readonly string[];
}

export interface Lock {
  readonly specifiers: Readonly<Record<string, string>>;
  readonly npm: Readonly<Record<string, Package>>;
}

/**
 * Dependencies that the stack never loads, by package. For `@supabase/lite` these are its command line with an error
 * reporter, its SQLite, its migrator (`pg-delta`), mail over SMTP, and the parser from Postgres' SQL to SQLite's.
 * `jsonv-ts` uses the compiler for types only. Loading one of these packages fails at once: "Could not find package".
 */
const NOT_RUN: Readonly<Record<string, readonly string[]>> = {
  "@supabase/lite": [
    "@commander-js/extra-typings",
    "@hono/node-server",
    "@sentry/node",
    "@supabase/pg-delta",
    "@vercel/detect-agent",
    "chokidar",
    "commander",
    "dotenv",
    "kysely-generic-sqlite",
    "libpg-query",
    "nodemailer",
    "pgsql-parser",
  ],
  "jsonv-ts": ["typescript"],
};

/** Each import map with a lock file beside it, and the files whose imports the lock file must contain, too. */
const LOCKS: readonly (readonly [config: string, entries: readonly string[]])[] = [
  [DENO_CONFIG, [join(DENO_CONFIG, "../supabase/docs"), EDGE_RUNTIME, FUNCTION_ENTRY]],
  [LOCAL_CONFIG, [join(LOCAL_CONFIG, "..")]],
  [MODEL_CONFIG, [EMBEDDINGS_PROCESS]],
  [CONSOLE_CONFIG, [join(CONSOLE_CONFIG, "..")]],
  [CLIENT_CONFIG, [join(CLIENT_CONFIG, "..")]],
  [TESTS_CONFIG, [join(TESTS_CONFIG, "..")]],
  [ACCEPTANCE_CONFIG, [join(ACCEPTANCE_CONFIG, "..")]],
  [NPX_CONFIG, []],
];

/** The lock without the packages that the stack never loads, and without packages that only those need. */
export function reduced<L extends Lock>(lock: L): L {
  const npm = new Map(
    Object.entries(lock.npm).map(([id, held]) => {
      const dependencies = held.dependencies?.filter((name) => !NOT_RUN[nameOf(id)]?.includes(nameOf(name)));
      return [id, dependencies === undefined ? held : { ...held, dependencies }];
    }),
  );
  const needed = new Set<string>();
  const need = (id: string) => {
    if (needed.has(id)) return;
    needed.add(id);
    const { dependencies = [], optionalDependencies = [] } = npm.get(id) ?? {};
    for (const name of [...dependencies, ...optionalDependencies]) need(heldAs(name, npm));
  };
  for (const [specifier, version] of Object.entries(lock.specifiers)) {
    need(`${nameOf(specifier.slice("npm:".length))}@${version}`);
  }
  return { ...lock, npm: Object.fromEntries([...npm].filter(([id]) => needed.has(id))) };
}

/** `@scope/name` of `@scope/name@1.0.0_peer@2.0.0`, or of a name alone. */
export function nameOf(id: string): string {
  return /^@?[^@]+/.exec(id)?.[0] ?? id;
}

/** A lock file names the version of a dependency only if it contains several versions. */
function heldAs(dependency: string, npm: ReadonlyMap<string, Package>): string {
  if (npm.has(dependency)) return dependency;
  const found = [...npm.keys()].find((id) =>
    id.startsWith(`${dependency}@`) || id.startsWith(`${dependency}_`)
  );
  if (found === undefined) throw new Error(`The lock has no entry for ${dependency}.`);
  return found;
}

async function run(command: string, ...args: string[]): Promise<void> {
  const { success } = await new Deno.Command(command, { args, stdin: "null" }).output();
  if (!success) throw new Error(`This failed: ${command} ${args.join(" ")}`);
}

if (import.meta.main) {
  for (const [config, entries] of LOCKS) {
    const options = ["--frozen=false", "--config", config];
    await run(Deno.execPath(), "install", "--lockfile-only", ...options);
    if (entries.length > 0) await run(Deno.execPath(), "check", ...options, ...entries);
  }
  const file = join(LOCAL_CONFIG, "../deno.lock");
  const lock: Lock = JSON.parse(await Deno.readTextFile(file));
  await Deno.writeTextFile(file, `${JSON.stringify(reduced(lock), null, 2)}\n`);
  await run("npx", "-y", `deno@${DEPLOYED_DENO}`, "cache", "--config", FUNCTION_CONFIG, FUNCTION_ENTRY);
}
