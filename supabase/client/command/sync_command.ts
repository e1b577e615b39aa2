/** `filestore sync`: keeps a folder of this machine and the files equal. */
import { resolve } from "node:path";
import process from "node:process";
import { counted } from "../../functions/api/runtime/counted.ts";
import type { Mode } from "../sync/plan.ts";
import type { Action } from "../sync/pass.ts";
import { Sync } from "../sync/sync.ts";
import { type Command, ConflictError, type Context, directoryOf, PROVENANCE, UsageError } from "./command.ts";
import { printJson, printLine, printNotice } from "./output.ts";

export const SYNC: Command = {
  usage: "sync <dir>",
  summary: "keep a folder of this machine and the files equal, in both ways",
  more:
    "Where both sides have changed, texts are merged by lines. What cannot be merged is a conflict: the service's " +
    "version stays at the path, and yours is kept beside it. .filestore/ in the folder remembers what was last equal.",
  options: [
    ["--directory <dir>", "only what is below this folder"],
    ["--pull", "only fetch"],
    ["--push", "only send"],
    ["--watch", "go on, as both sides change"],
    ["--once-ready", "print a line when the first pass is whole"],
    ["--dry-run", "only print what would be done"],
    ["--force", "delete more than half of the files, if so many are missing"],
    ...PROVENANCE.filter(([flags]) => !flags.startsWith("--note")),
  ],
  examples: ["sync notes --directory notes", "sync . --pull --dry-run"],
  async run(context, folder = "") {
    const mode = modeOf(context);
    const directory = directoryOf(context.text("directory") ?? "/");
    const sync = new Sync(context.store, resolve(folder), directory, {
      mode,
      force: context.flag("force"),
      dryRun: context.flag("dryRun"),
      report: reporter(context.isJson),
    });
    // A pass may end at any moment, so the signal need not wait for it.
    const end = () => {
      sync.end();
      process.exit(0);
    };
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, end);
    const ready = async () => {
      if (context.flag("onceReady")) await printLine("ready");
    };
    try {
      if (context.flag("watch")) return await sync.follow(new AbortController().signal, ready);
      const left = await sync.once();
      await ready();
      if (left > 0) {
        const where = mode === "push"
          ? "the lines above name them"
          : `see ${folder}/.filestore/conflicts.jsonl`;
        throw new ConflictError(`${counted(left, "conflict")} left; ${where}.`);
      }
    } finally {
      sync.end();
      for (const signal of ["SIGTERM", "SIGINT"] as const) process.off(signal, end);
    }
  },
};

function modeOf(context: Context): Mode {
  const [pull, push] = [context.flag("pull"), context.flag("push")];
  if (pull && push) throw new UsageError("--pull and --push exclude each other.");
  return pull ? "pull" : push ? "push" : "both";
}

/** What is left out is said once. */
function reporter(isJson: boolean): (action: Action) => Promise<void> {
  const said = new Set<string>();
  return async ({ action, path, version, reason }) => {
    if (action === "skip") {
      if (said.has(path)) return;
      said.add(path);
      if (!isJson) return printNotice(`Left out: ${path} (${reason}).`);
    }
    if (isJson) await printJson({ action, path, version });
    else await printLine(`${action} ${path}${reason === undefined ? "" : `: ${reason}`}`);
  };
}
