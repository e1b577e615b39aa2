import { z } from "zod";
import type { Context } from "../../context.ts";
import { ApiError, fail } from "../../errors.ts";
import { commit, commitBasis } from "../../files/commit.ts";
import { flag, path } from "../arguments.ts";
import { alreadyAppliedRefusal, sameContent } from "../version_conflicts.ts";
import { shownPath } from "../text.ts";
import { defineTool } from "../tool.ts";

export const moveFile = defineTool({
  name: "move_file",
  title: "Move a file",
  description:
    "Moves or renames a file. Its earlier versions stay with the old path: file_history shows them there.",
  scopes: ["write"],
  effect: "replaces",
  input: z.object({
    path: path(),
    destination: path("The full new path, including the file's name."),
    overwrite: flag("Whether to replace a file that exists at the destination."),
  }),
  async run(context, { path, destination, overwrite }) {
    if (destination === path) fail("VALIDATION_ERROR", "destination must differ from path");
    try {
      const basis = await commitBasis({ path, idempotencyKey: undefined }, "move", {
        destination,
        overwrite,
      });
      const { file } = await commit(context, {
        kind: "move",
        ...basis,
        destination,
        overwrite,
      });
      return `Moved ${shownPath(path)} to ${shownPath(destination)}: version ${file.version} there.`;
    } catch (error) {
      const deletedVersion = error instanceof ApiError ? error.details?.["deletedVersion"] : undefined;
      if (typeof deletedVersion !== "number") throw error;
      const version = await versionMoved(context, path, deletedVersion - 1, destination);
      if (version === undefined) throw error;
      const where = `version ${version} of ${shownPath(destination)}`;
      const what = `${shownPath(path)} was moved already: its content is ${where}`;
      throw alreadyAppliedRefusal("FILE_NOT_FOUND", what);
    }
  },
});

/** The latest version at the destination, if it has the content that the source had last. */
async function versionMoved(
  context: Context,
  path: string,
  version: number,
  destination: string,
): Promise<number | undefined> {
  const { gate, metadata } = context;
  if (!gate.grant?.scopes.includes("read")) return undefined;
  const moved = gate.observe(await metadata.content(gate.caller, destination));
  const last = gate.observe(await metadata.content(gate.caller, path, version));
  return moved.ok && last.ok && sameContent(moved.value, last.value) ? moved.value.file.version : undefined;
}
