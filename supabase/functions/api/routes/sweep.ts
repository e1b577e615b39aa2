/** POST /sweep: for the operator, by hand or on a schedule. */
import { z } from "zod";
import { sweep } from "../contract/service.ts";
import type { Context } from "../context.ts";
import { sweepSlice } from "../maintenance/sweep.ts";
import { validateQuery } from "../http/validate.ts";
import type { Success } from "../http/respond.ts";
import { defineRoute } from "../route.ts";

const query = z.object({
  begun: z.iso.datetime().optional().meta({
    description:
      "When the sweep began. `isDone` then means that all work is done that was due at that time, so the sweep ends " +
      "even if clients cause new work.",
  }),
});

async function handle(context: Context, { begun }: z.infer<typeof query>): Promise<Success> {
  const indexed = await context.indexBacklog(begun);
  const swept = await sweepSlice(context.metadata, context.segments, begun);
  const result = { ...swept, indexed, isDone: swept.isDone && indexed === 0 };
  return {
    data: result,
    message: result.isDone
      ? "Nothing to sweep."
      : `Removed ${result.removed} of ${result.seen}, indexed ${indexed}.`,
  };
}

export const postSweep = defineRoute({
  operation: "sweep",
  credentials: "secret key",
  parse: ({ query: given }) => validateQuery(query, given),
  handle,
  openapi: {
    summary: "Do one bounded slice of the sweep: remove unneeded data, and index pending files",
    description:
      "Requires `Authorization: Bearer` with the Supabase project's secret key. Repeat the request until `isDone`.",
    query,
    answer: sweep,
  },
});
