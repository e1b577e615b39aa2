/**
 * GET /health: whether the service runs; with `?deep` also whether the database accepts a commit and Storage an object.
 */
import { z } from "zod";
import { health } from "../contract/service.ts";
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

export const getHealth = defineRoute({
  method: "GET",
  pattern: "/health",
  operation: null,
  credentials: "none",
  parse: ({ query }) => isSet(query, "deep"),
  async handle({ now, health }, isDeep) {
    const record = { timestamp: new Date(now()).toISOString(), version: VERSION };
    const failing = isDeep ? await health.failing() : null;
    if (failing === null) {
      const running = isDeep ? "The service, its database and its storage are" : "The service is";
      return json({ status: "ok", ...record, message: `${running} running.` });
    }
    const response = json({ status: "degraded", ...record, message: `Not working: ${failing}.` }, 503);
    response.headers.set("Retry-After", String(UNAVAILABLE_RETRY_AFTER_SECONDS));
    return response;
  },
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
