/** `filestore git`: the history of a folder as a repository of git. */
import { counted } from "../../functions/api/runtime/counted.ts";
import { writeHistory } from "../git/history.ts";
import { type Command, directoryOf } from "./command.ts";
import { printJson, printLine, printNotice } from "./output.ts";

export const GIT: Command = {
  usage: "git <dir>",
  summary: "write the history of the files as a git repository, or go on with one",
  more:
    "Each commit of the service is a commit on the branch main, with its note, actor, run and cursor. Run it " +
    "again: it adds what is new. It requires git.",
  options: [["--directory <dir>", "only what is below this folder"]],
  examples: ["git history", "git notes-history --directory notes"],
  async run(context, folder = "") {
    const directory = directoryOf(context.text("directory") ?? "/");
    const written = await writeHistory(context.store, folder, directory);
    const { commits, leftOut } = written;
    if (leftOut.length > 0) {
      const others = leftOut.length > 20 ? ` and ${leftOut.length - 20} more` : "";
      printNotice(`Left out, since git refuses their names: ${leftOut.slice(0, 20).join(", ")}${others}.`);
    }
    if (context.isJson) return await printJson(written);
    await printLine(`${folder}: ${counted(commits, "new commit")}.`);
  },
};
