/** POST /sweep: for the operator, by hand or on a schedule. */
import { z } from "zod";
import { sweep } from "../contract/service.ts";
import type { Context } from "../context.ts";
import { sweepSlice } from "../maintenance/sweep.ts";
import { success } from "../http/respond.ts";
import type { RequestData } from "../http/request_data.ts";
import { validateQuery } from "../http/validate.ts";
import { defineRoute } from "../route.ts";

const query = z.object({
  begun: z.iso.datetime().optional().meta({
    description:
      "When the first of these slices was asked for. Then `isDone` says that nothing is left of what was due at that " +
      "time, so that the slices come to an end whatever others begin meanwhile.",
  }),
});

async function handle(context: Context, { begun }: z.infer<typeof query>): Promise<Response> {
  const indexed = await context.indexBacklog(begun);
  const swept = await sweepSlice(context.metadata, context.segments, begun);
  const result = { ...swept, indexed, isDone: swept.isDone && indexed === 0 };
  return success(
    "sweep",
    result,
    result.isDone ? "Nothing to sweep." : `Removed ${result.removed} of ${result.seen}, indexed ${indexed}.`,
  );
}

export const postSweep = defineRoute({
  method: "POST",
  pattern: "/sweep",
  operation: "sweep",
  credentials: "secret key",
  parse: ({ query: given }: RequestData) => validateQuery(query, given),
  handle,
  openapi: {
    id: "sweep",
    summary: "Remove uploads that were never committed and index pending files, one bounded slice",
    description:
      "Requires `Authorization: Bearer` with the Supabase project's secret key. Repeat until `isDone`.",
    query,
    answer: sweep,
  },
});
