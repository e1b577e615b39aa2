/** `deno task files`: exports the files of a project, imports them into another one, and erases, over the public API. */
import { normalizeDirectory } from "../../functions/api/http/path.ts";
import { INTEGER_MAX, REDACT_VERSIONS_MAX } from "../../functions/api/limits.ts";
import { counted } from "../../functions/api/runtime/counted.ts";
import { purgeFile, redactVersions } from "../transfer/erase.ts";
import { exportFiles } from "../transfer/export.ts";
import type { FileApi } from "../transfer/file_api.ts";
import { importFiles } from "../transfer/import.ts";
import { messageOf, StartupError } from "../startup_error.ts";
import {
  escapeControls,
  parseCommand,
  parseWholeNumber,
  printLine,
  printNotice,
  run,
  UsageError,
} from "./command_line.ts";
import { connectToFiles, FILES_OPTIONS, FILES_USAGE } from "./connection.ts";

const USAGE = `deno task files export | import | purge | redact

  export DIR [--directory D] [--at T] [--history]
      writes the files into the folder DIR: \`files/\`, and \`manifest.jsonl\` with version, size, SHA-256, type,
      provenance and times of each. --directory: only what is below D. --at: as they were at a time or a cursor of
      the change feed. --history: every version, those of deleted files, too. Branches are left out, here and in an
      import
  import DIR [--overwrite]
      writes the files of DIR into the project, as new versions. Changes nothing if a file is missing, has another
      SHA-256, or exists in the project; --overwrite adds versions to files that exist
  purge PATH [--confirm PATH]
      erases a file for good, with every version, even if it is deleted already; asks for its path. Requires a key
      with the scope admin
  redact PATH --versions N,N-N [--note TEXT]
      erases the content of these versions and their notes for good; the numbers stay. TEXT replaces the notes. The
      latest version cannot be redacted. Requires a key with the scope admin

  Run an export or import that was interrupted again: it continues where it stopped.
${FILES_USAGE}`;

const OPTIONS = {
  ...FILES_OPTIONS,
  directory: { type: "string" },
  at: { type: "string" },
  history: { type: "boolean" },
  overwrite: { type: "boolean" },
  confirm: { type: "string" },
  versions: { type: "string" },
  note: { type: "string" },
} as const;

/** Each command's own options. */
const OPTIONS_OF = {
  export: ["directory", "at", "history"],
  import: ["overwrite"],
  purge: ["confirm"],
  redact: ["versions", "note"],
} as const;

type Values = ReturnType<typeof parse>["values"];

await run(USAGE, async () => {
  const { values, command, words } = parse(Deno.args);
  const action = parseAction(command, words, values);
  printLine(await action(await connectToFiles(values)));
});

function parse(args: readonly string[]) {
  return parseCommand(args, OPTIONS, USAGE);
}

/** Validates the command before the project is contacted. Throws `UsageError`. */
function parseAction(
  command: string,
  [subject = ""]: readonly string[],
  values: Values,
): (api: FileApi) => Promise<string> {
  const ofOther = Object.entries(OPTIONS_OF).flatMap(([owner, names]) => owner === command ? [] : names)
    .find((name) => values[name] !== undefined);
  if (ofOther !== undefined) throw new UsageError(`${command} does not take --${ofOther}.`);
  if (command === "import") return (api) => importInto(api, subject, values);
  if (command === "purge") return (api) => purge(api, subject, values);
  if (command === "redact") {
    const versions = versionsOf(values.versions);
    return (api) => redact(api, subject, versions, values);
  }
  const directory = directoryOf(values.directory ?? "/");
  return (api) => exportFrom(api, subject, directory, values);
}

/** The numbers of `1,4-6`, each once. Throws `UsageError`. */
function versionsOf(text: string | undefined): number[] {
  if (text === undefined) throw new UsageError("redact requires --versions N,N-N.");
  const found = new Set<number>();
  for (const part of text.split(",")) {
    const [first = "", last = first, ...rest] = part.trim().split("-");
    if (rest.length > 0) {
      throw new UsageError("--versions must be numbers or ranges, separated by commas, such as 3,5-8.");
    }
    const from = parseWholeNumber(first, "A version", 1, INTEGER_MAX);
    const to = parseWholeNumber(last, "The end of a range", from, INTEGER_MAX);
    for (let version = from; version <= to; version++) {
      if (found.add(version).size > REDACT_VERSIONS_MAX) {
        throw new UsageError(`--versions may name at most ${REDACT_VERSIONS_MAX} versions.`);
      }
    }
  }
  return [...found];
}

function directoryOf(text: string): string {
  try {
    return normalizeDirectory(text);
  } catch (error) {
    throw new UsageError(`--directory: ${messageOf(error)}`);
  }
}

async function exportFrom(api: FileApi, folder: string, directory: string, values: Values): Promise<string> {
  const hasHistory = values.history ?? false;
  const exported = await exportFiles(api, folder, { directory, at: values.at, hasHistory });
  const { files, versions, bytes, gone } = exported;
  if (gone.length > 0 && !values.json) {
    printNotice(escapeControls(
      `Left out, since their versions of that time were erased: ${gone.slice(0, 20).join(", ")}${
        gone.length > 20 ? ` and ${gone.length - 20} more` : ""
      }.`,
    ));
  }
  if (values.json) return JSON.stringify(exported);
  return `Exported ${files} files into ${folder}; ${versions} versions with ${bytes} bytes in this run.`;
}

async function importInto(api: FileApi, folder: string, values: Values): Promise<string> {
  const imported = await importFiles(api, folder, { overwrites: values.overwrite ?? false });
  if (values.json) return JSON.stringify(imported);
  const { files, versions, bytes, runId } = imported;
  return `Imported ${files} files; ${versions} versions with ${bytes} bytes now, as run ${runId}.`;
}

async function purge(api: FileApi, path: string, values: Values): Promise<string> {
  const shown = escapeControls(path);
  const confirm = values.confirm ?? prompt(`Erase ${shown} for good, with every version? Type its path:`);
  if (confirm === null) throw new UsageError("Without a terminal, purge requires --confirm PATH.");
  if (confirm !== path) {
    throw new StartupError(`Nothing was erased: the confirmation is not the path ${shown}.`);
  }
  const purged = await purgeFile(api, path);
  if (values.json) return JSON.stringify(purged);
  const { versions, bytes, pendingVersions } = purged;
  const rest = pendingVersions === 0
    ? ""
    : ` No version can be read; the sweep still has to remove ${pendingVersions} of them.`;
  return `Erased ${shown} for good: ${versions} versions with ${bytes} bytes.${rest}`;
}

async function redact(
  api: FileApi,
  path: string,
  versions: readonly number[],
  values: Values,
): Promise<string> {
  const redacted = await redactVersions(api, path, versions, values.note);
  if (values.json) return JSON.stringify(redacted);
  const { remaining } = redacted;
  if (remaining.length > 0) {
    printNotice(escapeControls(
      `These versions can still be read, and contain part of the erased content: ${
        remaining.map((other) => `${other.path} version ${other.version}`).join(", ")
      }.`,
    ));
  }
  const erased = counted(redacted.versions.length, "version");
  return `Erased the content of ${erased} of ${escapeControls(path)} for good.`;
}
