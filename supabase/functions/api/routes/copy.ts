/** PUT /files/copy/{path}: the current content becomes the next version of another path. */
import { commitRequest } from "../files/commit_request.ts";
import { copyBody, destinationOf } from "./copy_body.ts";
import { written } from "../http/respond.ts";
import type { Route } from "./route.ts";
import { BODY_ERRORS, fileRecord, WRITE_ERRORS, WRITE_HEADERS } from "./schemas.ts";

export const copy: Route = {
  method: "PUT",
  pattern: "/files/copy/*",
  operation: "copy_file",
  needsKey: true,
  handle: async (context) => {
    const committed = await commitRequest(
      context,
      "/files/copy/",
      "copy",
      copyBody,
      true,
      (basis, fields) => ({
        kind: "copy",
        ...basis,
        ...destinationOf(basis.path, fields),
      }),
    );
    const { path, version } = committed.file;
    return written("copy_file", committed, `Copied; version ${version} of ${path}.`);
  },
  document: {
    id: "copyFile",
    summary: "Copy a file to another path",
    description: "The current content becomes the next version of the destination. Moves no bytes.",
    body: copyBody,
    headers: WRITE_HEADERS,
    answer: fileRecord,
    errors: [...WRITE_ERRORS, ...BODY_ERRORS, "FILE_ALREADY_EXISTS"],
  },
};
