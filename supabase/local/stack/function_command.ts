/** The command that starts a function process: the Deno executable, its permissions and its environment. */
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { mailSettings } from "../../functions/api/mail/settings.ts";
import { DENO_CONFIG, EDGE_RUNTIME, FUNCTION_CONFIG } from "../repository.ts";
import type { Secrets } from "./secrets.ts";
import { StartupError } from "../startup_error.ts";

export interface FunctionCommandOptions {
  readonly entry: string;
  readonly secrets: Secrets;
  /** SUPABASE_URL of the function. */
  readonly supabaseUrl: string;
  readonly databaseUrl: string | undefined;
  /** Version of the Deno that runs the function. Undefined: the Deno that runs the stack. */
  readonly denoVersion: string | undefined;
  readonly memoryLimitMegabytes: number | undefined;
  /** Variables that the operator sets, as with `supabase secrets set`. Default: none. */
  readonly ownVariables?: Readonly<Record<string, string>> | undefined;
}

/** Variables that the function reads, other than those that Supabase injects. */
const OWN_VARIABLES = [
  "EMBEDDINGS_URL",
  "EMBEDDINGS_MODEL",
  "EMBEDDINGS_API_KEY",
  "EMBEDDINGS_DIMENSIONS",
  "EMBEDDINGS_FORMER_MODEL",
  "EMBEDDINGS_FORMER_URL",
  "EMBEDDINGS_FORMER_API_KEY",
  "MCP_ALLOWED_ORIGINS",
  "CONSOLE_URL",
  "OAUTH_ISSUER",
  "OUTBOUND_ALLOWED_HOSTS",
  "MAIL_URL",
  "MAIL_KEY",
  "MAIL_FROM",
];

const AS_DEPLOYED = ["--config", FUNCTION_CONFIG, "--frozen"];

export interface FunctionCommand {
  readonly executable: string;
  readonly args: readonly string[];
  /** The whole environment of the process. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Variables that Deno requires to find its packages and to verify their origin; `edge_runtime.ts` removes them before
 * it loads the function. https://docs.deno.com/runtime/reference/env_variables/
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
/** Older Denos do not read NODE_EXTRA_CA_CERTS, so the certificates of the system are trusted unless this is set. */
const TRUSTED_BY_DENO = { DENO_TLS_CA_STORE: "mozilla,system" };

export async function functionCommand(options: FunctionCommandOptions): Promise<FunctionCommand> {
  const { denoVersion, memoryLimitMegabytes } = options;
  const injected = { ...injectedVariables(options), ...options.ownVariables };
  const own = (name: string) => options.ownVariables?.[name];
  const hosts = [options.supabaseUrl, own("EMBEDDINGS_URL"), mailSettings(own)?.url]
    .flatMap((url) => url ? new URL(url).host : []);
  const allowedHosts = options.ownVariables?.["OUTBOUND_ALLOWED_HOSTS"]?.match(/[^\s,]+/g) ?? [];
  // An older Deno cannot read the newer lock file, and uses the deployed one. Without this flag the latest Deno warns
  // that it also aborts `request.signal` after each response; the function reads the signal only before that.
  const config = denoVersion === undefined
    ? ["--config", DENO_CONFIG, "--unstable-no-legacy-abort"]
    : AS_DEPLOYED;
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
      `--allow-net=${["127.0.0.1", ...hosts, ...allowedHosts].join()}`,
      ...config,
      ...memory,
      EDGE_RUNTIME,
      pathToFileURL(options.entry).href,
      ...Object.keys(injected),
    ],
    environment: { ...denoEnvironment(), ...injected },
  };
}

/**
 * Returns exactly the variables that Supabase injects into a function
 * (https://supabase.com/docs/guides/functions/secrets). PGlite has no URL, so SUPABASE_DB_URL is set with --db only.
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

/** The variables of this process with which Deno finds its packages and verifies their origin, and no others. */
export function denoEnvironment(): Record<string, string> {
  return { ...TRUSTED_BY_DENO, ...pick(NEEDED_BY_DENO), NO_COLOR: "1" };
}

/** Returns the variables of the function that are set in this process. */
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

/** Paths by version and entry: npx takes half a second, and downloading the packages takes longer. */
const preparedDenos = new Map<string, Promise<string>>();

/** Returns the path of that Deno, with the packages of the function in its cache. Prepared once per process. */
function denoOfVersion(version: string, entry: string): Promise<string> {
  const name = `${version} ${entry}`;
  const prepared = preparedDenos.get(name) ?? prepareDeno(version, entry);
  preparedDenos.set(name, prepared);
  return prepared;
}

/**
 * Downloads that Deno from npm; starting it through npx each time would add two parent processes. The packages of the
 * function are downloaded here, because the function process removes the variables with the trusted certificates before
 * it loads the function.
 */
async function prepareDeno(version: string, entry: string): Promise<string> {
  const path = (await outputOf(version, "npx", [
    ...["--yes", `deno@${version}`, "eval", "--no-config", "--no-lock"],
    "console.log(Deno.execPath())",
  ])).trim();
  if (path === "") throw new StartupError(`Deno ${version} cannot be installed from npm.`);
  await outputOf(version, path, ["cache", ...AS_DEPLOYED, entry]);
  return path;
}

async function outputOf(version: string, command: string, args: readonly string[]): Promise<string> {
  const env = denoEnvironment();
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], env }).output();
  if (success) return new TextDecoder().decode(stdout);
  throw new StartupError(`Deno ${version} cannot be prepared: ${new TextDecoder().decode(stderr).trim()}`);
}
