/** Append and overwrite: new content for a file that exists, as JSON or as the bytes themselves. */
import type { z } from "zod";
import { idempotency, idempotencyKey, preconditions } from "../conditions.ts";
import type { Context } from "../context.ts";
import { isPresent } from "../domain/query.ts";
import { fail } from "../errors.ts";
import type { Admission, Committed, Segment } from "../ports.ts";
import { isRawPut, storeRawBody } from "../raw_body.ts";
import { contentBytes, type ContentText, isLargeBody, readBody } from "../request_body.ts";
import { filePath } from "../request_path.ts";
import { commit } from "./commit.ts";
import { storeContent } from "./store_content.ts";
import { refuseOverTier } from "./tier.ts";
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
  const isKnown = gate.grant !== undefined && !isLargeBody(request.headers);
  const store = isRaw ? storeRaw : storeJson;
  const { segments, fields } = await store(context, kind, path, isKnown, body);
  return await commit(context, {
    kind,
    path,
    commitId: crypto.randomUUID(),
    segments,
    ifMatch,
    idempotency: await idempotency(key, kind, path, fields, segments),
  });
}

interface Stored {
  readonly segments: readonly Segment[];
  /** What the request said besides its content. */
  readonly fields: unknown;
}

async function storeJson(
  context: Context,
  kind: Kind,
  path: string,
  isKnown: boolean,
  body: ContentBody,
): Promise<Stored> {
  const { gate } = context;
  let admission: Admission | undefined;
  const admit = async () => {
    admission = await gate.admit(path);
  };
  const { content, ...fields } = await readBody(context, body, isKnown ? null : admit);
  const chunks = await gate.check(() => contentBytes(content, fields.isBase64 ?? false));
  if (admission) refuseMissing(admission);
  const added = chunks.reduce((total, chunk) => total + chunk.length, 0);
  refuseOverTier(gate, existingBytes(kind, admission) + added);
  return { segments: await storeContent(context, chunks), fields };
}

async function storeRaw(context: Context, kind: Kind, path: string, isKnown: boolean): Promise<Stored> {
  const { gate } = context;
  const admission = isKnown ? undefined : await gate.admit(path);
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
