/** `deno task files`: takes the files of a project along, and brings them into another one, over the public API. */
import { normalizeDirectory } from "../../functions/api/http/path.ts";
import { exportFiles } from "../transfer/export.ts";
import type { FileApi } from "../transfer/file_api.ts";
import { importFiles } from "../transfer/import.ts";
import { messageOf } from "../startup_error.ts";
import { escapeControls, parseCommand, printLine, printNotice, run, UsageError } from "./command_line.ts";
import { connectToFiles, FILES_OPTIONS, FILES_USAGE } from "./connection.ts";

const USAGE = `deno task files COMMAND

  export DIR [--directory D] [--at T] [--history]
      writes the files into the folder DIR: \`files/\`, and \`manifest.jsonl\` with version, size, SHA-256, type,
      provenance and times of each. --directory: only what is below D. --at: as they were at a time or a cursor of
      the change feed. --history: every version, those of deleted files, too
  import DIR [--overwrite]
      writes what DIR holds into the project, as new versions. Nothing is changed where a file is missing or has
      another sum, or exists in the project; --overwrite makes new versions of those that exist

  Both go on after a break when they are run again.
${FILES_USAGE}`;

const OPTIONS = {
  ...FILES_OPTIONS,
  directory: { type: "string" },
  at: { type: "string" },
  history: { type: "boolean" },
  overwrite: { type: "boolean" },
} as const;

type Values = ReturnType<typeof parse>["values"];

await run(async () => {
  const { values, positionals } = parse(Deno.args);
  if (values.help) return printLine(`Usage: ${USAGE}`);
  const command = parseAction(positionals, values);
  printLine(await command(await connectToFiles(values)));
});

function parse(args: readonly string[]) {
  return parseCommand(args, OPTIONS, USAGE);
}

/** Validates the command before the project is contacted. Throws `UsageError`. */
function parseAction([command, folder, ...others]: readonly string[], values: Values) {
  if (command !== "export" && command !== "import") {
    throw new UsageError(command === undefined ? "A command is missing." : "Unknown command.", USAGE);
  }
  if (folder === undefined || others.length > 0) throw new UsageError("One folder is to be named.", USAGE);
  const ofOther = command === "import"
    ? (["directory", "at", "history"] as const).find((name) => values[name] !== undefined)
    : values.overwrite
    ? "overwrite"
    : undefined;
  if (ofOther !== undefined) throw new UsageError(`--${ofOther} has no meaning for ${command}.`, USAGE);
  if (command === "import") return (api: FileApi) => bringIn(api, folder, values);
  const directory = directoryOf(values.directory ?? "/");
  return (api: FileApi) => takeOut(api, folder, directory, values);
}

function directoryOf(text: string): string {
  try {
    return normalizeDirectory(text);
  } catch (error) {
    throw new UsageError(`--directory: ${messageOf(error)}`, USAGE);
  }
}

async function takeOut(api: FileApi, folder: string, directory: string, values: Values): Promise<string> {
  const hasHistory = values.history ?? false;
  const exported = await exportFiles(api, folder, { directory, at: values.at, hasHistory });
  const { files, versions, bytes, gone } = exported;
  if (gone.length > 0 && !values.json) {
    printNotice(escapeControls(
      `Left out, since their version of that time is gone: ${gone.slice(0, 20).join(", ")}${
        gone.length > 20 ? ` and ${gone.length - 20} more` : ""
      }.`,
    ));
  }
  if (values.json) return JSON.stringify(exported);
  return `Exported ${files} files into ${folder}; ${versions} versions with ${bytes} bytes in this go.`;
}

async function bringIn(api: FileApi, folder: string, values: Values): Promise<string> {
  const imported = await importFiles(api, folder, { overwrites: values.overwrite ?? false });
  if (values.json) return JSON.stringify(imported);
  const { files, versions, bytes, runId } = imported;
  return `Imported ${files} files; ${versions} versions with ${bytes} bytes in this go, as run ${runId}.`;
}
