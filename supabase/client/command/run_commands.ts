/** Commands about runs and links. */
import { counted } from "../../functions/api/runtime/counted.ts";
import { type Command, PROVENANCE, whole } from "./command.ts";
import { printJson, printLine } from "./output.ts";

const runs: Command = {
  usage: "runs [run]",
  summary: "list the runs, the newest first, or the files of one",
  examples: ["runs", "runs night-1"],
  async run(context, run) {
    if (run === undefined) {
      for await (const one of context.store.runs.list()) {
        if (context.isJson) await printJson(one);
        else {
          await printLine(
            [one.runId, counted(one.fileCount, "file"), counted(one.versionCount, "version"), one.lastAt]
              .join("  "),
          );
        }
      }
      return;
    }
    let after: string | undefined;
    for (;;) {
      const page = await context.store.runs.get(run, after === undefined ? {} : { after });
      for (const file of page.files) {
        if (context.isJson) await printJson(file);
        else {
          const { path, firstVersion, lastVersion, operation } = file;
          await printLine(`${path}  versions ${firstVersion} to ${lastVersion}  ${operation}`);
        }
      }
      after = page.files.at(-1)?.fileId;
      if (!page.hasMore || after === undefined) return;
    }
  },
};

const undo: Command = {
  usage: "undo <run>",
  summary: "print what undoing a run would do, or with --apply do it",
  options: [["--apply", "undo the run"], ...PROVENANCE],
  examples: ["undo night-1", "undo night-1 --apply"],
  async run(context, run = "") {
    const isApplied = context.flag("apply");
    const { note } = context.writeOptions;
    const result = await context.store.runs.undo(run, { dryRun: !isApplied, note });
    if (context.isJson) return await printJson(result);
    for (const { path, action, to } of result.actions) {
      await printLine(action === "delete" ? `delete ${path}` : `restore ${path} to version ${to}`);
    }
    for (const path of result.unchanged) await printLine(`unchanged ${path}`);
    for (const { path, version } of result.conflicts) await printLine(`conflict ${path}: version ${version}`);
  },
};

const link: Command = {
  usage: "link <path>",
  summary: "print an address that reads a file, or with --write writes it once, without a key",
  options: [
    ["--write", "an address that writes the file once"],
    ["--expires-in <seconds>", "how long it works (default: an hour)", whole(1)],
  ],
  examples: ["link notes/plan.md", "link in/data.csv --write --expires-in 600"],
  async run(context, path = "") {
    const purpose = context.flag("write") ? "write" : "read";
    const created = await context.store.links.create(path, {
      for: purpose,
      expiresIn: context.number("expiresIn"),
    });
    await (context.isJson ? printJson(created) : printLine(created.url));
  },
};

export const RUN_COMMANDS: readonly Command[] = [runs, undo, link];
