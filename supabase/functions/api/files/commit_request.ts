/** Commits that need no content: delete, restore, copy, move. One back-end call, and no bytes move. */
import type { z } from "zod";
import { idempotency, idempotencyKey, preconditions } from "../http/conditions.ts";
import type { Context } from "../context.ts";
import type { Commit, Committed, Idempotency, Preconditions } from "../ports/commit.ts";
import { isLargeBody, readBody } from "../http/body.ts";
import { filePath } from "../http/request_path.ts";
import { commit } from "./commit.ts";

/** What every commit of a request has in common. */
export interface CommitBasis extends Preconditions {
  readonly path: string;
  readonly commitId: string;
  readonly idempotency: Idempotency | undefined;
}

/** The path after `prefix` and the validated body, if the route has one; a path or body that is wrong is refused. */
export async function commitRequest<Fields>(
  context: Context,
  prefix: string,
  route: string,
  body: z.ZodType<Fields>,
  hasBody: boolean,
  build: (basis: CommitBasis, fields: Fields) => Commit,
): Promise<Committed> {
  const { gate, request } = context;
  const { path, key, ifMatch } = await gate.check(() => ({
    path: filePath(context, prefix),
    key: idempotencyKey(request.headers),
    ...preconditions(request.headers, false),
  }));
  const admit = isLargeBody(request.headers) ? () => gate.admit() : null;
  const fields = hasBody ? await readBody(context, body, admit) : body.parse({});
  const once = await idempotency(key, route, path, fields);
  const basis = { path, commitId: crypto.randomUUID(), idempotency: once, ifMatch };
  return await commit(context, await gate.check(() => build(basis, fields)));
}
