/** GET /diff/{path}: the changes between two versions, or the differences between two files. */
import { z } from "zod";
import { checkPath } from "../http/path.ts";
import { diffSides } from "../files/diff.ts";
import { successInSlices } from "../http/respond.ts";
import { validateQuery } from "../http/validate.ts";
import { WORK_UNITS_PER_REQUEST } from "../limits.ts";
import { Work } from "../runtime/work.ts";
import { defineRoute } from "../route.ts";
import { UNREADABLE } from "./read.ts";
import { wholeNumber } from "./schemas.ts";

const query = z.object({
  from: wholeNumber(0).optional().meta({
    description: "Default: the version before `to`. 0: the empty file before the first version.",
  }),
  to: wholeNumber(1).optional().meta({ description: "Default: the latest version." }),
  toPath: z.string().optional().meta({
    description:
      "Another file to compare with: `from` is a version of `path`, and `to` a version of this file. By default both are the latest.",
  }),
});

export const diff = defineRoute({
  operation: "diff_file",
  allows: { read: "compare versions" },
  parse({ params, query: given }) {
    const versions = validateQuery(query, given);
    if (versions.toPath !== undefined) checkPath(versions.toPath);
    return { path: params.path, ...versions };
  },
  async handle(context, { path, from, to, toPath }) {
    const { gate, metadata } = context;
    context.onEnd(await context.beginCostly());
    const compared = gate.unwrap(
      toPath === undefined
        ? await metadata.comparison(gate.caller, path, from, to)
        : await metadata.comparisonOfFiles(gate.caller, path, toPath, from, to),
    );
    const work = new Work();
    const diff = await diffSides(context, path, compared, work, toPath);
    gate.addWork(work.units / WORK_UNITS_PER_REQUEST);
    return await successInSlices(
      "diff_file",
      { from: compared.from, to: compared.to, ...diff },
      `${diff.additions} lines added, ${diff.deletions} removed.`,
    );
  },
  openapi: {
    summary: "Show what changed between two versions, or what differs between two files",
    query,
    answer: "diffRecord",
    errors: [...UNREADABLE, "NOT_TEXT", "DIFF_TOO_LARGE"],
  },
});
