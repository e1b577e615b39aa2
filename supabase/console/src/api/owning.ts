/** Calls about what a project uses, what goes by itself, and what is erased for good. */
import * as z from "zod/mini";
import { encodePath } from "../format.ts";
import { call } from "./client.ts";
import { fileUrlPath } from "./files.ts";
import { type Project, projectSchema, type Retention } from "./records.ts";

const done = { requests: z.number(), versions: z.number(), bytesWritten: z.number() };

const usageSchema = z.object({
  from: z.string(),
  to: z.string(),
  days: z.array(z.object({
    day: z.string(),
    ...done,
    bytes: z.nullable(z.number()),
    databaseBytes: z.nullable(z.number()),
  })),
  keys: z.array(z.object({
    keyId: z.nullable(z.string()),
    name: z.nullable(z.string()),
    prefix: z.nullable(z.string()),
    ...done,
  })),
  keyCount: z.number(),
});
export type Usage = z.infer<typeof usageSchema>;
export type UsageDay = Usage["days"][number];
export type UsageOfKey = Usage["keys"][number];

/** `from` is a day, `2026-01-31`; `keyId` an id or `console`, that the days are about. The last day is today. */
export function readUsage(
  projectId: string,
  from: string,
  keyId: string | undefined,
  signal?: AbortSignal,
): Promise<Usage> {
  return call({ path: "/project/usage", projectId, query: { from, keyId }, signal }, usageSchema);
}

const previewSchema = z.object({
  wouldRemove: z.object({
    versions: z.number(),
    files: z.number(),
    examples: z.array(z.object({ path: z.string(), versions: z.number(), whole: z.boolean() })),
    lookedAt: z.number(),
    isComplete: z.boolean(),
  }),
});
export type RetentionPreview = z.infer<typeof previewSchema>["wouldRemove"];

/** What the rule would let go now. Changes nothing. */
export async function previewRetention(
  projectId: string,
  retention: Retention | null,
): Promise<RetentionPreview> {
  const body = { retention, dryRun: true };
  return (await call({ method: "PATCH", path: "/project", projectId, body }, previewSchema)).wouldRemove;
}

export function changeRetention(projectId: string, retention: Retention | null): Promise<Project> {
  return call({ method: "PATCH", path: "/project", projectId, body: { retention } }, projectSchema);
}

const purgedSchema = z.object({ versions: z.number(), pendingVersions: z.number() });

/** Erases a file with every version for good. Sent again with the same `attempt`, it is the same purge. */
export function purgeFile(projectId: string, path: string, attempt: string) {
  const headers = { "idempotency-key": attempt };
  const query = { purge: true };
  return call({ method: "DELETE", path: fileUrlPath(path), projectId, query, headers }, purgedSchema);
}

const redactedSchema = z.object({
  versions: z.array(z.number()),
  remaining: z.array(z.object({ path: z.string(), version: z.number() })),
});
export type Redacted = z.infer<typeof redactedSchema>;

/** Erases the content of versions for good; their numbers stay. `note` takes the place of their notes. */
export function redactVersions(
  projectId: string,
  path: string,
  versions: readonly number[],
  note: string | undefined,
): Promise<Redacted> {
  const url = `/files/redact/${encodePath(path)}`;
  return call({ method: "POST", path: url, projectId, body: { versions, note } }, redactedSchema);
}
