/** `deno task keys`: creates, lists, revokes and rotates API keys. A key is shown once and stored as its SHA-256. */
import type { Administration, Key } from "../admin/administration.ts";
import { parseCommand, printLine, printNotice, run, UsageError } from "./command_line.ts";
import { connect, CONNECTION_OPTIONS, CONNECTION_USAGE } from "./connection.ts";
import { newKey } from "../admin/new_key.ts";
import { table } from "./table.ts";

const USAGE =
  `deno task keys create --project NAME-OR-ID [--name LABEL] [--expires DATE] | list [--project NAME-OR-ID] | revoke ID | rotate ID

  create      makes a key for a project; --expires is a date (2030-01-31, its beginning in UTC) or a time with zone
  list        all keys, or those of one project
  revoke ID   ends a key at once
  rotate ID   ends a key at once and makes one with the same project, name and expiry
${CONNECTION_USAGE}`;

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  project: { type: "string" },
  name: { type: "string" },
  expires: { type: "string" },
} as const;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** ISO 8601: a date, or a time that says its zone. */
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

/** What to do, checked before anything is contacted. */
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
    if (!UUID.test(id)) throw new UsageError(`'${id}' is not the id of a key.`, USAGE);
    return command === "revoke"
      ? async (to: Administration) => formatRevoked(await to.revokeKey(id), json)
      : async (to: Administration) => {
        const { apiKey, stored } = await newKey();
        return formatNewKey(apiKey, await to.rotateKey(id, stored), json);
      };
  }
  throw new UsageError(
    command === undefined ? "A command is missing." : "The command is not understood.",
    USAGE,
  );
}

/** An option that would have no effect is a mistake. */
function rejectUnusedOptions(command: string | undefined, { project, name, expires }: Values): void {
  if ((name !== undefined || expires !== undefined) && command !== "create") {
    throw new UsageError("--name and --expires go with the command create.", USAGE);
  }
  if (project !== undefined && command !== "create" && command !== "list") {
    throw new UsageError("--project goes with the commands create and list.", USAGE);
  }
}

function parseExpiry(text: string | undefined): string | null {
  if (text === undefined) return null;
  const moment = TIMESTAMP.test(text) ? Date.parse(text) : NaN;
  // Date.parse takes 31 February for 3 March.
  const [day] = Number.isNaN(moment)
    ? [""]
    : new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().split("T");
  if (day !== text.slice(0, 10)) throw new UsageError("--expires is a date like 2030-01-31.", USAGE);
  if (moment <= Date.now()) throw new UsageError("--expires is in the past.", USAGE);
  return new Date(moment).toISOString();
}

function formatNewKey(apiKey: string, { id, prefix, project }: Key, json: boolean): string {
  if (json) return JSON.stringify({ id, key: apiKey, prefix });
  printNotice(`A key for the project ${project.name}. Keep it now: it is not shown again.`);
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
