import { z } from "zod";
import type { Context } from "../../context.ts";
import { commit, commitBasis } from "../../files/commit.ts";
import { path, whole } from "../arguments.ts";
import { sameContent } from "../version_conflicts.ts";
import { counted, shownPath } from "../text.ts";
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
    const latest = await versionWithContent(context, path, version);
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

/** The latest version, if it already has the content of `version`: a repeated call adds no other. */
async function versionWithContent(
  { gate, metadata }: Context,
  path: string,
  version: number,
): Promise<number | undefined> {
  if (!gate.grant) await gate.authorize();
  if (!gate.grant?.scopes.includes("read")) return undefined;
  const latest = gate.observe(await metadata.content(gate.caller, path));
  if (!latest.ok) return undefined;
  const wanted = gate.observe(await metadata.content(gate.caller, path, version));
  return wanted.ok && sameContent(latest.value, wanted.value) ? latest.value.file.version : undefined;
}
