/** GET /project/usage: the usage of a project and its keys by day. */
import { z } from "zod";
import { day, usage } from "../contract/usage.ts";
import { validateQuery } from "../http/validate.ts";
import { USAGE_DAYS_MAX } from "../limits.ts";
import { administer } from "./administration.ts";
import { defineRoute } from "../route.ts";

const query = z.object({
  from: day.optional().meta({ description: "First day (UTC); by default 29 days before `to`." }),
  to: day.optional().meta({
    description: `Last day (UTC), by default today; the period has at most ${USAGE_DAYS_MAX} days.`,
  }),
  keyId: z.union([z.uuid(), z.literal("console")]).optional().meta({
    description: "Count only this key (or the console) in `days`. Stored bytes are not counted for each key.",
  }),
});

export const getUsage = defineRoute({
  operation: "get_usage",
  credentials: "account or key",
  allows: { admin: "see the usage of each key" },
  parse: ({ query: given }) => validateQuery(query, given),
  async handle(context, parameters) {
    // The counts of this isolate are complete; other isolates send theirs within seconds.
    await context.requestCounts.flush().catch(() => {});
    const data = usage.parse(await administer(context, "usage", parameters));
    return { data, message: `Usage from ${data.from} to ${data.to}.` };
  },
  openapi: {
    summary: "Return requests, versions and bytes of a project, by day and by key",
    description: "An API key without the scope `admin` sees only its own usage in `keys`.",
    query,
    answer: usage,
  },
});
