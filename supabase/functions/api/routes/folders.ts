/** Folders: changes of every file below a folder, as one commit. */
import { z } from "zod";
import { readFields } from "../http/json_request.ts";
import { failField } from "../errors.ts";
import { commitMany } from "../files/commit_many.ts";
import { idempotencyKey } from "../http/conditions.ts";
import { normalizeDirectory } from "../http/path.ts";
import { validateQuery } from "../http/validate.ts";
import { COMMIT_FILES_MAX } from "../limits.ts";
import type { FolderCommitted } from "../ports/commit.ts";
import type { Success } from "../http/respond.ts";
import { defineRoute, type Definition } from "../route.ts";
import type { OpenapiProperties } from "../openapi_properties.ts";
import { pastMoment } from "./schemas.ts";
import { counted } from "../runtime/counted.ts";

const body = z.object({
  path: z.string().meta({ minLength: 1, description: "The folder." }),
  destination: z.string().meta({ minLength: 1, description: "The folder that receives its files." }),
  overwrite: z.boolean().nullish().meta({
    description: "Add a version to files that exist at the destination.",
  }),
});

const query = z.object({ at: pastMoment("The folder") });

const ERRORS = ["INVALID_PATH", "FILE_NOT_FOUND", "VERSION_CONFLICT", "TOO_MANY_FILES"] as const;

/** Source and destination. Throws VALIDATION_ERROR if the one cannot be copied to the other. */
function parseFolders(fields: z.infer<typeof body>) {
  const path = normalizeDirectory(fields.path);
  if (path === "") failField("path", "must not be the root");
  const destination = normalizeDirectory(fields.destination);
  if (destination === "") failField("destination", "must not be the root");
  if (destination === path || destination.startsWith(`${path}/`)) {
    failField("destination", "must not be the folder itself, or inside it");
  }
  return { path, destination, overwrite: fields.overwrite ?? false };
}

function done(verb: string, { value, isReplayed }: FolderCommitted): Success {
  return { data: value, message: `${verb} ${counted(value.count, "file")}.`, isReplayed };
}

/** Copies or moves. Only a copy can read the folder at an earlier moment. */
function placing(kind: "copy_folder" | "move_folder", verb: string, openapi: OpenapiProperties): Definition {
  return defineRoute({
    operation: kind,
    allows: { write: "copy and move files and folders" },
    makesVersions: true,
    parse: ({ headers, query: given }) => ({ key: idempotencyKey(headers), ...validateQuery(query, given) }),
    async handle(context, { key, at }) {
      if (at !== undefined) context.onEnd(await context.beginCostly());
      const fields = { ...parseFolders(await readFields(context, body)), at };
      return done(verb, await commitMany(context, key, { kind, ...fields }));
    },
    openapi: {
      body,
      headers: ["Idempotency-Key"],
      answer: "folderResult",
      errors: [...ERRORS, "FILE_ALREADY_EXISTS", "QUOTA_EXCEEDED"],
      example: { path: "notes", destination: "archive" },
      ...openapi,
    },
  });
}

export const copyFolder = placing("copy_folder", "Copied", {
  summary: "Copy a folder",
  description:
    `Copies every file below, up to ${COMMIT_FILES_MAX}, in one transaction, without copying bytes.`,
  query,
});

export const moveFolder = placing("move_folder", "Moved", {
  summary: "Move a folder",
  description:
    `Moves every file below, up to ${COMMIT_FILES_MAX}, in one transaction, and leaves tombstones. Copies no bytes.`,
});

export const deleteFolder = defineRoute({
  operation: "delete_folder",
  allows: { write: "delete files and folders" },
  makesVersions: true,
  parse: ({ params, headers }) => ({ path: params.path, key: idempotencyKey(headers) }),
  async handle(context, { path, key }) {
    return done("Deleted", await commitMany(context, key, { kind: "delete_folder", path }));
  },
  openapi: {
    summary: "Delete a folder",
    description: `Adds a tombstone to every file below, up to ${COMMIT_FILES_MAX}, in one transaction.`,
    headers: ["Idempotency-Key"],
    answer: "folderResult",
    errors: ERRORS,
  },
});
