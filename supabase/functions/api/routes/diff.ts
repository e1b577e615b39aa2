/** GET /diff/{path}: what changed between two versions. */
import { z } from "zod";
import { pick } from "../http/query.ts";
import { diffTexts, readSide } from "../files/diff.ts";
import { successInSlices } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import { defineRoute } from "./route.ts";
import { wholeNumber } from "./schemas.ts";

const query = z.object({
  from: wholeNumber(1).optional().meta({
    type: "integer",
    minimum: 1,
    description: "Default: the version before `to`.",
  }),
  to: wholeNumber(1).optional().meta({
    type: "integer",
    minimum: 1,
    description: "Default: the latest version.",
  }),
});

const answer = z.object({
  from: z.int().min(0).meta({ description: "0: nothing, before the first version." }),
  to: z.int().min(1),
  diff: z.string().meta({ description: "Unified; empty where nothing changed." }),
  additions: z.int().min(0),
  deletions: z.int().min(0),
}).meta({ id: "Diff" });

export const diff = defineRoute({
  method: "GET",
  pattern: "/diff/*",
  operation: "diff_file",
  credentials: "key",
  parse: ({ params, query: given }) => ({
    path: params.path,
    ...validate(query, pick(given, Object.keys(query.shape))),
  }),
  async handle(context, { path, from, to }) {
    const { gate, metadata } = context;
    const compared = gate.unwrap(await metadata.comparison(gate.caller, path, from, to));
    const [before, after] = await Promise.all([
      readSide(context, compared.before),
      readSide(context, compared.after),
    ]);
    const diff = await diffTexts(path, before, after);
    return await successInSlices(
      "diff_file",
      { from: compared.from, to: compared.to, ...diff },
      `${diff.additions} lines added, ${diff.deletions} removed.`,
    );
  },
  openapi: {
    id: "diffFile",
    summary: "What changed between two versions",
    query,
    answer,
    errors: [
      "INVALID_PATH",
      "VALIDATION_ERROR",
      "FILE_NOT_FOUND",
      "VERSION_NOT_FOUND",
      "NOT_TEXT",
      "DIFF_TOO_LARGE",
      "CONTENT_CORRUPT",
    ],
    example: {
      data: [{
        from: 2,
        to: 3,
        diff: "--- notes/plan.md\n+++ notes/plan.md\n@@ -1,1 +1,2 @@\n # Plan\n+- ship it\n",
        additions: 1,
        deletions: 0,
      }],
    },
  },
});
