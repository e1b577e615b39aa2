/** Branches: an agent works apart, and says when it is done. Merging is for people. */
import { z } from "zod";
import { branchName } from "../../contract/branches.ts";
import { changeBranch, createWholeBranch, readBranch } from "../../files/branches.ts";
import { BRANCH_NAME_LENGTH_MAX, BRANCH_TITLE_LENGTH_MAX, MCP_BRANCH_CHANGES_MAX } from "../../limits.ts";
import { counted } from "../../runtime/counted.ts";
import { folder, plainText } from "../arguments.ts";
import { Lines, shownPath } from "../text.ts";
import { defineTool } from "../tool.ts";

/** Room for the last line of a result. */
const RESERVED_LENGTH = 100;

const NAME =
  `1 to ${BRANCH_NAME_LENGTH_MAX} letters, digits, dots, underscores and hyphens; not first a dot.`;
const name = branchName.meta({ description: `The branch's name: ${NAME}` });
const title = plainText(
  "What the branch is about, in one line, for the person who looks at it.",
  BRANCH_TITLE_LENGTH_MAX,
)
  .optional();

export const createBranch = defineTool({
  name: "create_branch",
  title: "Create a branch",
  description:
    "Copies a folder to a branch, .branches/{name}/, to work apart: nothing there counts until a person merges it. Use " +
    "it for a change that someone should see first, or to try something. Read and write the paths below it with the other " +
    "tools; then call finish_branch.",
  scopes: ["write"],
  // A key that is confined to a folder could create a branch, but not work in it.
  mayUse: (pathPrefix) => pathPrefix === null,
  effect: "adds",
  input: z.object({ name, path: folder("The folder to copy; empty for all files."), title }),
  async run(context, { path: directory, ...fields }) {
    context.onEnd(await context.beginCostly());
    const { path, fileCount } = await createWholeBranch(context, { ...fields, directory });
    const of = directory === "" ? "all files" : shownPath(directory);
    return `Copied ${counted(fileCount, "file")} of ${of} to ${
      shownPath(path)
    }/. Work there, then call finish_branch.`;
  },
});

export const finishBranch = defineTool({
  name: "finish_branch",
  title: "Finish a branch",
  description:
    "Marks a branch as ready for a person to look at and merge, and shows what has changed in it. You may go on changing " +
    "it, and call this again.",
  scopes: ["read", "write"],
  // A key of a folder in a branch is not one of the branch.
  mayUse: (pathPrefix) => pathPrefix === null || /^\.branches\/[^/]+$/.test(pathPrefix),
  effect: "adds",
  input: z.object({ name, title }),
  async run(context, { name, title }) {
    context.onEnd(await context.beginCostly());
    // Read first: where that fails, the branch is as before.
    const { changes, counts, path } = await readBranch(context, name, MCP_BRANCH_CHANGES_MAX);
    await changeBranch(context, name, { state: "ready", title });
    const { added, modified, deleted, conflicts } = counts;
    const total = `${added} added, ${modified} modified, ${deleted} deleted`;
    const also = conflicts === 0
      ? ""
      : ` ${counted(conflicts, "file")} changed in its folder, too: a conflict.`;
    const lines = new Lines(RESERVED_LENGTH);
    lines.add(`The branch ${name} is ready: ${total}.${also}`);
    const left = lines.addAll(changes.map((one) => `${one.change} ${shownPath(`${path}/${one.path}`)}`));
    const notShown = added + modified + deleted - changes.length + left;
    return `${lines}${notShown === 0 ? "" : `\n… and ${counted(notShown, "other change")}.`}`;
  },
});
