/** `deno task keys`: creates, lists, changes, revokes and rotates API keys. A key is shown once and stored as its SHA-256. */
import { checkPath } from "../../functions/api/http/path.ts";
import { KEY_GRACE_PERIOD_SECONDS_MAX } from "../../functions/api/limits.ts";
import type { Administration, Key, KeyChanges, KeyRights } from "../admin/administration.ts";
import { messageOf } from "../startup_error.ts";
import {
  escapeControls,
  parseCommand,
  parseWholeNumber,
  printLine,
  printNotice,
  run,
  UsageError,
} from "./command_line.ts";
import { connect, CONNECTION_OPTIONS, CONNECTION_USAGE } from "./connection.ts";
import { newKey } from "../admin/new_key.ts";
import { SCOPES_HELP } from "./scopes_help.ts";
import { table } from "./table.ts";

const USAGE = `deno task keys create | list | update | revoke | rotate | disconnect

  create --project PROJECT   create a key for a project
  list [--project PROJECT]   list all keys, or those of one project
  update ID                  change its --name or --expires, or narrow its --scopes or --prefix
  revoke ID                  revoke a key immediately
  rotate ID                  revoke a key and create one with the same project, name, rights and expiry
  disconnect --project PROJECT
                             revoke all apps of a project, which people let in by signing in

  PROJECT is an id or a name. Without --owner, the name is that of a project without an owner.

  --owner ACCOUNT            PROJECT is the name of a project of this account, by e-mail address or id
  --name LABEL               the key's name
  --expires DATE             when it expires: a date (2030-01-31: from 00:00 UTC) or a time with a time zone
  --scopes SCOPES            what it may do, separated by commas (default read,write):
${SCOPES_HELP}
  --prefix DIRECTORY         it reads and writes only below this directory
  --grace SECONDS            with rotate: the old key is valid for that long; with create: the project's other keys
                             with the same --name expire after it
${CONNECTION_USAGE}`;

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  project: { type: "string" },
  owner: { type: "string" },
  name: { type: "string" },
  expires: { type: "string" },
  scopes: { type: "string" },
  prefix: { type: "string" },
  grace: { type: "string" },
} as const;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** ISO 8601: a date, or a time with its zone. */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2}))?$/;

const SCOPES = ["read", "write", "admin"];

type Values = ReturnType<typeof parse>["values"];

await run(USAGE, async () => {
  const { values, command, words } = parse(Deno.args);
  const action = parseAction(command, words, values);
  printLine(await action(await connect(values)));
});

function parse(args: readonly string[]) {
  return parseCommand(args, OPTIONS, USAGE);
}

/** Validates the command before the project is contacted. Throws `UsageError`. */
function parseAction(
  command: string,
  [id = ""]: readonly string[],
  values: Values,
): (to: Administration) => Promise<string> {
  const { json = false, project, owner } = values;
  rejectUnusedOptions(command, values);
  const graceSeconds = parseGrace(values.grace);
  if (command === "create") {
    if (project === undefined) throw new UsageError("create requires --project.");
    const rights = { ...parseRights(values), graceSeconds };
    if (graceSeconds !== null && !values.name) {
      throw new UsageError(
        "--grace requires --name: it sets how long the other keys with that name stay valid.",
      );
    }
    return async (to) => {
      const { id } = await to.findProject(project, owner);
      const { apiKey, stored } = await newKey();
      return formatNewKey(apiKey, await to.createKey(id, values.name ?? "", stored, rights), json);
    };
  }
  if (command === "list") {
    return async (to) => {
      const found = project === undefined ? null : await to.findProject(project, owner);
      return formatKeys(await to.listKeys(found?.id ?? null), json);
    };
  }
  if (command === "disconnect") {
    if (project === undefined) throw new UsageError("disconnect requires --project.");
    return async (to) => {
      const { id } = await to.findProject(project, owner);
      return formatKeys(await to.disconnectApps(id), json);
    };
  }
  if (!UUID.test(id)) throw new UsageError(`'${id}' is not a key id.`);
  if (command === "update") {
    const changes = parseChanges(values);
    return async (to) => formatKeys([await to.changeKey(id, changes)], json);
  }
  if (command === "revoke") return async (to) => formatRevoked(await to.revokeKey(id), json);
  return async (to) => {
    const { apiKey, stored } = await newKey();
    return formatNewKey(apiKey, await to.rotateKey(id, stored, graceSeconds ?? 0), json);
  };
}

/** Throws `UsageError` for an option that would have no effect. */
function rejectUnusedOptions(command: string, values: Values): void {
  const requires: readonly (readonly [readonly (keyof Values)[], readonly string[]])[] = [
    [["name", "expires", "scopes", "prefix"], ["create", "update"]],
    [["project", "owner"], ["create", "list", "disconnect"]],
    [["grace"], ["create", "rotate"]],
  ];
  for (const [names, commands] of requires) {
    if (commands.includes(command)) continue;
    if (names.every((name) => values[name] === undefined)) continue;
    const options = new Intl.ListFormat("en").format(names.map((name) => `--${name}`));
    const verb = names.length === 1 ? "requires" : "require";
    throw new UsageError(`${options} ${verb} the command ${commands.join(" or ")}.`);
  }
  if (values.owner !== undefined && values.project === undefined) {
    throw new UsageError("--owner requires --project.");
  }
}

function parseGrace(text: string | undefined): number | null {
  if (text === undefined) return null;
  return parseWholeNumber(text, "--grace", 0, KEY_GRACE_PERIOD_SECONDS_MAX);
}

/** The changes that the options request. */
function parseChanges(values: Values): KeyChanges {
  const { name, expires, scopes, prefix } = values;
  if ([name, expires, scopes, prefix].every((value) => value === undefined)) {
    throw new UsageError("update requires --name, --expires, --scopes or --prefix.");
  }
  // The service checks whether the key's present scopes allow a prefix.
  const rights = parseRights({ ...values, scopes: scopes ?? "read" });
  return {
    ...name !== undefined && { name },
    ...expires !== undefined && { expiresAt: rights.expiresAt ?? null },
    ...scopes !== undefined && { scopes: rights.scopes ?? [] },
    ...prefix !== undefined && { pathPrefix: rights.pathPrefix ?? null },
  };
}

function parseRights({ expires, scopes, prefix }: Values): KeyRights {
  const names = scopes === undefined ? ["read", "write"] : scopes.split(",").map((name) => name.trim());
  if (!names.every((name) => SCOPES.includes(name)) || new Set(names).size !== names.length) {
    throw new UsageError(
      "--scopes must be one or more of read, write and admin, separated by commas.",
    );
  }
  const pathPrefix = prefix === undefined ? null : prefix.replace(/^\/+|\/+$/g, "");
  if (pathPrefix !== null) {
    try {
      checkPath(pathPrefix);
    } catch (error) {
      throw new UsageError(`--prefix must be a directory. ${messageOf(error)}`);
    }
    if (names.includes("admin")) {
      throw new UsageError("--prefix must not be combined with the scope admin.");
    }
  }
  return { expiresAt: parseExpiry(expires), scopes: names, pathPrefix };
}

function parseExpiry(text: string | undefined): string | null {
  if (text === undefined) return null;
  const moment = TIMESTAMP.test(text) ? Date.parse(text) : NaN;
  // Date.parse accepts 31 February as 3 March.
  const [day] = Number.isNaN(moment)
    ? [""]
    : new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().split("T");
  if (day !== text.slice(0, 10)) throw new UsageError("--expires must be a date like 2030-01-31.");
  if (moment <= Date.now()) throw new UsageError("--expires is in the past.");
  return new Date(moment).toISOString();
}

function formatNewKey(apiKey: string, { id, prefix, project }: Key, json: boolean): string {
  if (json) return JSON.stringify({ id, key: apiKey, prefix });
  printNotice(
    escapeControls(`Created a key for the project ${project.name}. Copy it now: it is not shown again.`),
  );
  return table(["ID", "KEY"], [[id, apiKey]]);
}

function formatRevoked({ id, prefix, revokedAt }: Key, json: boolean): string {
  return json ? JSON.stringify({ id, revokedAt }) : `Revoked ${prefix}… (${id}) at ${revokedAt}.`;
}

function formatKeys(keys: readonly Key[], json: boolean): string {
  if (json) return JSON.stringify(keys);
  return table(
    [
      "ID",
      "KIND",
      "PREFIX",
      "NAME",
      "PROJECT",
      "SCOPES",
      "BELOW",
      "CREATED",
      "EXPIRES",
      "REVOKED",
      "LAST USED",
    ],
    keys.map((key) => [
      key.id,
      key.kind,
      key.prefix,
      key.name,
      key.project.name,
      key.scopes.join(","),
      key.pathPrefix ?? "",
      key.createdAt,
      key.expiresAt ?? "never",
      key.revokedAt ?? "",
      key.lastUsedAt ?? "never",
    ]),
  );
}
