/** `deno task keys`: creates, lists, revokes and rotates API keys. A key is shown once and stored as its SHA-256. */
import type { Administration, Key } from "../admin/administration.ts";
import { parseCommand, printLine, printNotice, run, UsageError } from "./command_line.ts";
import { connect, CONNECTION_OPTIONS, CONNECTION_USAGE } from "./connection.ts";
import { newKey } from "../admin/new_key.ts";
import { table } from "./table.ts";

const USAGE =
  `deno task keys create --project NAME-OR-ID [--name LABEL] [--expires DATE] | list [--project NAME-OR-ID] | revoke ID | rotate ID

  create      create a key for a project; --expires takes a date (2030-01-31: from 00:00 UTC) or a time with a time zone
  list        list all keys, or the keys of one project
  revoke ID   revoke a key immediately
  rotate ID   revoke a key immediately and create one with the same project, name and expiry
${CONNECTION_USAGE}`;

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  project: { type: "string" },
  name: { type: "string" },
  expires: { type: "string" },
} as const;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** ISO 8601: a date, or a time with its zone. */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2}))?$/;

type Values = ReturnType<typeof parse>["values"];

await run(async () => {
  const { values, positionals } = parse(Deno.args);
  if (values.help) return printLine(`Usage: ${USAGE}`);
  const command = parseAction(positionals, values);
  printLine(await command(await connect(values)));
});

function parse(args: readonly string[]) {
  return parseCommand(args, OPTIONS, USAGE);
}

/** Validates the command before the project is contacted. Throws `UsageError`. */
function parseAction([command, ...words]: readonly string[], values: Values) {
  const { json = false, project } = values;
  rejectUnusedOptions(command, values);
  const [id] = words;
  if (command === "create" && words.length === 0) {
    if (project === undefined) throw new UsageError("--project is missing.", USAGE);
    const expires = parseExpiry(values.expires);
    return async (to: Administration) => {
      const { apiKey, stored } = await newKey();
      return formatNewKey(apiKey, await to.createKey(project, values.name ?? "", stored, expires), json);
    };
  }
  if (command === "list" && words.length === 0) {
    return async (to: Administration) => formatKeys(await to.listKeys(project ?? null), json);
  }
  if ((command === "revoke" || command === "rotate") && id !== undefined && words.length === 1) {
    if (!UUID.test(id)) throw new UsageError(`'${id}' is not a key id.`, USAGE);
    return command === "revoke"
      ? async (to: Administration) => formatRevoked(await to.revokeKey(id), json)
      : async (to: Administration) => {
        const { apiKey, stored } = await newKey();
        return formatNewKey(apiKey, await to.rotateKey(id, stored), json);
      };
  }
  throw new UsageError(
    command === undefined ? "A command is missing." : "Unknown command, or wrong number of arguments.",
    USAGE,
  );
}

/** Throws `UsageError` for an option that would have no effect. */
function rejectUnusedOptions(command: string | undefined, { project, name, expires }: Values): void {
  if ((name !== undefined || expires !== undefined) && command !== "create") {
    throw new UsageError("--name and --expires require the command create.", USAGE);
  }
  if (project !== undefined && command !== "create" && command !== "list") {
    throw new UsageError("--project requires the command create or list.", USAGE);
  }
}

function parseExpiry(text: string | undefined): string | null {
  if (text === undefined) return null;
  const moment = TIMESTAMP.test(text) ? Date.parse(text) : NaN;
  // Date.parse accepts 31 February as 3 March.
  const [day] = Number.isNaN(moment)
    ? [""]
    : new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().split("T");
  if (day !== text.slice(0, 10)) throw new UsageError("--expires must be a date like 2030-01-31.", USAGE);
  if (moment <= Date.now()) throw new UsageError("--expires is in the past.", USAGE);
  return new Date(moment).toISOString();
}

function formatNewKey(apiKey: string, { id, prefix, project }: Key, json: boolean): string {
  if (json) return JSON.stringify({ id, key: apiKey, prefix });
  printNotice(`Created a key for the project ${project.name}. Copy it now: it is not shown again.`);
  return table(["ID", "KEY"], [[id, apiKey]]);
}

function formatRevoked({ id, prefix, revokedAt }: Key, json: boolean): string {
  return json ? JSON.stringify({ id, revokedAt }) : `Revoked ${prefix}… (${id}) at ${revokedAt}.`;
}

function formatKeys(keys: readonly Key[], json: boolean): string {
  if (json) return JSON.stringify(keys);
  return table(
    ["ID", "PREFIX", "NAME", "PROJECT", "CREATED", "EXPIRES", "REVOKED", "LAST USED"],
    keys.map((key) => [
      key.id,
      key.prefix,
      key.name,
      key.project.name,
      key.createdAt,
      key.expiresAt ?? "never",
      key.revokedAt ?? "",
      key.lastUsedAt ?? "never",
    ]),
  );
}
