/**
 * DELETE /files/{path}: a tombstone becomes the latest version; with `?purge` the file is erased for good. POST
 * /files/redact/{path}: erases the content of versions for good; their numbers stay.
 */
import { z } from "zod";
import type { Context } from "../context.ts";
import { commit, commitBasis, type CommitRequest, parseCommitRequest } from "../files/commit.ts";
import { readFields } from "../http/json_request.ts";
import { isSet, type Query } from "../http/query.ts";
import { type Success, written } from "../http/respond.ts";
import { CHANGE_NOTE_LENGTH_MAX, ERASED_VERSIONS_MAX, INTEGER_MAX, REDACT_VERSIONS_MAX } from "../limits.ts";
import { defineRoute } from "../route.ts";
import { counted } from "../runtime/counted.ts";
import { ifVersionParameter, parseIfVersion, WRITE_HEADERS } from "./schemas.ts";

const query = z.object({
  purge: z.enum(["", "true", "false"]).optional().meta({
    description:
      "Erase the file for good, with all of its versions, even if it is already deleted. Scope `admin`.",
  }),
  ...ifVersionParameter,
});

/** Whether the query contains the parameter, valid or not. */
function isPurge(query: Query): boolean {
  return query.has("purge") && query.get("purge")?.[0] !== "false";
}

async function purge({ gate, metadata, onCommit }: Context, request: CommitRequest): Promise<Success> {
  const basis = await commitBasis(request, "purge", { ifVersion: request.ifVersion });
  const answer = gate.observe(await metadata.purge(gate.caller, basis));
  if (!answer.ok) {
    // Only `ifVersion` 0 fails because a file exists.
    const isCondition = answer.refusal.code === "FILE_ALREADY_EXISTS";
    return gate.throwRefusal(answer.refusal, isCondition ? 412 : undefined);
  }
  const { value, isReplayed } = answer.value;
  onCommit();
  const message = `Erased ${value.versions} versions for good.`;
  return { data: { path: request.path, ...value }, message, isReplayed };
}

export const deleteFile = defineRoute({
  operation: "delete_file",
  operationOf: (query) => isPurge(query) ? "purge_file" : "delete_file",
  allows: { write: "delete files and folders", admin: "erase files and versions for good" },
  scopesFor: (query) => isPurge(query) ? ["admin"] : undefined,
  makesVersions: true,
  parse: (data) => ({
    ...parseCommitRequest(data),
    ...parseIfVersion(data, false),
    isPurge: isSet(data.query, "purge"),
  }),
  async handle(context, { isPurge, ...request }) {
    if (isPurge) return await purge(context, request);
    const basis = await commitBasis(request, "delete", { ifVersion: request.ifVersion });
    const committed = await commit(context, { kind: "delete", ...basis });
    return written(committed, `Deleted; version ${committed.file.version} is its tombstone.`);
  },
  openapi: {
    summary: "Delete a file, or erase it for good (`?purge`)",
    description:
      "Adds a tombstone: earlier versions stay readable by number and can be restored. `purge` needs the scope " +
      "`admin` and makes all versions unreadable for good: it removes up to " +
      `${ERASED_VERSIONS_MAX} versions immediately; the next sweeps remove the rest. A later write to the path ` +
      "creates a new file, from version 1.",
    query,
    headers: WRITE_HEADERS,
    answer: [["delete_file", "tombstone"], ["purge_file", "purged"]],
    errors: ["FILE_NOT_FOUND"],
  },
});

const body = z.object({
  versions: z.array(z.int().min(1).max(INTEGER_MAX)).min(1).max(REDACT_VERSIONS_MAX),
  note: z.string().refine((note) => !/\p{Cc}/u.test(note), "must have no control characters")
    .refine((note) => [...note].length <= CHANGE_NOTE_LENGTH_MAX, "is too long").nullish().meta({
      maxLength: CHANGE_NOTE_LENGTH_MAX,
      description: "Becomes the change note of these versions; their old notes are erased.",
    }),
});

export const redact = defineRoute({
  operation: "redact_versions",
  allows: { admin: "erase files and versions for good" },
  scopes: ["admin"],
  parse: ({ params }) => ({ path: params.path }),
  async handle(context, { path }) {
    const { versions, note } = await readFields(context, body);
    const { gate, metadata } = context;
    const redaction = { path, versions, note: note ?? undefined };
    const erased = gate.unwrap(await metadata.redact(gate.caller, redaction));
    const message = `Erased the content of ${counted(erased.versions.length, "version")} for good.`;
    return { data: { path, ...erased }, message };
  },
  openapi: {
    summary: "Erase the content of versions for good",
    description:
      "Erasing the content of versions is called redaction. The latest version cannot be redacted, unless the file is " +
      "deleted. Redacted versions stay in the version list, with `redactedAt`; reading, restoring or comparing one is " +
      "`VERSION_REDACTED`. A repeated request returns the versions that remain at that time.",
    body,
    answer: "redacted",
    errors: ["FILE_NOT_FOUND", "VERSION_NOT_FOUND", "VERSION_CURRENT"],
    example: { versions: [2], note: "a password" },
  },
});
