/** Calls about what a project uses, what goes by itself, and what is erased for good. */
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

/** `from` is a day, `2026-01-31`; `keyId` an id or `console`, that the days are about. The last day is today. */
export function readUsage(
  projectId: string,
  from: string,
  keyId: string | undefined,
  signal?: AbortSignal,
): Promise<Usage> {
  return call({ path: "/project/usage", projectId, query: { from, keyId }, signal });
}

/** What the rule would let go now. Changes nothing. */
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

/** Erases a file with every version for good. Sent again with the same `attempt`, it is the same purge. */
export function purgeFile({ projectId, path }: FileAt, attempt: string): Promise<Purged> {
  const headers = { "idempotency-key": attempt };
  const query = { purge: true };
  return call({ method: "DELETE", path: fileUrlPath(path), projectId, query, headers });
}

/** Erases the content of versions for good; their numbers stay. `note` takes the place of their notes. */
export function redactVersions(
  { projectId, path }: FileAt,
  versions: readonly number[],
  note: string | undefined,
): Promise<Redacted> {
  const url = `/files/redact/${encodePath(path)}`;
  return call({ method: "POST", path: url, projectId, body: { versions, note } });
}
