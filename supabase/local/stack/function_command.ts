/** How the function process is started: which Deno, with which permissions and which environment. */
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { DENO_CONFIG, EDGE_RUNTIME, IMPORT_MAP } from "../repository.ts";
import type { Secrets } from "./secrets.ts";
import { StartupError } from "../startup_error.ts";

export interface FunctionCommandOptions {
  readonly entry: string;
  readonly secrets: Secrets;
  /** What the function knows as SUPABASE_URL. */
  readonly supabaseUrl: string;
  readonly databaseUrl: string | undefined;
  /** Another Deno than the one that runs the stack, by version. */
  readonly denoVersion: string | undefined;
  readonly memoryLimitMegabytes: number | undefined;
  /** Set by whoever runs it, as `supabase secrets set` does. Default: none. */
  readonly ownVariables?: Readonly<Record<string, string>> | undefined;
}

/** What the function reads besides what Supabase injects. */
const OWN_VARIABLES = ["EMBEDDINGS_URL", "EMBEDDINGS_MODEL", "EMBEDDINGS_API_KEY"];

export interface FunctionCommand {
  readonly executable: string;
  readonly args: readonly string[];
  /** The whole environment of the process. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * What Deno needs to find its packages, and to trust where they come from; the runner removes it before the function is
 * loaded. https://docs.deno.com/runtime/reference/env_variables/
 */
const NEEDED_BY_DENO = [
  "HOME",
  "USERPROFILE",
  "LOCALAPPDATA",
  "SystemRoot",
  "DENO_DIR",
  "NPM_CONFIG_REGISTRY",
  "DENO_CERT",
  "DENO_TLS_CA_STORE",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
];
/** Older Denos know no NODE_EXTRA_CA_CERTS: what the system trusts is trusted, unless somebody has said otherwise. */
const TRUSTED_BY_DENO = { DENO_TLS_CA_STORE: "mozilla,system" };

export async function functionCommand(options: FunctionCommandOptions): Promise<FunctionCommand> {
  const { denoVersion, memoryLimitMegabytes } = options;
  const injected = { ...injectedVariables(options), ...options.ownVariables };
  const embeddingsUrl = options.ownVariables?.["EMBEDDINGS_URL"];
  const hosts = [options.supabaseUrl, ...(embeddingsUrl ? [embeddingsUrl] : [])].map((url) =>
    new URL(url).host
  );
  // A deployment has the import map and nothing else of deno.json; an older Deno cannot read the newer lock file.
  const config = denoVersion === undefined
    ? ["--config", DENO_CONFIG]
    : ["--no-config", "--no-lock", "--import-map", IMPORT_MAP];
  const memory = memoryLimitMegabytes === undefined
    ? []
    : [`--v8-flags=--max-old-space-size=${memoryLimitMegabytes}`];
  return {
    executable: denoVersion === undefined ? Deno.execPath() : await denoOfVersion(denoVersion, options.entry),
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      "--allow-env",
      `--allow-read=${dirname(options.entry)}`,
      `--allow-net=127.0.0.1,${hosts.join()}`,
      ...config,
      ...memory,
      EDGE_RUNTIME,
      pathToFileURL(options.entry).href,
      ...Object.keys(injected),
    ],
    environment: { ...TRUSTED_BY_DENO, ...pick(NEEDED_BY_DENO), NO_COLOR: "1", ...injected },
  };
}

/**
 * Exactly what Supabase injects into a function
 * (https://supabase.com/docs/guides/functions/secrets). PGlite has no address, so SUPABASE_DB_URL exists with --db only.
 */
function injectedVariables(options: FunctionCommandOptions): Record<string, string> {
  const { secrets, supabaseUrl, databaseUrl } = options;
  return {
    SUPABASE_URL: supabaseUrl,
    SUPABASE_ANON_KEY: secrets.anonKey,
    SUPABASE_SERVICE_ROLE_KEY: secrets.serviceRoleKey,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: secrets.publishableKey }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: secrets.secretKey }),
    // Local sessions are signed with a shared secret (HS256), so there is no public key to publish.
    SUPABASE_JWKS: JSON.stringify({ keys: [] }),
    ...(databaseUrl === undefined ? {} : { SUPABASE_DB_URL: databaseUrl }),
    SB_REGION: "local",
    SB_EXECUTION_ID: crypto.randomUUID(),
    DENO_DEPLOYMENT_ID: "local_api_1",
  };
}

/** Those that are set here. */
export function ownVariables(): Record<string, string> {
  return pick(OWN_VARIABLES);
}

function pick(names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = Deno.env.get(name);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** By version and entry: asking npx takes half a second, and fetching the packages more. */
const preparedDenos = new Map<string, Promise<string>>();

/** The path of that Deno, with the function's packages in its cache. Once per process. */
function denoOfVersion(version: string, entry: string): Promise<string> {
  const name = `${version} ${entry}`;
  const prepared = preparedDenos.get(name) ?? prepareDeno(version, entry);
  preparedDenos.set(name, prepared);
  return prepared;
}

/**
 * Fetches that Deno from npm. Started through npx each time, it would have two more processes in front of it. The
 * function's packages are fetched here, because the function's process hides the variables that say which certificates
 * to trust before it loads the function.
 */
async function prepareDeno(version: string, entry: string): Promise<string> {
  const path = (await outputOf(version, "npx", [
    ...["--yes", `deno@${version}`, "eval", "--no-config", "--no-lock"],
    "console.log(Deno.execPath())",
  ])).trim();
  if (path === "") throw new StartupError(`Deno ${version} cannot be had from npm.`);
  await outputOf(version, path, ["cache", "--no-config", "--no-lock", "--import-map", IMPORT_MAP, entry]);
  return path;
}

async function outputOf(version: string, command: string, args: readonly string[]): Promise<string> {
  const env = { ...TRUSTED_BY_DENO, ...pick(NEEDED_BY_DENO) };
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], env }).output();
  if (success) return new TextDecoder().decode(stdout);
  throw new StartupError(`Deno ${version} cannot be prepared: ${new TextDecoder().decode(stderr).trim()}`);
}
