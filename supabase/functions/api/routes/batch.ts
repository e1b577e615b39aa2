/** POST /batch: several operations as one commit. */
import { z } from "zod";
import { mediaType } from "../contract/media_types.ts";
import type { Context } from "../context.ts";
import { ApiError, fail, failField } from "../errors.ts";
import { commitBatch, type Operation, refuseAt } from "../files/batch.ts";
import { Base64Decoder, NOT_BASE64, readBody, textField } from "../http/json_request.ts";
import { isLargeBody } from "../http/body.ts";
import { idempotencyKey } from "../http/conditions.ts";
import { checkPath } from "../http/path.ts";
import { endOfPart } from "../http/respond.ts";
import {
  BATCH_BYTES_MAX,
  BATCH_OPERATIONS_MAX,
  CONTENT_LENGTH_MAX,
  INTEGER_MAX,
  OPERATIONS_PER_REQUEST,
} from "../limits.ts";
import { concatenate } from "../runtime/bytes.ts";
import { Work } from "../runtime/work.ts";
import { parseDestination } from "./copy_move_restore.ts";
import { EDIT_ERRORS, editFields, parseEdits } from "./edit.ts";
import { ifVersionField } from "./schemas.ts";
import { defineRoute } from "../route.ts";
import { counted } from "../runtime/counted.ts";

/** Content is encoded in parts of this length. */
const PART_LENGTH = 256 * 1024;
/** Units of work for each character that is encoded, or decoded from base64. */
const ENCODE_UNITS = 4;

const common = { path: z.string().meta({ minLength: 1 }), ...ifVersionField };
const content = { content: textField(0, CONTENT_LENGTH_MAX), isBase64: z.boolean().nullish() };
const destination = { destination: z.string().meta({ minLength: 1 }), overwrite: z.boolean().nullish() };

const operation = z.discriminatedUnion("op", [
  z.object({ op: z.literal("write"), ...common, ...content, contentType: mediaType.nullish() }),
  z.object({ op: z.literal("append"), ...common, ...content, content: textField(1, CONTENT_LENGTH_MAX) }),
  z.object({ op: z.literal("overwrite"), ...common, ...content }),
  z.object({ op: z.literal("edit"), ...common, ...editFields }),
  z.object({ op: z.literal("delete"), ...common }),
  z.object({ op: z.literal("restore"), ...common, version: z.int().min(1).max(INTEGER_MAX) }),
  z.object({ op: z.literal("copy"), ...common, ...destination }),
  z.object({ op: z.literal("move"), ...common, ...destination }),
]);

const body = z.object({
  operations: z.array(operation).min(1).max(BATCH_OPERATIONS_MAX).meta({
    description: "In order: each operation sees the results of the earlier ones.",
  }),
});

/**
 * The validated body. The number of requests that it counts as is known once it is read; an invalid body counts as one.
 */
async function readOperations(context: Context): Promise<Operation[]> {
  const { gate, request: { headers } } = context;
  if (gate.grant === undefined || isLargeBody(headers)) await gate.authorizeWithoutCounting();
  const bounds = { fieldsBytesMax: BATCH_BYTES_MAX, stringBytesMax: BATCH_BYTES_MAX };
  const fields = await readBody(context, body, bounds);
  const length = fields.operations.reduce((sum, one) => sum + ("content" in one ? one.content.length : 0), 0);
  if (length > CONTENT_LENGTH_MAX) {
    const limits = { limit: CONTENT_LENGTH_MAX, length };
    fail("CONTENT_TOO_LARGE", "The content of the operations is too long for one request.", limits);
  }
  const work = new Work();
  const operations: Operation[] = [];
  for (const [index, one] of fields.operations.entries()) {
    const content = "content" in one ? await bytesOf(one, index, work) : new Uint8Array();
    operations.push(refuseAt(index, () => parseOperation(one, content, index)));
  }
  return operations;
}

function parseOperation(
  { ifVersion: given, ...one }: z.infer<typeof operation>,
  content: Uint8Array,
  index: number,
): Operation {
  const path = checkedPath(one.path, `operations.${index}.path`);
  const ifVersion = given ?? undefined;
  switch (one.op) {
    case "write":
      return { kind: "write", path, ifVersion, content, contentType: one.contentType ?? undefined };
    case "append":
    case "overwrite":
      return { kind: one.op, path, ifVersion, content };
    case "edit": {
      const { op: kind, path: _, ...fields } = one;
      return { kind, path, ifVersion, edits: parseEdits(fields, `operations.${index}.`).edits };
    }
    case "delete":
      return { kind: "delete", path, ifVersion };
    case "restore":
      return { kind: "restore", path, ifVersion, version: one.version };
    case "copy":
    case "move": {
      checkedPath(one.destination, `operations.${index}.destination`);
      return { kind: one.op, path, ifVersion, ...parseDestination(path, one, `operations.${index}.`) };
    }
  }
}

function checkedPath(path: string, field: string): string {
  try {
    return checkPath(path);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ApiError(error.code, `${field}: ${error.message}`, error.details);
  }
}

async function bytesOf(
  { content, isBase64 }: { readonly content: string; readonly isBase64?: boolean | null | undefined },
  index: number,
  work: Work,
): Promise<Uint8Array> {
  const decoder = new Base64Decoder();
  const parts: Uint8Array[] = [];
  for (let from = 0; from < content.length;) {
    const to = endOfPart(content, from, PART_LENGTH);
    const bytes = new TextEncoder().encode(content.slice(from, to));
    parts.push(isBase64 ? decoder.push(bytes) ?? throwInvalidBase64(index) : bytes);
    if (work.add(ENCODE_UNITS * (to - from))) await work.pause();
    from = to;
  }
  if (isBase64 && !decoder.finish()) throwInvalidBase64(index);
  return concatenate(parts);
}

function throwInvalidBase64(index: number): never {
  failField(`operations.${index}.content`, NOT_BASE64, { index });
}

export const batch = defineRoute({
  operation: "batch",
  allows: { write: "create and change files" },
  makesVersions: true,
  parse: ({ headers }) => idempotencyKey(headers),
  async handle(context, key) {
    const operations = await readOperations(context);
    await context.gate.require(
      operations.some(({ kind }) => kind === "edit") ? ["read", "write"] : ["write"],
    );
    const { results, isReplayed } = await commitBatch(context, operations, key);
    return { data: { results }, message: `${counted(results.length, "operation")} done.`, isReplayed };
  },
  openapi: {
    summary: "Execute several operations as one commit: all of them, or none",
    description:
      `Readers see all of its results or none. It counts as one request for each ${OPERATIONS_PER_REQUEST} operations, rounded up. ` +
      "`details.index` names the first operation that failed; the other details are those of that operation.",
    body,
    headers: ["Idempotency-Key"],
    answer: "batchResults",
    errors: [
      ...EDIT_ERRORS,
      "INVALID_PATH",
      "VERSION_NOT_FOUND",
      "VERSION_DELETED",
      "VERSION_REDACTED",
      "FILE_ALREADY_EXISTS",
      ["FILE_ALREADY_EXISTS", 412],
      "PRECONDITION_FAILED",
    ],
    example: {
      operations: [
        { op: "append", path: "notes/log.md", content: "- planned\n" },
        { op: "move", path: "notes/plan.md", destination: "archive/plan.md" },
      ],
    },
  },
});
