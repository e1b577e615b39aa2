/** The common part of requests that commit a version: path, preconditions, Idempotency-Key. */
import { idempotency, idempotencyKey, preconditions } from "../http/conditions.ts";
import type { RequestData } from "../http/request_data.ts";
import type { Idempotency, Preconditions } from "../ports/commit.ts";
import type { Segment } from "../ports/segments.ts";

export interface CommitRequest extends Preconditions {
  readonly path: string;
  readonly idempotencyKey: string | undefined;
}

/** Parses a request to an existing file. */
export function parseCommitRequest({ params, headers }: RequestData): CommitRequest {
  const key = idempotencyKey(headers);
  return { path: params.path, idempotencyKey: key, ...preconditions(headers, false) };
}

/** The request with the `ifVersion` of its JSON body. */
export function withVersion(
  request: CommitRequest,
  { ifVersion }: { readonly ifVersion?: number | null | undefined },
): CommitRequest {
  return { ...request, ifVersion: ifVersion ?? undefined };
}

/** The common part of all commits of a request. */
export interface CommitBasis extends Preconditions {
  readonly path: string;
  readonly commitId: string;
  readonly idempotency: Idempotency | undefined;
}

/** Requests with one Idempotency-Key are the same if their `route`, path, `fields` and `content` are equal. */
export async function commitBasis(
  { path, idempotencyKey, ifMatch, ifNoneMatch, ifVersion }: CommitRequest,
  route: string,
  fields: unknown,
  content: readonly Pick<Segment, "sha256">[] = [],
): Promise<CommitBasis> {
  const once = await idempotency(idempotencyKey, route, path, fields, content);
  return { path, commitId: crypto.randomUUID(), ifMatch, ifNoneMatch, ifVersion, idempotency: once };
}
