/** Commands about branches. */
import { counted } from "../../functions/api/runtime/counted.ts";
import type { Branch, BranchDetails } from "../library/records.ts";
import { type Command, type Context, type Group, oneOf, PROVENANCE, whole } from "./command.ts";
import { printJson, printLine } from "./output.ts";

const BRANCH: Group = { name: "branch", summary: "work apart from a folder, in a copy of it" };

const create: Command = {
  usage: "create <name>",
  group: BRANCH,
  summary: "copy a folder to .branches/NAME, to be merged or closed later",
  more: "It copies no bytes. The name is never used again.",
  options: [
    ["--directory <dir>", "the folder (default: the root)"],
    ["--title <text>", "what the branch is for"],
    ["--at <moment>", "the folder as it was at a time, or at a cursor of the change feed"],
    ["--expires-in <seconds>", "when the branch is closed", whole(1)],
    ...PROVENANCE.filter(([flags]) => !flags.startsWith("--note")),
  ],
  examples: ['branch create shorter --directory notes --title "A shorter plan"'],
  async run(context, name = "") {
    await report(
      context,
      await context.store.branches.create(name, {
        directory: context.text("directory"),
        title: context.text("title"),
        at: context.text("at"),
        expiresIn: context.number("expiresIn"),
      }),
    );
  },
};

const list: Command = {
  usage: "list",
  group: BRANCH,
  summary: "list the branches, the newest first",
  options: [["--state <state>", "only those", oneOf(["open", "ready", "merged", "closed"])]],
  examples: ["branch list", "branch list --state ready"],
  async run(context) {
    const wanted = context.text("state");
    const states = (["open", "ready", "merged", "closed"] as const).filter((state) => state === wanted);
    for await (const branch of context.store.branches.list({ state: states[0] })) {
      await report(context, branch);
    }
  },
};

const show: Command = {
  usage: "show <name>",
  group: BRANCH,
  summary: "print what has changed in a branch, and what a merge would leave as a conflict",
  examples: ["branch show shorter"],
  async run(context, name = "") {
    let after: string | undefined;
    for (;;) {
      const page: BranchDetails = await context.store.branches.get(
        name,
        after === undefined ? {} : { after },
      );
      if (after === undefined && !context.isJson) await report(context, page);
      if (context.isJson) await printJson(page);
      else for (const change of page.changes) await printLine(lineOf(change));
      after = page.changes.at(-1)?.path;
      if (!page.hasMore || after === undefined) return;
    }
  },
};

function lineOf({ path, change, conflict }: BranchDetails["changes"][number]): string {
  return `${change} ${path}${conflict === true ? "  conflict" : ""}`;
}

const merge: Command = {
  usage: "merge <name>",
  group: BRANCH,
  summary: "merge a branch into its folder, or with --dry-run print what would be merged",
  more:
    "Where both have changed the same lines, nothing is merged, and the status is 3, unless --on-conflict takes " +
    "a side. The merge is one run, which can be undone.",
  options: [
    ["--dry-run", "only print the plan"],
    [
      "--on-conflict <side>",
      "take the branch, or the current state of its folder",
      oneOf(["branch", "current"]),
    ],
    ["--keep", "keep the files of the branch"],
    ...PROVENANCE,
  ],
  examples: ["branch merge shorter --dry-run", "branch merge shorter"],
  async run(context, name = "") {
    const side = context.text("onConflict");
    const result = await context.store.branches.merge(name, {
      dryRun: context.flag("dryRun"),
      onConflict: side === "branch" || side === "current" ? side : "refuse",
      keep: context.flag("keep"),
      note: context.text("note"),
    });
    if (context.isJson) return await printJson(result);
    for (const { path, action } of result.actions) await printLine(`${action} ${path}`);
    for (const { path, kind } of result.conflicts) await printLine(`conflict ${path}: ${kind}`);
  },
};

const close: Command = {
  usage: "close <name>",
  group: BRANCH,
  summary: "end a branch without merging it; its files are deleted",
  options: [["--note <text>", "why"]],
  examples: ["branch close longer"],
  async run(context, name = "") {
    await report(context, await context.store.branches.close(name, { note: context.text("note") }));
  },
};

async function report(context: Context, branch: Branch): Promise<void> {
  const { name, state, directory, fileCount, title } = branch;
  const parts = [name, state, `of ${directory === "" ? "/" : directory}`, counted(fileCount, "file")];
  if (title !== null) parts.push(title);
  await (context.isJson ? printJson(branch) : printLine(parts.join("  ")));
}

export const BRANCH_COMMANDS: readonly Command[] = [create, list, show, merge, close];
