import { z } from "zod";
import { commit } from "../../files/commit.ts";
import { commitBasis } from "../../files/commit_request.ts";
import { ApiError } from "../../errors.ts";
import { path, whole } from "../arguments.ts";
import { alreadyRefusal, isMiss, latestContent, versionRefusal } from "../misses.ts";
import { defineTool } from "../tool.ts";

export const deleteFile = defineTool({
  name: "delete_file",
  title: "Delete a file",
  description:
    "Deletes a file. Its versions stay: file_history shows them, and restore_file brings one back. A folder is gone " +
    "when its last file is.",
  scopes: ["write"],
  effect: "replaces",
  input: z.object({
    path: path(),
    expected_version: whole("Delete only where this is the latest version.", 1).optional(),
  }),
  async run(context, { path, expected_version: expected }) {
    try {
      const basis = await commitBasis({ path, idempotencyKey: undefined, ifVersion: expected }, "delete", {});
      const { file } = await commit(context, { kind: "delete", ...basis });
      return `Deleted ${path}: version ${file.version} marks that. restore_file with version=${
        file.version - 1
      } ` +
        "brings it back.";
    } catch (error) {
      const deletedVersion = error instanceof ApiError ? error.details?.["deletedVersion"] : undefined;
      if (typeof deletedVersion === "number") {
        throw alreadyRefusal(
          "FILE_NOT_FOUND",
          `${path} is deleted already: version ${deletedVersion} marks that`,
        );
      }
      if (expected === undefined || !isMiss(error)) throw error;
      const latest = await latestContent(context, path);
      const advice = "Delete it if that is still right.";
      throw await versionRefusal(context, latest, { path, expected, details: error.details, advice });
    }
  },
});
