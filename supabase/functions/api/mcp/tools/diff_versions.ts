import { z } from "zod";
import { diffSides } from "../../files/diff.ts";
import { WORK_UNITS_PER_REQUEST } from "../../limits.ts";
import { Work } from "../../runtime/work.ts";
import { path, whole } from "../arguments.ts";
import { fitLines, shownPath } from "../text.ts";
import { counted } from "../../runtime/counted.ts";
import { defineTool } from "../tool.ts";

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
