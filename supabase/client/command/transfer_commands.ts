/** Commands that take whole projects along, and those that erase for good. */
import { INTEGER_MAX, REDACT_VERSIONS_MAX } from "../../functions/api/contract/limits.ts";
import { counted } from "../../functions/api/runtime/counted.ts";
import { Failure } from "../failure.ts";
import { purgeFile, redactVersions } from "../transfer/erase.ts";
import { exportFiles } from "../transfer/export.ts";
import { importFiles } from "../transfer/import.ts";
import { type Command, directoryOf, UsageError } from "./command.ts";
import { answerTo } from "./input.ts";
import { printJson, printLine, printNotice } from "./output.ts";

const exporting: Command = {
  usage: "export <dir>",
  summary: "write the files into a folder of this machine, with a manifest",
  more:
    "`files/` has the files, and `manifest.jsonl` version, size, SHA-256, type, provenance and times of each. " +
    "Branches are left out. Run an export that was interrupted again: it continues where it stopped.",
  options: [
    ["--directory <dir>", "only what is below this folder"],
    ["--at <moment>", "as it was at a time, or at a cursor of the change feed"],
    ["--history", "every version, also of deleted files"],
  ],
  examples: ["export out", "export all --history"],
  async run(context, folder = "") {
    const directory = directoryOf(context.text("directory") ?? "/");
    const options = { directory, at: context.text("at"), hasHistory: context.flag("history") };
    const exported = await exportFiles(context.store.api, folder, options);
    const { files, versions, bytes, gone } = exported;
    if (context.isJson) return await printJson(exported);
    if (gone.length > 0) {
      const others = gone.length > 20 ? ` and ${gone.length - 20} more` : "";
      const named = `${gone.slice(0, 20).join(", ")}${others}`;
      printNotice(`Left out, since their versions of that time were erased: ${named}.`);
    }
    await printLine(
      `Exported ${files} files into ${folder}; ${versions} versions with ${bytes} bytes in this run.`,
    );
  },
};

const importing: Command = {
  usage: "import <dir>",
  summary: "write the files of an export, as new versions",
  more:
    "It changes nothing if a file is missing, has another SHA-256, or exists in the project. Run an import that " +
    "was interrupted again: it continues where it stopped.",
  options: [["--overwrite", "add versions to files that exist"]],
  examples: ["import out --overwrite"],
  async run(context, folder = "") {
    const imported = await importFiles(context.store.api, folder, { overwrites: context.flag("overwrite") });
    if (context.isJson) return await printJson(imported);
    const { files, versions, bytes, runId } = imported;
    await printLine(
      `Imported ${files} files; ${versions} versions with ${bytes} bytes now, as run ${runId}.`,
    );
  },
};

const purge: Command = {
  usage: "purge <path>",
  summary: "erase a file for good, with every version; needs the scope admin",
  more: "It asks for the path again, also for a file that is deleted already.",
  options: [["--confirm <path>", "the path again, instead of the question"]],
  examples: ["purge notes/secret.md --confirm notes/secret.md"],
  async run(context, path = "") {
    const confirm = context.text("confirm") ??
      await answerTo(`Erase ${path} for good, with every version? Type its path:`);
    if (confirm === null) throw new UsageError("Without a terminal, purge requires --confirm PATH.");
    if (confirm !== path) throw new Failure(`Nothing was erased: the confirmation is not the path ${path}.`);
    const purged = await purgeFile(context.store.api, path);
    if (context.isJson) return await printJson(purged);
    const { versions, bytes, pendingVersions } = purged;
    const rest = pendingVersions === 0
      ? ""
      : ` No version can be read; the sweep still has to remove ${pendingVersions} of them.`;
    await printLine(`Erased ${path} for good: ${versions} versions with ${bytes} bytes.${rest}`);
  },
};

const redact: Command = {
  usage: "redact <path>",
  summary: "erase the content of versions and their notes for good; needs the scope admin",
  more: "The numbers stay. The latest version cannot be redacted.",
  options: [
    ["--versions <list>", "the versions, such as 3,5-8"],
    ["--note <text>", "replaces their notes"],
  ],
  examples: ['redact notes/plan.md --versions 1-2 --note "a password"'],
  async run(context, path = "") {
    const versions = versionsOf(context.text("versions"));
    const redacted = await redactVersions(context.store.api, path, versions, context.text("note"));
    if (context.isJson) return await printJson(redacted);
    const { remaining } = redacted;
    if (remaining.length > 0) {
      const named = remaining.map((other) => `${other.path} version ${other.version}`).join(", ");
      printNotice(`These versions can still be read, and contain part of the erased content: ${named}.`);
    }
    const erased = counted(redacted.versions.length, "version");
    await printLine(`Erased the content of ${erased} of ${path} for good.`);
  },
};

/** The numbers of `1,4-6`, each once. Throws `UsageError`. */
function versionsOf(text: string | undefined): number[] {
  if (text === undefined) throw new UsageError("redact requires --versions N,N-N.");
  const found = new Set<number>();
  for (const part of text.split(",")) {
    const [first = "", last = first, ...rest] = part.trim().split("-");
    if (rest.length > 0) {
      throw new UsageError("--versions must be numbers or ranges, separated by commas, such as 3,5-8.");
    }
    const from = wholeNumber(first, "A version", 1);
    const to = wholeNumber(last, "The end of a range", from);
    for (let version = from; version <= to; version++) {
      if (found.add(version).size > REDACT_VERSIONS_MAX) {
        throw new UsageError(`--versions may name at most ${REDACT_VERSIONS_MAX} versions.`);
      }
    }
  }
  return [...found];
}

function wholeNumber(text: string, name: string, min: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= INTEGER_MAX) return value;
  throw new UsageError(`${name} must be a whole number from ${min} to ${INTEGER_MAX}.`);
}

export const TRANSFER_COMMANDS: readonly Command[] = [exporting, importing, purge, redact];
