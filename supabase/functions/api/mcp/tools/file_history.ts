import { z } from "zod";
import { MCP_HISTORY_DEFAULT, PAGE_LIMIT_MAX } from "../../limits.ts";
import { path, whole } from "../arguments.ts";
import { describeOrigin, describeProvenance, Lines, shortTime, shownPath } from "../text.ts";
import { counted } from "../../runtime/counted.ts";
import { defineTool } from "../tool.ts";

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
