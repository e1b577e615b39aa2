import { z } from "zod";
import type { Context } from "../../context.ts";
import { ApiError } from "../../errors.ts";
import { writeChunks } from "../../files/write_content.ts";
import { MCP_APPEND_TRIES_MAX } from "../../limits.ts";
import type { Committed } from "../../ports/commit.ts";
import { path, text, whole } from "../arguments.ts";
import { explainWrite, isVersionConflict } from "../version_conflicts.ts";
import { shownPath } from "../text.ts";
import { counted } from "../../runtime/counted.ts";
import { defineTool } from "../tool.ts";

export const appendFile = defineTool({
  name: "append_file",
  title: "Add to the end of a file",
  description:
    "Adds text to the end of a file, or creates the file if there is none. Use it for logs and notes that several " +
    "agents keep: no text is lost, and you need not read the file first. The text is added unchanged, so end it " +
    "with a line break. Send expected_version if a repeated call must not add the text twice.",
  scopes: ["write"],
  effect: "adds",
  input: z.object({
    path: path(),
    content: text("The text to add.", 1),
    expected_version: whole(
      "Add only if this is the latest version. 0: only create the file. If left out, the text is always added.",
      0,
    ).optional(),
  }),
  async run(context, { path, content, expected_version: expected }) {
    try {
      const { file } = await append(context, path, content, expected);
      const did = file.version === 1 ? "Created" : "Appended to";
      return `${did} ${shownPath(path)}: version ${file.version}, ${counted(file.size, "byte")}.`;
    } catch (error) {
      if (expected === undefined || !isVersionConflict(error)) throw error;
      throw await explainWrite(context, { path, expected, content, isAppend: true, error });
    }
  },
});

/** Adds to the file, or creates it, even if other requests create or delete it in the meantime. */
async function append(
  context: Context,
  path: string,
  content: string,
  expected: number | undefined,
): Promise<Committed> {
  const request = () => ({ path, chunks: [new TextEncoder().encode(content)], idempotencyKey: undefined });
  for (let tries = 1;; tries++) {
    if (expected !== 0) {
      const added = await writeChunks(context, { kind: "append", ...request(), ifVersion: expected })
        .catch((error) =>
          expected === undefined && isAbout(error, "FILE_NOT_FOUND") ? null : Promise.reject(error)
        );
      if (added) return added;
    }
    const created = await writeChunks(context, { kind: "write", ...request(), ifVersion: 0 })
      .catch((error) => {
        const isRace = expected === undefined && isAbout(error, "FILE_ALREADY_EXISTS");
        return isRace && tries < MCP_APPEND_TRIES_MAX ? null : Promise.reject(error);
      });
    if (created) return created;
  }
}

function isAbout(error: unknown, code: ApiError["code"]): boolean {
  return error instanceof ApiError && error.code === code;
}
