/** Append and overwrite: new content for a file that exists, as JSON or as the bytes themselves. */
import type { z } from "zod";
import { idempotency, idempotencyKey, preconditions } from "../http/conditions.ts";
import type { Context } from "../context.ts";
import { concatenate } from "../runtime/concatenate.ts";
import { drainAndDetach } from "../runtime/detach.ts";
import { isPresent } from "../http/query.ts";
import { sha256Hex } from "../runtime/sha256.ts";
import { fail } from "../errors.ts";
import { COMPACTING_APPEND_BYTES_MAX } from "../limits.ts";
import type { Committed } from "../ports/commit.ts";
import type { Admission } from "../ports/metadata.ts";
import type { Segment } from "../ports/segments.ts";
import { isRawPut, storeRawBody } from "../http/raw_body.ts";
import { contentBytes, type ContentText, isLargeBody, readBody } from "../http/body.ts";
import { filePath } from "../http/request_path.ts";
import { commit } from "./commit.ts";
import { commitMergingAppend, type MergingAppend, storeMergingAppend } from "./compacting_append.ts";
import { storeContent } from "./store_content.ts";
import { refuseOverTier } from "./file_size_limit.ts";
import { discard } from "./uploads.ts";

/** A body with content for a file that exists. */
export type ContentBody = z.ZodType<{ content: ContentText; isBase64?: boolean | null | undefined }>;
type Kind = "append" | "overwrite";

/** Reads the body, stores its content and commits it to the file that the URL names after `prefix`. */
export async function replaceContent(
  context: Context,
  kind: Kind,
  prefix: string,
  body: ContentBody,
): Promise<Committed> {
  const { gate, request } = context;
  const { path, isRaw, key, ifMatch } = await gate.check(() => {
    const path = filePath(context, prefix);
    isPresent(context.query, "raw");
    return {
      path,
      isRaw: isRawPut(context),
      key: idempotencyKey(request.headers),
      ...preconditions(request.headers, false),
    };
  });
  const target = {
    kind,
    path,
    isKnown: gate.grant !== undefined && !isLargeBody(request.headers),
    mayBeRetry: key !== undefined,
  };
  const { segments, fields, merging, mayLeaveMerge } = isRaw
    ? await storeRaw(context, target)
    : await storeJson(context, target, body);
  const sent = merging && key !== undefined
    ? [{ sha256: await sha256Hex(concatenate(merging.chunks)) }]
    : segments;
  const basis = {
    path,
    commitId: crypto.randomUUID(),
    ifMatch,
    idempotency: await idempotency(key, kind, path, fields, sent),
  };
  if (merging) return await commitMergingAppend(context, basis, merging);
  return await commit(context, { kind, ...basis, segments }, mayLeaveMerge);
}

interface Target {
  readonly kind: Kind;
  readonly path: string;
  /** Whether the body may be stored on the strength of what this isolate remembers of the key. */
  readonly isKnown: boolean;
  /** Whether the first request may have succeeded: then what the file is by now is no reason to refuse this one. */
  readonly mayBeRetry: boolean;
}

interface Stored {
  readonly segments: readonly Segment[];
  /** What the request said besides its content. */
  readonly fields: unknown;
  /** Where the segments hold the end of the rope, too. */
  readonly merging?: MergingAppend;
  /** Whether a merge that this request makes due may be left to one like it. */
  readonly mayLeaveMerge?: boolean;
}

async function storeJson(context: Context, target: Target, body: ContentBody): Promise<Stored> {
  const { gate } = context;
  let admission: Admission | undefined;
  const admit = async () => {
    admission = await admitTo(context, target);
  };
  const { content, ...fields } = await readBody(context, body, target.isKnown ? null : admit);
  const chunks = await gate.check(() => contentBytes(content, fields.isBase64 ?? false));
  if (admission) refuseMissing(admission);
  const added = chunks.reduce((total, chunk) => total + chunk.length, 0);
  refuseOverTier(gate, existingBytes(target.kind, admission) + added);
  const isShortAppend = target.kind === "append" && added <= COMPACTING_APPEND_BYTES_MAX;
  const merging = isShortAppend ? await storeMergingAppend(context, target.path, chunks) : undefined;
  if (merging) return { segments: merging.segments, fields, merging };
  return {
    segments: await storeContent(context, drainAndDetach(chunks)),
    fields,
    mayLeaveMerge: isShortAppend,
  };
}

async function storeRaw(context: Context, target: Target): Promise<Stored> {
  const { gate } = context;
  const { kind } = target;
  const admission = target.isKnown ? undefined : await admitTo(context, target);
  if (admission) refuseMissing(admission);
  const limitBytes = gate.isAdmitted ? gate.grant?.maxFileBytes ?? null : null;
  const { segments, sizeBytes } = await gate.check(() =>
    storeRawBody(context, existingBytes(kind, admission), limitBytes)
  );
  if (kind === "append" && sizeBytes === 0) {
    await discard(context.segments, segments);
    await gate.check(() =>
      fail("VALIDATION_ERROR", "There is nothing to append.", {
        issues: [{ path: "content", reason: "must be at least 1 long" }],
      })
    );
  }
  return { segments, fields: { raw: true } };
}

/** Admits the key; answers what is at the path where that counts before the commit. */
async function admitTo(context: Context, { path, mayBeRetry }: Target): Promise<Admission | undefined> {
  const admission = await context.gate.admit(path);
  return mayBeRetry ? undefined : admission;
}

/** What the database has just said is enough to refuse before any byte is stored. The commit checks again. */
function refuseMissing({ file, deletedVersion }: Admission): void {
  if (file !== null) return;
  fail(
    "FILE_NOT_FOUND",
    "There is no file at this path.",
    deletedVersion === null ? undefined : { deletedVersion },
  );
}

/** What the file has that stays, as far as this request was told. */
function existingBytes(kind: Kind, admission: Admission | undefined): number {
  return kind === "append" ? admission?.file?.size ?? 0 : 0;
}
