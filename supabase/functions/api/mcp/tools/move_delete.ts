import { z } from "zod";
import type { Context } from "../../context.ts";
import { ApiError, fail } from "../../errors.ts";
import { commit, commitBasis } from "../../files/commit.ts";
import { commitMany } from "../../files/commit_many.ts";
import { byPath } from "../../ports/files.ts";
import { counted } from "../../runtime/counted.ts";
import { flag, path, whole } from "../arguments.ts";
import { ToolRefusal } from "../failures.ts";
import { Lines, shownPath } from "../text.ts";
import { defineTool } from "../tool.ts";
import {
  alreadyAppliedRefusal,
  contentAt,
  isVersionConflict,
  versionRefusal,
  versionWithContentOf,
} from "../version_conflicts.ts";

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
      const deletedVersion = deletedVersionOf(error);
      if (deletedVersion === undefined) throw error;
      const version = await versionWithContentOf(context, destination, path, deletedVersion - 1);
      if (version === undefined) throw error;
      const where = `version ${version} of ${shownPath(destination)}`;
      const what = `${shownPath(path)} was moved already: its content is ${where}`;
      throw alreadyAppliedRefusal("FILE_NOT_FOUND", what);
    }
  },
});

export const deleteFile = defineTool({
  name: "delete_file",
  title: "Delete a file",
  description:
    "Deletes a file, or with recursive=true every file in a folder. The versions stay readable: file_history shows them, and " +
    "restore_file restores one. A folder disappears with its last file.",
  scopes: ["write"],
  effect: "replaces",
  input: z.object({
    path: path(),
    recursive: flag("Whether to delete a folder: every file below path."),
    expected_version: whole("Delete only if this is the latest version of the file.", 1).optional(),
  }),
  async run(context, { path, recursive, expected_version: expected }) {
    if (recursive && expected !== undefined) {
      fail("VALIDATION_ERROR", "expected_version applies to one file; do not combine it with recursive=true");
    }
    return recursive ? await deleteFolder(context, path) : await deleteOne(context, path, expected);
  },
});

async function deleteOne(context: Context, path: string, expected: number | undefined): Promise<string> {
  try {
    const basis = await commitBasis({ path, idempotencyKey: undefined, ifVersion: expected }, "delete", {});
    const { file } = await commit(context, { kind: "delete", ...basis });
    return `Deleted ${shownPath(path)}; version ${file.version} records the deletion. ` +
      `restore_file with version=${file.version - 1} restores it.`;
  } catch (error) {
    const deletedVersion = deletedVersionOf(error);
    const isMissing = error instanceof ApiError && error.code === "FILE_NOT_FOUND";
    const below = isMissing ? await filesBelow(context, path) : "";
    if (below !== "") {
      const is = `${shownPath(path)} is a folder of ${below}.`;
      throw new ToolRefusal("FILE_NOT_FOUND", `${is} Send recursive=true to delete all of them.`);
    }
    if (deletedVersion !== undefined) {
      const what = `${shownPath(path)} is already deleted: version ${deletedVersion} records the deletion`;
      throw alreadyAppliedRefusal("FILE_NOT_FOUND", what);
    }
    if (expected === undefined || !isVersionConflict(error)) throw error;
    const latest = await contentAt(context, path);
    const advice = "Delete it if that is still right.";
    throw await versionRefusal(context, latest, { path, expected, details: error.details, advice });
  }
}

/** Deletes the files of a folder. Where it has none, the path is taken for that of a file. */
async function deleteFolder(context: Context, path: string): Promise<string> {
  try {
    const name = shownPath(path);
    const { value } = await commitMany(context, undefined, { kind: "delete_folder", path });
    const lines = new Lines(name.length + 300);
    const left = lines.addAll(value.files.map((file) => `${shownPath(file.path)} — version ${file.version}`));
    const more = left === 0 ? "" : `\n… and ${counted(left, "more file")}`;
    return `Deleted the ${counted(value.count, "file")} of ${name}. Each line shows the version that ` +
      `records the deletion. To restore a file, call restore_file with the version before it.\n${lines}${more}`;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "FILE_NOT_FOUND") throw error;
    return await deleteOne(context, path, undefined);
  }
}

/** The number of files in a folder, as text; empty where it has none, or the key may not read. */
async function filesBelow({ gate, metadata }: Context, directory: string): Promise<string> {
  if (!gate.grant?.scopes.includes("read")) return "";
  const page = { directory, recursive: true, limit: 1 };
  const { total, totalIsExact } = gate.unwrap(await metadata.list(gate.caller, byPath(page)));
  if (!total) return "";
  return `${totalIsExact === false ? "more than " : ""}${counted(total, "file")}`;
}

/** The tombstone of the file that a refused request did not find, if it was deleted. */
function deletedVersionOf(error: unknown): number | undefined {
  const version = error instanceof ApiError ? error.details?.["deletedVersion"] : undefined;
  return typeof version === "number" ? version : undefined;
}
