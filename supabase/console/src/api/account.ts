/** What the operator lets the signed-in person do, and what their projects use together. */
import * as z from "zod/mini";
import { call } from "./client.ts";

const accountSchema = z.object({
  email: z.nullable(z.string()),
  projectMakers: z.string(),
  mayCreateProjects: z.boolean(),
  reason: z.nullable(z.string()),
  limits: z.object({
    requestsPerMinute: z.number(),
    maxProjects: z.number(),
    maxSharedBytes: z.nullable(z.number()),
  }),
  usage: z.object({
    requestsThisMinute: z.number(),
    projects: z.number(),
    sharedBytes: z.number(),
  }),
});
export type Account = z.infer<typeof accountSchema>;

/** Makes no project, unlike the first list of them. */
export function readAccount(signal?: AbortSignal): Promise<Account> {
  return call({ path: "/account", signal }, accountSchema);
}
