/** Append and overwrite: new content for a file that exists. */
import type { z } from "zod";
import type { Context } from "../context.ts";
import { fail } from "../errors.ts";
import type { Admission, FileRecord } from "../ports.ts";
import { contentBytes, type ContentText, isLargeBody, readBody } from "../request_body.ts";
import { filePath } from "../request_path.ts";
import { commit } from "./commit.ts";
import { storeContent } from "./store_content.ts";

/** A body with content for a file that exists. */
export type ContentBody = z.ZodType<{ content: ContentText; isBase64?: boolean | null | undefined }>;

/** Reads the body, stores its content and commits it to the file that the URL names after `prefix`. */
export async function replaceContent(
  context: Context,
  kind: "append" | "overwrite",
  prefix: string,
  body: ContentBody,
): Promise<FileRecord> {
  const { gate } = context;
  const path = await gate.check(() => filePath(context, prefix));
  let admission: Admission | undefined;
  const isKnown = gate.grant !== undefined && !isLargeBody(context.request.headers);
  const fields = await readBody(
    context,
    body,
    isKnown ? null : async () => {
      admission = await gate.admit(path);
    },
  );
  const chunks = await gate.check(() => contentBytes(fields.content, fields.isBase64 ?? false));
  if (admission) refuseEarly(context, kind, admission, chunks);
  const segments = await storeContent(context, chunks);
  const { file } = await commit(context, { kind, path, commitId: crypto.randomUUID(), segments });
  return file;
}

/** What the database has just said is enough to refuse before any byte is stored. The commit checks again. */
function refuseEarly(
  { gate }: Context,
  kind: "append" | "overwrite",
  { file }: Admission,
  chunks: readonly Uint8Array[],
): void {
  if (file === null) fail("FILE_NOT_FOUND", "There is no file at this path.");
  const limitBytes = gate.grant?.maxFileBytes ?? null;
  const added = chunks.reduce((total, chunk) => total + chunk.length, 0);
  const sizeBytes = kind === "append" ? file.size + added : added;
  if (limitBytes !== null && sizeBytes > limitBytes) {
    fail("CONTENT_TOO_LARGE", "The file would be larger than the project's tier allows.", {
      limitBytes,
      sizeBytes,
      tier: gate.grant?.tier,
    });
  }
}
