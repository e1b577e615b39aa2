/** POST /sweep: for whoever runs the service, by hand or on a schedule. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { sha256Hex } from "../runtime/sha256.ts";
import { fail } from "../errors.ts";
import { sweepSlice } from "../files/sweep.ts";
import { success } from "../http/respond.ts";
import type { Route } from "./route.ts";

const answer = z.object({
  seen: z.int().min(0).meta({ description: "Objects looked at." }),
  removed: z.int().min(0),
  indexed: z.int().min(0).meta({
    description: "Files taken into the search index that had been left behind.",
  }),
  isDone: z.boolean().meta({ description: "Whether there was nothing left to do." }),
}).meta({ id: "Sweep" });

/** Whether the request carries a secret key of the Supabase project. Checksums are compared, so timing tells nothing. */
async function isOperator({ request, operatorKeys }: Context): Promise<boolean> {
  const shown = request.headers.get("authorization")?.match(/^Bearer +(.*)$/i)?.[1] ??
    request.headers.get("apikey");
  if (!shown) return false;
  const digest = (text: string) => sha256Hex(new TextEncoder().encode(text));
  const wanted = await Promise.all(operatorKeys.map(digest));
  return wanted.includes(await digest(shown));
}

async function handle(context: Context): Promise<Response> {
  if (!await isOperator(context)) {
    fail("INVALID_API_KEY", "This route takes the Supabase project's secret key.");
  }
  const indexed = await context.indexBacklog();
  const swept = await sweepSlice(context.metadata, context.segments);
  const result = { ...swept, indexed, isDone: swept.isDone && indexed === 0 };
  return success(
    "sweep",
    result,
    result.isDone ? "Nothing to sweep." : `Removed ${result.removed} of ${result.seen}, indexed ${indexed}.`,
  );
}

export const sweep: Route = {
  method: "POST",
  pattern: "/sweep",
  operation: "sweep",
  needsKey: false,
  handle,
  document: {
    id: "sweep",
    summary: "Remove uploads that were never committed and index what was left behind, one bounded slice",
    description:
      "Needs `Authorization: Bearer` with the Supabase project's secret key. Repeat until `isDone`.",
    answer,
    errors: ["INVALID_API_KEY", "SERVICE_UNAVAILABLE"],
  },
};
