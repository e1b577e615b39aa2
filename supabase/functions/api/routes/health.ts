/** GET /health: whether the service runs; with `?deep` also whether database and storage are reachable. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { isPresent } from "../http/query.ts";
import { ApiError } from "../errors.ts";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../limits.ts";
import { json } from "../http/respond.ts";
import { VERSION } from "../version.ts";
import { defineRoute } from "./route.ts";

const query = z.object({ deep: z.literal("").optional() });

const answer = z.object({
  status: z.enum(["ok", "degraded"]),
  timestamp: z.iso.datetime(),
  message: z.string(),
  version: z.string(),
}).meta({ id: "Health" });

async function isDown(ping: Promise<void>): Promise<boolean> {
  try {
    await ping;
    return false;
  } catch (error) {
    if (error instanceof ApiError) return true;
    throw error;
  }
}

async function handle(context: Context, isDeep: boolean): Promise<Response> {
  const record = { timestamp: new Date(context.now()).toISOString(), version: VERSION };
  if (!isDeep) {
    return json({ status: "ok", ...record, message: "The service is running." });
  }
  const [database, storage] = await Promise.all([
    isDown(context.metadata.ping()),
    isDown(context.segments.ping()),
  ]);
  if (!database && !storage) {
    return json({
      status: "ok",
      ...record,
      message: "The service, its database and its storage are running.",
    });
  }
  const down = [database && "database", storage && "storage"].filter(Boolean).join(" and ");
  const response = json({ status: "degraded", ...record, message: `Unreachable: ${down}.` }, 503);
  response.headers.set("Retry-After", String(UNAVAILABLE_RETRY_AFTER_SECONDS));
  return response;
}

export const health = defineRoute({
  method: "GET",
  pattern: "/health",
  operation: null,
  credentials: "none",
  parse: ({ query }) => isPresent(query, "deep"),
  handle,
  openapi: {
    id: "health",
    summary: "Whether the service runs",
    query,
    answer,
    errors: ["SERVICE_UNAVAILABLE"],
  },
});
