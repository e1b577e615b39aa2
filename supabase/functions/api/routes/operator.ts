/**
 * For operators. GET /health: whether the service runs; with `?deep` also whether the database accepts a commit and
 * Storage an object. POST /sweep: one slice of the sweep, by hand or on a schedule.
 */
import { z } from "zod";
import { isSet } from "../http/query.ts";
import { json } from "../http/respond.ts";
import { validateQuery } from "../http/validate.ts";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../limits.ts";
import { sweepSlice } from "../maintenance/sweep.ts";
import { defineRoute } from "../route.ts";
import { VERSION } from "../version.ts";

const healthQuery = z.object({
  deep: z.enum(["", "true", "false"]).optional().meta({
    description: "Present, or `true`: also tests the database and Storage.",
  }),
});

export const getHealth = defineRoute({
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
    query: healthQuery,
    description: "`degraded`, with 503, if the database or Storage does not work.",
    answer: "health",
    statuses: [503],
    errors: ["VALIDATION_ERROR"],
  },
});

const sweepQuery = z.object({
  begun: z.iso.datetime().optional().meta({
    description:
      "When the sweep began. `isDone` then means that all work is done that was due at that time, so the sweep ends " +
      "even if clients cause new work.",
  }),
});

export const postSweep = defineRoute({
  operation: "sweep",
  credentials: "secret key",
  parse: ({ query }) => validateQuery(sweepQuery, query),
  async handle({ indexBacklog, metadata, segments, webhooks }, { begun }) {
    const delivering = webhooks().then(({ scheduler }) => scheduler.sweep());
    // Avoids an unhandled rejection; it is awaited below.
    delivering.catch(() => {});
    const indexed = await indexBacklog(begun);
    const swept = await sweepSlice(metadata, segments, begun);
    // A webhook may have something to deliver again and again, which does not keep a sweep from ending.
    const wasDue = await delivering && begun === undefined;
    const data = { ...swept, indexed, isDone: swept.isDone && indexed === 0 && !wasDue };
    const did = `Removed ${data.removed} of ${data.seen}, indexed ${indexed}.`;
    return { data, message: data.isDone ? "Nothing to sweep." : did };
  },
  openapi: {
    summary:
      "Do one bounded slice of the sweep: remove unneeded data, index pending files, deliver to webhooks",
    description:
      "Requires `Authorization: Bearer` with the Supabase project's secret key. Repeat the request until `isDone`.",
    query: sweepQuery,
    answer: "sweep",
  },
});
