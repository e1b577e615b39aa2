import { z } from "zod";
import { commit, commitBasis } from "../../files/commit.ts";
import { path, whole } from "../arguments.ts";
import { versionWithContentOf } from "../version_conflicts.ts";
import { shownPath } from "../text.ts";
import { counted } from "../../runtime/counted.ts";
import { defineTool } from "../tool.ts";

export const restoreFile = defineTool({
  name: "restore_file",
  title: "Restore a version",
  description:
    "Makes the content of an earlier version the latest: adds a new version with that content, even to a deleted file. " +
    "No version is lost. file_history lists the versions.",
  scopes: ["write"],
  effect: "replaces",
  input: z.object({
    path: path(),
    version: whole("The version whose content to restore.", 1),
  }),
  async run(context, { path, version }) {
    // A repeated call adds no other version.
    const latest = await versionWithContentOf(context, path, path, version);
    if (latest !== undefined) {
      return `${shownPath(path)} has the content of version ${version} already, as version ${latest}. ` +
        "Nothing was done.";
    }
    const basis = await commitBasis({ path, idempotencyKey: undefined }, "restore", { version });
    const { file } = await commit(context, { kind: "restore", ...basis, version });
    return `Restored ${shownPath(path)}: version ${file.version} has the content of version ${version}, ` +
      `${counted(file.size, "byte")}.`;
  },
});
