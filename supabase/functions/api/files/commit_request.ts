/** What the requests that commit a version have in common: path, preconditions, Idempotency-Key. */
import { idempotency, idempotencyKey, preconditions } from "../http/conditions.ts";
import type { RequestData } from "../http/request_data.ts";
import type { Idempotency, Preconditions } from "../ports/commit.ts";
import type { Segment } from "../ports/segments.ts";

export interface CommitRequest extends Preconditions {
  readonly path: string;
  readonly idempotencyKey: string | undefined;
}

/** Of a request to a file that exists. */
export function parseCommitRequest({ params, headers }: RequestData): CommitRequest {
  const key = idempotencyKey(headers);
  return { path: params.path, idempotencyKey: key, ...preconditions(headers, false) };
}

/** With the `ifVersion` of its JSON body. */
export function withVersion(
  request: CommitRequest,
  { ifVersion }: { readonly ifVersion?: number | null | undefined },
): CommitRequest {
  return { ...request, ifVersion: ifVersion ?? undefined };
}

/** What every commit of a request has in common. */
export interface CommitBasis extends Preconditions {
  readonly path: string;
  readonly commitId: string;
  readonly idempotency: Idempotency | undefined;
}

/** `route`, `fields` and `content` are, with the path, what makes two requests with one Idempotency-Key the same. */
export async function commitBasis(
  { path, idempotencyKey, ifMatch, ifNoneMatch, ifVersion }: CommitRequest,
  route: string,
  fields: unknown,
  content: readonly Pick<Segment, "sha256">[] = [],
): Promise<CommitBasis> {
  const once = await idempotency(idempotencyKey, route, path, fields, content);
  return { path, commitId: crypto.randomUUID(), ifMatch, ifNoneMatch, ifVersion, idempotency: once };
}
