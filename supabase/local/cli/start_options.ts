/** The options of `deno task start`. */
import { parseCommand, parseWholeNumber, UsageError } from "./command_line.ts";
import { GATEWAY_PORT_DEFAULT } from "../limits.ts";
import { DATA_DIRECTORY } from "../repository.ts";

export interface StartOptions {
  readonly json: boolean;
  readonly log: boolean;
  readonly port: number;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly embeddings: boolean;
}

export const START_USAGE =
  `deno task start [--port N] [--data DIR] [--db URL] [--no-embeddings] [--json] [--log]

  --port N    port of the gateway on 127.0.0.1 (default ${GATEWAY_PORT_DEFAULT}, 0: any free port)
  --data DIR  folder for all persistent data (default supabase/.temp/local)
  --db URL    use a Postgres server instead of the built-in PGlite: postgresql://user:password@host:port/database
  --no-embeddings  leave out the model that finds files by meaning
  --json      print one line of JSON on standard output when ready, everything else on standard error
  --log       show each request here instead of logging it to requests.log in the data folder
  --help      print this text
  --version   print the version`;

const OPTIONS = {
  port: { type: "string" },
  data: { type: "string" },
  db: { type: "string" },
  "no-embeddings": { type: "boolean" },
  json: { type: "boolean" },
  log: { type: "boolean" },
} as const;

/** Throws `UsageError`. */
export function parseStartOptions(args: readonly string[]): StartOptions {
  const { values } = parseCommand(args, OPTIONS, START_USAGE);
  if (values.data === "") throw new UsageError("--data must be the path of a folder.");
  return {
    json: values.json ?? false,
    log: values.log ?? false,
    port: values.port === undefined
      ? GATEWAY_PORT_DEFAULT
      : parseWholeNumber(values.port, "--port", 0, 65_535),
    dataDir: values.data ?? DATA_DIRECTORY,
    databaseUrl: values.db === undefined ? undefined : databaseUrl(values.db),
    embeddings: values["no-embeddings"] !== true,
  };
}

function databaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.hostname !== "") return text;
  throw new UsageError(
    "--db must be an address like postgresql://user:password@host:5432/database.",
  );
}
