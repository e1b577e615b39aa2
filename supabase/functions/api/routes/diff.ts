/** GET /diff/{path}: what changed between two versions. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { pick } from "../http/query.ts";
import { diffTexts, textOf } from "../files/diff.ts";
import { filePath } from "../http/request_path.ts";
import { success } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import type { Route } from "./route.ts";
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

async function handle(context: Context): Promise<Response> {
  const { gate, metadata } = context;
  const { path, from, to } = await gate.check(() => ({
    path: filePath(context, "/diff/"),
    ...validate(query, pick(context.query, Object.keys(query.shape))),
  }));
  const compared = gate.take(await metadata.comparison(gate.caller, path, from, to));
  const [before, after] = await Promise.all([
    textOf(context, compared.before),
    textOf(context, compared.after),
  ]);
  const diff = await diffTexts(path, before, after);
  return success(
    "diff_file",
    { from: compared.from, to: compared.to, ...diff },
    `${diff.additions} lines added, ${diff.deletions} removed.`,
  );
}

export const diff: Route = {
  method: "GET",
  pattern: "/diff/*",
  operation: "diff_file",
  needsKey: true,
  handle,
  document: {
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
  },
};
