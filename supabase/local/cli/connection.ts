/** Connects the commands to a Supabase project, and the command `files` to the demo project. */
import { loadEnvFile } from "node:process";
import { Administration } from "../admin/administration.ts";
import { stateFileOf } from "../stack/data_directory.ts";
import { DATA_DIRECTORY, ENV_FILE } from "../repository.ts";
import { codeOf, StartupError } from "../startup_error.ts";
import { readState, type RunningStack } from "../stack/state.ts";

/** Options that these commands share. */
export const CONNECTION_OPTIONS = {
  data: { type: "string" },
  url: { type: "string" },
  "secret-key": { type: "string" },
  json: { type: "boolean" },
} as const;

export const CONNECTION_USAGE = `
  --data DIR        data folder of the local stack (default supabase/.temp/local)
  --url URL         use another Supabase project instead, with its secret key; both are also read from
  --secret-key KEY  the environment or .env: SUPABASE_URL and SUPABASE_SECRET_KEY
  --json            print one line of JSON on standard output
  --help            print this text
  --version         print the version`;

export interface ConnectionValues {
  readonly data?: string | undefined;
  readonly url?: string | undefined;
  readonly "secret-key"?: string | undefined;
}

/** Connects to a Supabase project. Options take precedence over the environment, --data over both. Throws `StartupError`. */
export async function connect(values: ConnectionValues): Promise<Administration> {
  loadEnv();
  const { data, url = env("SUPABASE_URL", data), "secret-key": key = env("SUPABASE_SECRET_KEY", data) } =
    values;
  if (data !== undefined && (values.url !== undefined || values["secret-key"] !== undefined)) {
    throw new StartupError("Give either --data, or --url and --secret-key.");
  }
  if (url !== undefined && key !== undefined) {
    if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
      throw new StartupError("--url must be an address like https://REF.supabase.co.");
    }
    return new Administration(url.replace(/\/+$/, ""), key);
  }
  if (url !== undefined || key !== undefined) {
    throw new StartupError("A Supabase project requires both its URL and its secret key.");
  }
  const { supabaseUrl, secretKey } = await runningStack(data);
  return new Administration(supabaseUrl, secretKey);
}

/** The demo project of a running local stack. Throws `StartupError`. */
export async function demoProject(data: string | undefined): Promise<{ url: string; key: string }> {
  const { supabaseUrl, apiKey } = await runningStack(data);
  if (apiKey === undefined) throw new StartupError("Start the local stack again, or give --url and --key.");
  return { url: `${supabaseUrl}/functions/v1/api`, key: apiKey };
}

async function runningStack(directory = DATA_DIRECTORY): Promise<RunningStack> {
  const running = await readState(stateFileOf(directory));
  if (running !== null) return running;
  throw new StartupError(`No local stack is running on ${directory}; start it with deno task start.`);
}

/** Adds the variables of `.env` to the environment; variables that are set already take precedence. */
export function loadEnv(): void {
  try {
    loadEnvFile(ENV_FILE);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" && !(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function env(name: string, data: string | undefined): string | undefined {
  return data === undefined ? Deno.env.get(name) || undefined : undefined;
}
