/** Calls about a project's usage, its retention rule, and erasing content for good. */
import type { Purged, Redacted } from "../../../functions/api/contract/files.ts";
import type { ChangedProject, RetentionPreview } from "../../../functions/api/contract/projects.ts";
import type { Usage } from "../../../functions/api/contract/usage.ts";
import { encodePath } from "../format.ts";
import { call } from "./client.ts";
import { type FileAt, fileUrlPath } from "./files.ts";
import type { Project, Retention } from "./projects.ts";

export type { Redacted, RetentionPreview, Usage };
export type UsageDay = Usage["days"][number];
export type UsageOfKey = Usage["keys"][number];

/**
 * `from` is the first day, such as `2026-01-31`; the last day is today. `keyId` is an id or `console` and limits the days to
 * that writer.
 */
export function readUsage(
  projectId: string,
  from: string,
  keyId: string | undefined,
  signal?: AbortSignal,
): Promise<Usage> {
  return call({ path: "/project/usage", projectId, query: { from, keyId }, signal });
}

/** Returns what the rule would erase now, without changing anything. */
export async function previewRetention(
  projectId: string,
  retention: Retention | null,
): Promise<RetentionPreview | null> {
  const body = { retention, dryRun: true };
  const request = { method: "PATCH", path: "/project", projectId, body } as const;
  return (await call<ChangedProject>(request)).wouldRemove ?? null;
}

export function changeRetention(projectId: string, retention: Retention | null): Promise<Project> {
  return call({ method: "PATCH", path: "/project", projectId, body: { retention } });
}

/** Erases a file with all of its versions for good. A repeated call with the same `attempt` is the same purge. */
export function purgeFile({ projectId, path }: FileAt, attempt: string): Promise<Purged> {
  const headers = { "idempotency-key": attempt };
  const query = { purge: true };
  return call({ method: "DELETE", path: fileUrlPath(path), projectId, query, headers });
}

/** Erases the content of versions for good; their numbers stay. `note` replaces their notes. */
export function redactVersions(
  { projectId, path }: FileAt,
  versions: readonly number[],
  note: string | undefined,
): Promise<Redacted> {
  const url = `/files/redact/${encodePath(path)}`;
  return call({ method: "POST", path: url, projectId, body: { versions, note } });
}
