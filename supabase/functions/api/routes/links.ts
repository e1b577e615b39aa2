/**
 * /links and /l/{token}: addresses that read one file, or write it once, without a key. The user of a link acts as
 * the key that created it. A token is shown once; only its hash is stored.
 */
import { z } from "zod";
import { purpose } from "../contract/links.ts";
import { mediaType } from "../contract/media_types.ts";
import { readFields } from "../http/json_request.ts";
import { ERRORS, fail } from "../errors.ts";
import { rawResponse } from "../files/content_response.ts";
import { issueLink } from "../files/links.ts";
import { namedMediaType, writeContent } from "../files/write_content.ts";
import {
  ensureReadConditions,
  entityTag,
  idempotencyKey,
  isNotModified,
  preconditions,
} from "../http/conditions.ts";
import { attachment } from "../http/content_disposition.ts";
import { checkPath } from "../http/path.ts";
import { notModified, written } from "../http/respond.ts";
import {
  INTEGER_MAX,
  LINK_SECONDS_DEFAULT,
  LINK_SECONDS_MAX,
  LINK_SECONDS_MIN,
  WRITE_LINK_SECONDS_MAX,
} from "../limits.ts";
import { defineRoute } from "../route.ts";
import { UNREADABLE } from "./read.ts";
import { WRITE_HEADERS } from "./schemas.ts";
import { counted } from "../runtime/counted.ts";

/** By the purpose of a link: the fields that only links for the other purpose have. */
const OF_OTHERS = { read: ["contentType", "maxBytes", "ifVersion"], write: ["version"] } as const;

const creation = z.object({
  path: z.string().meta({ minLength: 1 }),
  for: purpose,
  expiresIn: z.int().min(LINK_SECONDS_MIN).max(LINK_SECONDS_MAX).nullish().meta({
    description:
      `Seconds; by default ${LINK_SECONDS_DEFAULT}. For writing at most ${WRITE_LINK_SECONDS_MAX}.`,
  }),
  version: z.int().min(1).max(INTEGER_MAX).nullish().meta({
    description: "For reading: this version instead of the latest one.",
  }),
  contentType: mediaType.nullish().meta({ description: "For writing: the type of the file." }),
  maxBytes: z.int().min(1).nullish().meta({ description: "For writing: the largest size." }),
  ifVersion: z.int().min(0).max(INTEGER_MAX).nullish().meta({
    description: "For writing: the version that the file must have at the upload; 0: there must be no file.",
  }),
}).superRefine((fields, context) => {
  const isRead = fields.for === "read";
  for (const name of OF_OTHERS[fields.for]) {
    const isAbsent = fields[name] === undefined || fields[name] === null;
    const message = `is for ${isRead ? "writing" : "reading"} only`;
    if (!isAbsent) context.addIssue({ code: "custom", path: [name], message });
  }
  if (!isRead && (fields.expiresIn ?? 0) > WRITE_LINK_SECONDS_MAX) {
    const message = `must be at most ${WRITE_LINK_SECONDS_MAX} for writing`;
    context.addIssue({ code: "custom", path: ["expiresIn"], message });
  }
});

export const createLink = defineRoute({
  operation: "create_link",
  allows: { write: "create and end links" },
  async handle(context) {
    const { path, expiresIn, ...fields } = await readFields(context, creation);
    const seconds = expiresIn ?? LINK_SECONDS_DEFAULT;
    const data = await issueLink(context, { ...fields, path: checkPath(path), expiresIn: seconds });
    return { data, message: "Created. The address will not be shown again." };
  },
  openapi: {
    summary: "Create an address that reads one file, or writes it once, without a key",
    description:
      "The link acts as the key that created it, and ends when that key is revoked or expires; a rotation does not end it. A link for reading also needs the scope `read`. A repeated request creates another link.",
    body: creation,
    answer: "createdLink",
    errors: ["INVALID_PATH", "FILE_NOT_FOUND", "VERSION_NOT_FOUND", "VERSION_REDACTED", "LINK_LIMIT_REACHED"],
    example: { path: "notes/plan.md", for: "read", expiresIn: LINK_SECONDS_DEFAULT },
  },
});

export const listLinks = defineRoute({
  operation: "list_links",
  allows: { read: "list links", admin: "see which key did what" },
  async handle({ gate, metadata }) {
    const links = gate.unwrap(await metadata.listLinks(gate.caller));
    return { data: { links }, message: `${counted(links.length, "link")}.` };
  },
  openapi: {
    summary: "List the links that still work, newest first, without their addresses",
    answer: "linkList",
  },
});

export const revokeLink = defineRoute({
  operation: "revoke_link",
  allows: { write: "create and end links" },
  parse({ params: { id } }) {
    if (!z.uuid().safeParse(id).success) fail("LINK_NOT_FOUND", ERRORS.LINK_NOT_FOUND.message);
    return id;
  },
  async handle({ gate, metadata }, id) {
    const revoked = gate.unwrap(await metadata.revokeLink(gate.caller, id));
    return { data: revoked, message: "Revoked." };
  },
  openapi: {
    summary: "Revoke a link immediately",
    answer: "revokedLink",
    errors: ["LINK_NOT_FOUND"],
  },
});

export const readLink = defineRoute({
  operation: "read_link",
  credentials: "link",
  parse({ params: { id }, headers }) {
    ensureReadConditions(headers);
    return id;
  },
  async handle(context, token) {
    const { gate, metadata, request: { headers } } = context;
    await gate.enterLink(token);
    const content = gate.unwrap(await metadata.linkContent(gate.caller));
    if (isNotModified(headers, content.file, "r")) return notModified(entityTag(content.file, "r"));
    return await rawResponse(context, content, {
      "Content-Disposition": attachment(content.file.path),
      "Referrer-Policy": "no-referrer",
    });
  },
  openapi: {
    summary: "Read the bytes of the link's file, or one range of them",
    headers: ["If-None-Match", "Range", "If-Range"],
    returnsRaw: "only",
    responseHeaders: ["Content-Disposition", "Referrer-Policy"],
    errors: [...UNREADABLE, "RANGE_NOT_SATISFIABLE"],
  },
});

export const writeLink = defineRoute({
  operation: "write_link",
  credentials: "link",
  makesVersions: true,
  parse: ({ params: { id }, headers }) => ({
    token: id,
    idempotencyKey: idempotencyKey(headers),
    ...preconditions(headers, true),
  }),
  async handle(context, { token, ...conditions }) {
    const { gate, metadata, usedLinks, request: { headers } } = context;
    await gate.enterLink(token);
    const { keyHash } = gate.caller;
    const isRepeat = conditions.idempotencyKey !== undefined;
    if (usedLinks.peek(keyHash) && !isRepeat) throwUsed();
    const link = gate.unwrap(await metadata.openLink(gate.caller));
    if (link.isUsed) usedLinks.set(keyHash, true);
    if (link.isUsed && !isRepeat) throwUsed();
    // A commit uses up the link.
    const throughLink = {
      commit: metadata.commitLink.bind(metadata),
      compact: metadata.compact.bind(metadata),
    };
    const committed = await writeContent({ ...context, metadata: throughLink }, z.never(), {
      kind: "write",
      isRaw: true,
      path: link.path,
      contentType: link.contentType ?? namedMediaType(headers),
      ifVersion: link.ifVersion ?? undefined,
      ...conditions,
    });
    usedLinks.set(keyHash, true);
    return written(committed, `Wrote version ${committed.file.version}.`);
  },
  openapi: {
    summary: "Write the one version that the link allows: the body is the file's bytes",
    description:
      "The type is the link's, or else the Content-Type, or else follows from the extension. After a refused write the link still works.",
    takesRaw: "only",
    headers: [...WRITE_HEADERS, "If-None-Match"],
    answer: "fileRecord",
    errors: ["LINK_USED", "QUOTA_EXCEEDED"],
  },
});

function throwUsed(): never {
  fail("LINK_USED", ERRORS.LINK_USED.message);
}
