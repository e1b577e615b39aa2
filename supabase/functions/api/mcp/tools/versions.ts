import { z } from "zod";
import { commit, commitBasis } from "../../files/commit.ts";
import { diffSides } from "../../files/diff.ts";
import { MCP_HISTORY_DEFAULT, PAGE_LIMIT_MAX, WORK_UNITS_PER_REQUEST } from "../../limits.ts";
import { counted } from "../../runtime/counted.ts";
import { Work } from "../../runtime/work.ts";
import { path, whole } from "../arguments.ts";
import { describeOrigin, describeProvenance, fitLines, Lines, shortTime, shownPath } from "../text.ts";
import { defineTool } from "../tool.ts";
import { versionWithContentOf } from "../version_conflicts.ts";

export const fileHistory = defineTool({
  name: "file_history",
  title: "Versions of a file",
  description:
    "Lists the versions of a file, even a deleted one, newest first, with the operation that added each and its " +
    "author. read_file with version shows one of them, diff_versions compares two, and restore_file restores one.",
  scopes: ["read"],
  effect: "reads",
  input: z.object({
    path: path(),
    limit: whole("How many versions to show.", 1, PAGE_LIMIT_MAX).default(MCP_HISTORY_DEFAULT),
  }),
  async run({ gate, metadata }, { path, limit }) {
    const { versions, total } = gate.unwrap(await metadata.versions(gate.caller, path, limit, 0));
    const name = shownPath(path);
    const lines = new Lines(name.length + 200);
    lines.addAll(versions.map((
      { version, size, updatedAt, deleted, operation, from, ...provenance },
      index,
    ) => {
      const what = deleted ? "deleted" : counted(size, "byte");
      const how = operation === "delete" ? "" : `, ${operation}`;
      const origin = describeOrigin(from, path) + describeProvenance(provenance);
      const latest = index === 0 ? " (latest)" : "";
      return `version ${version}: ${what}, ${shortTime(updatedAt)}${how}${origin}${latest}`;
    }));
    const more = total - lines.count;
    const advice = limit < PAGE_LIMIT_MAX
      ? `raise limit (up to ${PAGE_LIMIT_MAX})`
      : "read_file with version shows any of them";
    const rest = more === 0 ? "" : `\n${counted(more, "older version")}: ${advice}`;
    return `${name} — ${counted(total, "version")}\n${lines}${rest}`;
  },
});

export const diffVersions = defineTool({
  name: "diff_versions",
  title: "Compare versions of a file",
  description:
    "Shows what changed between two versions of a text file, as a unified diff. Without from and to, it shows what the " +
    "latest version changed. file_history lists the versions.",
  scopes: ["read"],
  effect: "reads",
  input: z.object({
    path: path(),
    from: whole("The older version; by default the version before to.", 1).optional(),
    to: whole("The newer version; by default the latest.", 1).optional(),
  }),
  async run(context, { path, from, to }) {
    const { gate, metadata } = context;
    context.onEnd(await context.beginCostly());
    const compared = gate.unwrap(await metadata.comparison(gate.caller, path, from, to));
    const work = new Work();
    const { diff, additions, deletions } = await diffSides(context, path, compared, work);
    gate.addWork(work.units / WORK_UNITS_PER_REQUEST);
    const title = `${shownPath(path)}: version ${compared.from} to ${compared.to}`;
    if (diff === "") return `${title}: the content is the same.`;
    const counts = `${counted(additions, "line")} added, ${deletions} removed`;
    const advice = `read_file with version=${compared.to} shows all of it`;
    return `${title}: ${counts}\n${fitLines(diff, advice, title.length + 100)}`;
  },
});

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
