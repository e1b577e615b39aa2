/** GET /runs and GET /runs/{runId}: the changes of clients under one `X-Run-Id`. */
import { z } from "zod";
import { runDetails, runPage } from "../contract/runs.ts";
import { cursor } from "../contract/values.ts";
import { parseRunId } from "../http/provenance.ts";
import { validateQuery } from "../http/validate.ts";
import { RUN_FILES_MAX, RUN_FILES_PER_REQUEST } from "../limits.ts";
import { defineRoute } from "../route.ts";
import { pageLimit, wholeNumber } from "./schemas.ts";
import { counted } from "../runtime/counted.ts";

const page = z.object({
  limit: pageLimit,
  after: cursor.optional().meta({ description: "`cursor` of the previous page." }),
});

export const listRuns = defineRoute({
  method: "GET",
  pattern: "/runs",
  operation: "list_runs",
  allows: { read: "follow changes and runs" },
  parse: ({ query }) => validateQuery(page, query),
  async handle({ gate, metadata }, { limit, after }) {
    const found = gate.unwrap(await metadata.runs(gate.caller, limit, after));
    return { data: found, message: `${counted(found.runs.length, "run")}.` };
  },
  openapi: {
    summary: "List runs, the newest first",
    description:
      "A run is the set of versions with one `X-Run-Id` that the key can see. A page may have fewer runs than `limit`, " +
      "or none, although `hasMore` is true: if runs have very many versions, or the key can see none of them.",
    query: page,
    answer: runPage,
  },
});

const files = z.object({
  limit: wholeNumber(1, RUN_FILES_MAX).default(RUN_FILES_MAX),
  after: z.uuid().optional().meta({ description: "`fileId` of the last file of the previous page." }),
});

export const getRun = defineRoute({
  method: "GET",
  pattern: "/runs/:runId",
  operation: "get_run",
  allows: { read: "follow changes and runs" },
  parse: ({ params, query }) => ({ runId: parseRunId(params.id), ...validateQuery(files, query) }),
  async handle(context, { runId, limit, after }) {
    const { gate, metadata } = context;
    context.onEnd(await context.beginCostly());
    const found = gate.unwrap(await metadata.run(gate.caller, runId, limit, after));
    gate.addWork(found.files.length / RUN_FILES_PER_REQUEST);
    return { data: found, message: `${counted(found.fileCount, "file")}.` };
  },
  openapi: {
    summary: "Return one run, with its files in the order of their ids",
    query: files,
    answer: runDetails,
    errors: ["RUN_NOT_FOUND"],
  },
});
