/** Which Supabase project the commands `projects` and `keys` talk to. */
import { loadEnvFile } from "node:process";
import { Administration } from "../admin/administration.ts";
import { stateFileOf } from "../stack/data_directory.ts";
import { DATA_DIRECTORY, ENV_FILE } from "../repository.ts";
import { codeOf, StartupError } from "../startup_error.ts";
import { readState } from "../stack/state.ts";

/** Options that `projects` and `keys` share. */
export const CONNECTION_OPTIONS = {
  data: { type: "string" },
  url: { type: "string" },
  "secret-key": { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

export const CONNECTION_USAGE = `
  --data DIR        data folder of the local stack (default supabase/.temp/local)
  --url URL         any Supabase project instead, with its secret key; both also from the
  --secret-key KEY  environment or .env: SUPABASE_URL and SUPABASE_SECRET_KEY
  --json            one line of JSON on standard output
  --help            this text`;

export interface ConnectionValues {
  readonly data?: string | undefined;
  readonly url?: string | undefined;
  readonly "secret-key"?: string | undefined;
}

/** Options go before the environment, and --data before both. Throws `StartupError`. */
export async function connect(values: ConnectionValues): Promise<Administration> {
  loadEnv();
  const { data, url = env("SUPABASE_URL", data), "secret-key": key = env("SUPABASE_SECRET_KEY", data) } =
    values;
  if (data !== undefined && (values.url !== undefined || values["secret-key"] !== undefined)) {
    throw new StartupError("Give either --data, or --url and --secret-key.");
  }
  if (url !== undefined && key !== undefined) {
    if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
      throw new StartupError("--url is an address like https://REF.supabase.co.");
    }
    return new Administration(url.replace(/\/+$/, ""), key);
  }
  if (url !== undefined || key !== undefined) {
    throw new StartupError("A Supabase project needs both its URL and its secret key.");
  }
  const directory = data ?? DATA_DIRECTORY;
  const running = await readState(stateFileOf(directory));
  if (running === null) {
    throw new StartupError(`No local stack runs on ${directory}; start it with deno task start.`);
  }
  return new Administration(running.supabaseUrl, running.secretKey);
}

/** Adds what `.env` says to the environment; what is there already stays. */
function loadEnv(): void {
  try {
    loadEnvFile(ENV_FILE);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" && !(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function env(name: string, data: string | undefined): string | undefined {
  return data === undefined ? Deno.env.get(name) || undefined : undefined;
}
