/** GET /project/usage: what a project and its keys did, day by day. */
import { z } from "zod";
import { pick } from "../http/query.ts";
import { success } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import { USAGE_DAYS_MAX } from "../limits.ts";
import { ACCOUNT_OR_KEY_ERRORS, administer, PROJECT_HEADERS } from "./administration.ts";
import { defineRoute } from "../route.ts";

const day = z.iso.date();
const done = {
  requests: z.int().min(0),
  versions: z.int().min(0).meta({ description: "Made, deletions included." }),
  bytesWritten: z.int().min(0).meta({
    description:
      "Content of these versions: of an append what was added, of a copy, move, restore or undo none.",
  }),
};
const level = z.int().min(0).nullable();
const answer = z.object({
  from: day,
  to: day,
  days: z.array(z.object({
    day,
    ...done,
    bytes: level.meta({
      description:
        "Stored when the day was last looked at, as in `usage.bytes` of the project; null: not known.",
    }),
    databaseBytes: level,
  })).meta({ description: "Each day of the period up to today." }),
  keys: z.array(z.object({
    keyId: z.uuid().nullable().meta({ description: "Null: the console." }),
    name: z.string().nullable().meta({ description: "Null: the console, or a key that is forgotten." }),
    prefix: z.string().nullable(),
    ...done,
  })).meta({ description: "In the whole period, those with most requests first." }),
  keyCount: z.int().min(0).meta({ description: "How many keys did anything, those not named included." }),
}).meta({ id: "Usage" });

const query = z.object({
  from: day.optional().meta({ description: "First day (UTC); by default 29 days before `to`." }),
  to: day.optional().meta({
    description: `Last day (UTC), by default today; the period has at most ${USAGE_DAYS_MAX} days.`,
  }),
  keyId: z.union([z.uuid(), z.literal("console")]).optional().meta({
    description: "What `days` counts: this key alone, or the console. What is stored belongs to no key.",
  }),
});

export const usage = defineRoute({
  method: "GET",
  pattern: "/project/usage",
  operation: "get_usage",
  credentials: "account or key",
  allows: { admin: "see the usage of each key" },
  parse: ({ query: given }) => validate(query, pick(given, ["from", "to", "keyId"])),
  async handle(context, parameters) {
    // Of this isolate nothing is missing; others hand in theirs within seconds.
    await context.requestCounts.flush().catch(() => {});
    const data = answer.parse(await administer(context, "usage", parameters));
    return success("get_usage", data, `Usage from ${data.from} to ${data.to}.`);
  },
  openapi: {
    id: "getUsage",
    summary: "Requests, versions and bytes of a project, by day and by key",
    description: "A calling key without the scope `admin` sees of the keys itself alone.",
    headers: PROJECT_HEADERS,
    query,
    answer,
    errors: [...ACCOUNT_OR_KEY_ERRORS, "VALIDATION_ERROR"],
  },
});
