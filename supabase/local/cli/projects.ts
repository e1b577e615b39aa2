/** `deno task projects`: creates, lists and deletes projects; sets their name, tier and owner; suspends and resumes them. */
import type { Administration, Project, ProjectChanges, Settings } from "../admin/administration.ts";
import { StartupError } from "../startup_error.ts";
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
import { table } from "./table.ts";

const USAGE =
  `deno task projects create | list | owner | rename | suspend | resume | delete | tier | makers | account-quota

  create NAME [--tier TIER]     create a project (TIER: free, pro or enterprise; default free)
  list                          list all projects
  owner PROJECT ACCOUNT         give it to an account, by confirmed e-mail address or id: it sees it in the console
  rename PROJECT NAME           change its name; its id stays
  suspend PROJECT               refuse every request about its files, until it is resumed
  resume PROJECT                accept requests again
  delete PROJECT                delete it for good, with its files, their history and its keys; asks for its name
  tier PROJECT TIER             set its tier; limits that are not given are those of the tier, and enterprise has none
  makers [WHO…]                 who may create projects in the console: anyone, nobody (only this command), or e-mail
                                addresses and domains like @example.com; without WHO, show it
  account-quota [BYTES]         the quota of all projects of the free tier of one account, in bytes, or none;
                                without BYTES, show it

  PROJECT is an id or a name. Without --owner, the name is that of a project without an owner.

  --confirm NAME                with delete: the project's name, instead of being asked for it
  --owner ACCOUNT               PROJECT is the name of a project of this account, by e-mail address or id
  --requests-per-minute N       limit of its own, with tier
  --max-file-bytes N            limit of its own, with tier
  --max-project-bytes N         limit of its own, with tier: the storage quota
${CONNECTION_USAGE}`;

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  tier: { type: "string" },
  owner: { type: "string" },
  confirm: { type: "string" },
  "requests-per-minute": { type: "string" },
  "max-file-bytes": { type: "string" },
  "max-project-bytes": { type: "string" },
} as const;

const LIMITS = ["requests-per-minute", "max-file-bytes", "max-project-bytes"] as const;

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
  words: readonly string[],
  values: Values,
): (to: Administration) => Promise<string> {
  const json = values.json ?? false;
  rejectUnusedOptions(command, values);
  const [project = ""] = words;
  switch (command) {
    case "create":
      return async (to) => formatProject(await to.createProject(project, values.tier ?? "free"), json);
    case "list":
      return async (to) => formatProjects(await to.listProjects(), json);
    case "delete":
      return (to) => deleteProject(to, project, values);
    case "makers":
    case "account-quota": {
      const settings = parseSettings(command, words);
      return async (to) => formatSettings(await to.settings(settings), json);
    }
  }
  const changes = parseChanges(command, words, values);
  return async (to) => {
    const before = await to.findProject(project, values.owner);
    const after = await to.updateProject(before.id, changes);
    if (changes.owner !== undefined && !json) printNotice(describeTransfer(before, after));
    return formatProject(after, json);
  };
}

/** Deletes a project once the operator has typed its name. Throws `UsageError`. */
async function deleteProject(to: Administration, nameOrId: string, values: Values): Promise<string> {
  const { id, name } = await to.findProject(nameOrId, values.owner);
  const shown = escapeControls(`${name} (${id})`);
  const confirm = values.confirm ??
    prompt(`Delete ${shown} for good, with all of its files, their history and its keys? Type its name:`);
  if (confirm === null) throw new UsageError("Without a terminal, delete requires --confirm NAME.");
  if (confirm !== name) {
    throw new StartupError(
      `Nothing was deleted: the confirmation is not the project's name, ${escapeControls(name)}.`,
    );
  }
  const deleted = await to.deleteProject(id, confirm);
  if (values.json) return JSON.stringify(deleted);
  return `Deleted ${shown}. The sweep removes its files; \`deno task sweep\` does so at once.`;
}

/** The change of a project. Throws `UsageError`. */
function parseChanges(command: string, [, value = ""]: readonly string[], values: Values): ProjectChanges {
  if (command === "owner") return { owner: value };
  if (command === "rename") return { name: value };
  if (command === "tier") return { tier: value, ...parseLimits(values) };
  return { isSuspended: command === "suspend" };
}

/** The change of the installation's settings; empty if the command only shows them. Throws `UsageError`. */
function parseSettings(command: "makers" | "account-quota", words: readonly string[]): Partial<Settings> {
  const [first] = words;
  if (first === undefined) return {};
  if (command === "makers") {
    return { projectMakers: words.length === 1 && first === "nobody" ? [] : [...words] };
  }
  const most = Number.MAX_SAFE_INTEGER;
  return { accountBytes: first === "none" ? null : parseWholeNumber(first, "BYTES", 1, most) };
}

function formatSettings(settings: Settings, json: boolean): string {
  if (json) return JSON.stringify(settings);
  const { projectMakers, accountBytes } = settings;
  return [
    `Who may create projects in the console: ${projectMakers?.join(", ") || "nobody"}`,
    `Shared quota of an account's projects, in bytes: ${accountBytes ?? "no limit"}`,
  ].join("\n");
}

function parseLimits(values: Values) {
  const limit = (name: typeof LIMITS[number], max = Number.MAX_SAFE_INTEGER) => {
    const text = values[name];
    return text === undefined ? undefined : parseWholeNumber(text, `--${name}`, 1, max);
  };
  return {
    requestsPerMinute: limit("requests-per-minute", 2_147_483_647),
    maxFileBytes: limit("max-file-bytes"),
    maxProjectBytes: limit("max-project-bytes"),
  };
}

/** Throws `UsageError` for an option that would have no effect. */
function rejectUnusedOptions(command: string, values: Values): void {
  if (LIMITS.some((name) => values[name] !== undefined) && command !== "tier") {
    throw new UsageError("The options for limits require the command tier.");
  }
  if (values.owner !== undefined && (command === "create" || command === "list")) {
    throw new UsageError("--owner requires a command that names a project.");
  }
  if (values.confirm !== undefined && command !== "delete") {
    throw new UsageError("--confirm requires the command delete.");
  }
  if (values.tier !== undefined && command !== "create") {
    throw new UsageError("--tier requires the command create.");
  }
}

function describeTransfer(before: Project, after: Project): string {
  const name = ({ ownerId, owner }: Project) =>
    ownerId === null ? "no account" : owner === null ? ownerId : `${owner} (${ownerId})`;
  const ended = before.ownerId !== null && before.ownerId !== after.ownerId
    ? " The former owner's console session has ended; API keys that the former owner kept still work."
    : "";
  return escapeControls(
    `The project ${after.name} (${after.id}) belongs to ${name(after)} now. Before: ${name(before)}.${ended}`,
  );
}

function formatProject(project: Project, json: boolean): string {
  if (!json) return formatProjects([project], false);
  const { id, name, tier, ownerId, owner, suspendedAt } = project;
  return JSON.stringify({ id, name, tier, ownerId, owner, suspendedAt });
}

function formatProjects(projects: readonly Project[], json: boolean): string {
  if (json) return JSON.stringify(projects);
  return table(
    ["ID", "NAME", "OWNER", "TIER", "REQUESTS/MINUTE", "FILE BYTES", "CREATED", "SUSPENDED"],
    projects.map((
      { id, name, owner, ownerId, tier, requestsPerMinute, maxFileBytes, createdAt, suspendedAt },
    ) => [
      id,
      name,
      owner ?? ownerId ?? "",
      tier,
      String(requestsPerMinute ?? "no limit"),
      String(maxFileBytes ?? "no limit"),
      createdAt,
      suspendedAt ?? "",
    ]),
  );
}
