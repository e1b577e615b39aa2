/** `deno task projects`: creates and lists projects, sets their tier and owner. */
import type { Administration, Project } from "../admin/administration.ts";
import { parseCommand, parseWholeNumber, printLine, run, UsageError } from "./command_line.ts";
import { connect, CONNECTION_OPTIONS, CONNECTION_USAGE } from "./connection.ts";
import { table } from "./table.ts";

const USAGE =
  `deno task projects create NAME [--tier TIER] | list | owner PROJECT ACCOUNT | tier PROJECT TIER [--requests-per-minute N] [--max-file-bytes N] [--max-project-bytes N]

  create NAME            create a project (--tier free, pro or enterprise; default free)
  list                   list all projects
  owner PROJECT ACCOUNT  assign a project to an account, by e-mail address or id: the owner sees it in the console
  tier PROJECT TIER      set the tier of a project, by name or id; limits that are not given are those of the tier,
                         and enterprise has none
${CONNECTION_USAGE}`;

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  tier: { type: "string" },
  "requests-per-minute": { type: "string" },
  "max-file-bytes": { type: "string" },
  "max-project-bytes": { type: "string" },
} as const;

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
  const json = values.json ?? false;
  rejectUnusedOptions(command, values);
  const [first, second] = words;
  if (command === "create" && first !== undefined && words.length === 1) {
    return async (to: Administration) =>
      formatProject(await to.createProject(first, values.tier ?? "free"), json);
  }
  if (command === "list" && words.length === 0) {
    return async (to: Administration) => formatProjects(await to.listProjects(), json);
  }
  if (command === "owner" && first !== undefined && second !== undefined && words.length === 2) {
    return async (to: Administration) => formatProject(await to.setOwner(first, second), json);
  }
  if (command === "tier" && first !== undefined && second !== undefined && words.length === 2) {
    const requestsPerMinute = parseLimit(
      values["requests-per-minute"],
      "--requests-per-minute",
      2_147_483_647,
    );
    const maxFileBytes = parseLimit(values["max-file-bytes"], "--max-file-bytes", Number.MAX_SAFE_INTEGER);
    const maxProjectBytes = parseLimit(
      values["max-project-bytes"],
      "--max-project-bytes",
      Number.MAX_SAFE_INTEGER,
    );
    const limits = { requestsPerMinute, maxFileBytes, maxProjectBytes };
    return async (to: Administration) => formatProject(await to.setTier(first, second, limits), json);
  }
  throw new UsageError(
    command === undefined ? "A command is missing." : "Unknown command, or wrong number of arguments.",
    USAGE,
  );
}

/** Throws `UsageError` for an option that would have no effect. */
function rejectUnusedOptions(command: string | undefined, values: Values): void {
  const limits = values["requests-per-minute"] !== undefined || values["max-file-bytes"] !== undefined ||
    values["max-project-bytes"] !== undefined;
  if (limits && command !== "tier") throw new UsageError("Limits require the command tier.", USAGE);
  if (values.tier !== undefined && command !== "create") {
    throw new UsageError("--tier requires the command create.", USAGE);
  }
}

function parseLimit(text: string | undefined, name: string, max: number): number | undefined {
  return text === undefined ? undefined : parseWholeNumber(text, name, 1, max, USAGE);
}

function formatProject(project: Project, json: boolean): string {
  if (!json) return formatProjects([project], false);
  const { id, name, tier } = project;
  return JSON.stringify({ id, name, tier });
}

function formatProjects(projects: readonly Project[], json: boolean): string {
  if (json) return JSON.stringify(projects);
  return table(
    ["ID", "NAME", "TIER", "REQUESTS/MINUTE", "FILE BYTES", "CREATED"],
    projects.map(({ id, name, tier, requestsPerMinute, maxFileBytes, createdAt }) => [
      id,
      name,
      tier,
      String(requestsPerMinute ?? "no limit"),
      String(maxFileBytes ?? "no limit"),
      createdAt,
    ]),
  );
}
