/** Write, overwrite and append: new content for a file, sent as JSON or as the bytes themselves. */
import type { z } from "zod";
import type { Gate } from "../auth/gate.ts";
import { detectMediaType, type MediaType, mediaType } from "../contract/media_types.ts";
import { fail, failField, messageOf } from "../errors.ts";
import {
  type BodySource,
  declaredBytes,
  ensureUnencoded,
  isLargeBody,
  mediaTypeOf,
  openBody,
  requestChunks,
} from "../http/body.ts";
import { contentBytes, readBody } from "../http/json_request.ts";
import type { ContentText } from "../http/json_string.ts";
import { checkPath, isInBranch } from "../http/path.ts";
import { RAW_UPLOAD_BYTES } from "../limits.ts";
import type { Committed } from "../ports/commit.ts";
import type { Authorization } from "../ports/schemas.ts";
import type { Segment } from "../ports/segments.ts";
import { detach, drainAndDetach } from "../runtime/bytes.ts";
import { commit, commitBasis, type CommitRequest, type Committer } from "./commit.ts";
import { storeContent } from "./upload.ts";

/** The parts of a write request that are known before its body. */
export interface WriteRequest extends Omit<CommitRequest, "path"> {
  /** `write` creates the file if there is none; the others require one. */
  readonly kind: "write" | "overwrite" | "append";
  /** Undefined if the body contains it. */
  readonly path: string | undefined;
  /** Whether the body is the bytes themselves. */
  readonly isRaw: boolean;
  readonly contentType?: string | undefined;
}

/** The type that the Content-Type of a raw upload names, if it is a supported one. */
export function namedMediaType(headers: Headers): MediaType | undefined {
  return mediaType.safeParse(mediaTypeOf(headers)).data;
}

/** The JSON body of each kind, as its route validates it. */
interface WriteFields {
  readonly path?: string;
  readonly content: ContentText;
  readonly contentType?: string | null | undefined;
  readonly isBase64?: boolean | null | undefined;
  readonly ifVersion?: number | null | undefined;
}

interface ChunkWriter extends Committer {
  readonly gate: Gate;
}

type Writer = ChunkWriter & BodySource;

/** Content that is stored and not committed yet. */
interface Stored {
  readonly path: string;
  readonly segments: readonly Segment[];
  readonly contentType?: string | undefined;
  readonly ifVersion?: number | undefined;
  /** The fields of the request without its content, for its fingerprint. */
  readonly fields: unknown;
}

export async function writeContent(
  writer: Writer,
  body: z.ZodType<WriteFields>,
  request: WriteRequest,
): Promise<Committed> {
  // A small body may be stored before the request is authorized, if the key was valid recently.
  const mayStore = writer.gate.grant !== undefined && !isLargeBody(writer.request.headers);
  const authorization = mayStore ? undefined : await authorize(writer, request);
  const stored = request.isRaw
    ? await storeRaw(writer, request, authorization)
    : await storeJson(writer, body, request, authorization);
  return await commitStored(writer, { ...request, ...stored });
}

/** Stores content that is in memory and commits it, for a caller that is authorized. */
export async function writeChunks(
  writer: ChunkWriter,
  { chunks, ...request }: CommitRequest & Pick<WriteRequest, "kind"> & {
    readonly chunks: readonly Uint8Array[];
  },
): Promise<Committed> {
  const segments = await storeChunks(writer, chunks, 0);
  return await commitStored(writer, { ...request, segments, fields: {} });
}

async function commitStored(
  committer: Committer,
  { kind, segments, contentType, fields, ...request }: Stored & CommitRequest & Pick<WriteRequest, "kind">,
): Promise<Committed> {
  const basis = await commitBasis(request, kind, fields, segments);
  if (kind !== "write") return await commit(committer, { kind, ...basis, segments });
  const mimeType = contentType ?? detectMediaType(request.path, segments.every(({ isText }) => isText));
  return await commit(committer, { kind, ...basis, segments, mimeType });
}

async function storeJson(
  writer: Writer,
  body: z.ZodType<WriteFields>,
  request: WriteRequest,
  authorization: Authorization | undefined,
): Promise<Stored> {
  const { content, ...fields } = await readBody(writer, body);
  const path = request.path ?? checkPath(fields.path ?? "");
  const chunks = await contentBytes(content, fields.isBase64 ?? false);
  const segments = await storeChunks(writer, chunks, bytesBefore(request, authorization));
  const { contentType, ifVersion } = fields;
  return { path, segments, contentType: contentType ?? undefined, ifVersion: ifVersion ?? undefined, fields };
}

/** Stores content for a file that keeps `beforeBytes`, as far as the request knows them. */
async function storeChunks(
  writer: ChunkWriter,
  chunks: readonly Uint8Array[],
  beforeBytes: number,
): Promise<Segment[]> {
  const addedBytes = chunks.reduce((total, chunk) => total + chunk.length, 0);
  writer.gate.ensureWithinTier(beforeBytes + addedBytes);
  return await storeContent(writer, drainAndDetach(chunks));
}

const NOTHING = "must not be empty";

/** Stores the body while it arrives, and refuses it as soon as it is too large. */
async function storeRaw(
  writer: Writer,
  request: WriteRequest,
  authorization: Authorization | undefined,
): Promise<Stored> {
  const { gate, deadline, request: { headers } } = writer;
  // Checked first, so that the order of checks does not depend on whether this isolate knows the key.
  ensureUnencoded(headers);
  const declared = declaredBytes(headers);
  if (request.kind === "append" && declared === 0) failField("content", NOTHING);
  const before = bytesBefore(request, authorization);
  gate.ensureWithinTier(before + (declared ?? 0));
  const body = isLargeBody(headers)
    ? await openBody(writer, Math.min(declared ?? RAW_UPLOAD_BYTES, RAW_UPLOAD_BYTES))
    : undefined;
  let addedBytes = 0;
  async function* counted() {
    for await (const chunk of requestChunks(writer, "VALIDATION_ERROR")) {
      addedBytes += chunk.length;
      gate.ensureWithinTier(before + addedBytes);
      await body?.hold(Math.min(addedBytes, RAW_UPLOAD_BYTES));
      // At most RAW_UPLOAD_BYTES are in memory, so for each further chunk the same number of bytes was moved into
      // Storage.
      if (addedBytes > RAW_UPLOAD_BYTES) deadline.extend(chunk.length);
      yield chunk;
      detach(chunk);
    }
  }
  const segments = await storeContent(writer, counted());
  if (request.kind === "append" && addedBytes === 0) failField("content", NOTHING);
  const { path = "", contentType, ifVersion } = request;
  return { path, segments, fields: { raw: true, type: contentType, ifVersion } };
}

/** Authorizes the request. Returns the file at the path where that matters before the commit. */
async function authorize({ gate }: Writer, request: WriteRequest): Promise<Authorization | undefined> {
  const { kind, path, idempotencyKey } = request;
  const authorization = await gate.authorize(kind === "write" ? undefined : path);
  // A repeated request gets the answer of its first try, even if the file was deleted since. In a branch, the commit
  // finds out first whether the branch has ended.
  const isKnown = kind !== "write" && idempotencyKey === undefined && !isInBranch(path ?? "");
  return isKnown ? authorization : undefined;
}

/**
 * The bytes that the file keeps, as far as this request knows their number: an append keeps all. Refuses a missing file
 * before any byte is stored. The commit checks again.
 */
function bytesBefore({ kind }: WriteRequest, authorization: Authorization | undefined): number {
  if (!authorization) return 0;
  const { file, deletedVersion } = authorization;
  const details = deletedVersion === null ? undefined : { deletedVersion };
  if (!file) fail("FILE_NOT_FOUND", messageOf("FILE_NOT_FOUND", details ?? {}), details);
  return kind === "append" ? file.size : 0;
}
