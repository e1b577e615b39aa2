/**
 * GET /health: whether the service runs; with `?deep` also whether the database accepts a commit and Storage an object.
 */
import { z } from "zod";
import { health } from "../contract/service.ts";
import type { Context } from "../context.ts";
import { isSet } from "../http/query.ts";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../limits.ts";
import { json } from "../http/respond.ts";
import { VERSION } from "../version.ts";
import { defineRoute } from "../route.ts";

const query = z.object({
  deep: z.enum(["", "true", "false"]).optional().meta({
    description: "Present, or `true`: also tests the database and Storage.",
  }),
});

async function handle(context: Context, isDeep: boolean): Promise<Response> {
  const record = { timestamp: new Date(context.now()).toISOString(), version: VERSION };
  if (!isDeep) {
    return json({ status: "ok", ...record, message: "The service is running." });
  }
  const failing = await context.health.failing();
  if (failing === null) {
    return json({
      status: "ok",
      ...record,
      message: "The service, its database and its storage are running.",
    });
  }
  const message = `Not working: ${failing}.`;
  const response = json({ status: "degraded", ...record, message }, 503);
  response.headers.set("Retry-After", String(UNAVAILABLE_RETRY_AFTER_SECONDS));
  return response;
}

export const getHealth = defineRoute({
  operation: null,
  credentials: "none",
  parse: ({ query }) => isSet(query, "deep"),
  handle,
  openapi: {
    id: "health",
    summary: "Check whether the service runs",
    query,
    description: "`degraded`, with 503, if the database or Storage does not work.",
    answer: health,
    statuses: [503],
    errors: ["VALIDATION_ERROR"],
  },
});
