import { z } from "zod";
import { ApiError, fail } from "../../errors.ts";
import { commit, commitBasis } from "../../files/commit.ts";
import { flag, path } from "../arguments.ts";
import { alreadyAppliedRefusal, versionWithContentOf } from "../version_conflicts.ts";
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
      const to = { destination, overwrite };
      const basis = await commitBasis({ path, idempotencyKey: undefined }, "move", to);
      const { file } = await commit(context, { kind: "move", ...basis, ...to });
      return `Moved ${shownPath(path)} to ${shownPath(destination)}: version ${file.version} there.`;
    } catch (error) {
      const deletedVersion = error instanceof ApiError ? error.details?.["deletedVersion"] : undefined;
      if (typeof deletedVersion !== "number") throw error;
      const version = await versionWithContentOf(context, destination, path, deletedVersion - 1);
      if (version === undefined) throw error;
      const where = `version ${version} of ${shownPath(destination)}`;
      const what = `${shownPath(path)} was moved already: its content is ${where}`;
      throw alreadyAppliedRefusal("FILE_NOT_FOUND", what);
    }
  },
});
