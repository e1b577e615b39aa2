/** POST /sweep: for the operator, by hand or on a schedule. */
import { z } from "zod";
import { sweep } from "../contract/service.ts";
import { sweepSlice } from "../maintenance/sweep.ts";
import { validateQuery } from "../http/validate.ts";
import { defineRoute } from "../route.ts";

const query = z.object({
  begun: z.iso.datetime().optional().meta({
    description:
      "When the sweep began. `isDone` then means that all work is done that was due at that time, so the sweep ends " +
      "even if clients cause new work.",
  }),
});

export const postSweep = defineRoute({
  method: "POST",
  pattern: "/sweep",
  operation: "sweep",
  credentials: "secret key",
  parse: ({ query: given }) => validateQuery(query, given),
  async handle({ indexBacklog, metadata, segments }, { begun }) {
    const indexed = await indexBacklog(begun);
    const swept = await sweepSlice(metadata, segments, begun);
    const data = { ...swept, indexed, isDone: swept.isDone && indexed === 0 };
    const did = `Removed ${data.removed} of ${data.seen}, indexed ${indexed}.`;
    return { data, message: data.isDone ? "Nothing to sweep." : did };
  },
  openapi: {
    summary: "Do one bounded slice of the sweep: remove unneeded data, and index pending files",
    description:
      "Requires `Authorization: Bearer` with the Supabase project's secret key. Repeat the request until `isDone`.",
    query,
    answer: sweep,
  },
});
