/** PUT /files/move/{path}: copy, and a tombstone of the source, both or neither. */
import { commitRequest } from "../files/commit_request.ts";
import { copyBody, destinationOf } from "./copy_body.ts";
import { written } from "../http/respond.ts";
import type { Route } from "./route.ts";
import { BODY_ERRORS, fileRecord, WRITE_ERRORS, WRITE_HEADERS } from "./schemas.ts";

export const move: Route = {
  method: "PUT",
  pattern: "/files/move/*",
  operation: "move_file",
  needsKey: true,
  handle: async (context) => {
    const committed = await commitRequest(
      context,
      "/files/move/",
      "move",
      copyBody,
      true,
      (basis, fields) => ({
        kind: "move",
        ...basis,
        ...destinationOf(basis.path, fields),
        sourceCommitId: crypto.randomUUID(),
      }),
    );
    const { path, version } = committed.file;
    return written("move_file", committed, `Moved; version ${version} of ${path}.`);
  },
  document: {
    id: "moveFile",
    summary: "Move a file to another path",
    description: "A copy and a tombstone of the source, in one transaction. Moves no bytes.",
    body: copyBody,
    headers: WRITE_HEADERS,
    answer: fileRecord,
    errors: [...WRITE_ERRORS, ...BODY_ERRORS, "FILE_ALREADY_EXISTS"],
  },
};
