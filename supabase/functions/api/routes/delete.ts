/** DELETE /files/{path}: a tombstone becomes the latest version; with `?purge` the file is erased for good. */
import { z } from "zod";
import { purged, tombstone } from "../contract/files.ts";
import type { Context } from "../context.ts";
import { commit, commitBasis, type CommitRequest, parseCommitRequest } from "../files/commit.ts";
import { isSet, type Query } from "../http/query.ts";
import { type Success, written } from "../http/respond.ts";
import { ERASED_VERSIONS_MAX } from "../limits.ts";
import { ifVersionParameter, parseIfVersion, WRITE_HEADERS } from "./schemas.ts";
import { defineRoute } from "../route.ts";

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
  method: "DELETE",
  pattern: "/files/*",
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
    answer: [["delete_file", tombstone], ["purge_file", purged]],
    errors: ["FILE_NOT_FOUND"],
  },
});
