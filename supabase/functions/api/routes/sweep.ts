/** POST /sweep: for the operator, by hand or on a schedule. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { sweepSlice } from "../files/sweep.ts";
import { success } from "../http/respond.ts";
import { defineRoute, noParameters } from "./route.ts";

const answer = z.object({
  seen: z.int().min(0).meta({ description: "Objects examined." }),
  removed: z.int().min(0),
  indexed: z.int().min(0).meta({
    description: "Pending files that were indexed.",
  }),
  isDone: z.boolean().meta({ description: "Whether there was nothing left to do." }),
}).meta({ id: "Sweep" });

async function handle(context: Context): Promise<Response> {
  const indexed = await context.indexBacklog();
  const swept = await sweepSlice(context.metadata, context.segments);
  const result = { ...swept, indexed, isDone: swept.isDone && indexed === 0 };
  return success(
    "sweep",
    result,
    result.isDone ? "Nothing to sweep." : `Removed ${result.removed} of ${result.seen}, indexed ${indexed}.`,
  );
}

export const sweep = defineRoute({
  method: "POST",
  pattern: "/sweep",
  operation: "sweep",
  credentials: "secret key",
  parse: noParameters,
  handle,
  openapi: {
    id: "sweep",
    summary: "Remove uploads that were never committed and index pending files, one bounded slice",
    description:
      "Requires `Authorization: Bearer` with the Supabase project's secret key. Repeat until `isDone`.",
    answer,
    errors: ["INVALID_API_KEY", "RATE_LIMIT_EXCEEDED", "SERVICE_UNAVAILABLE"],
  },
});
