import { z } from "zod";
import type { Context } from "../../context.ts";
import { ApiError } from "../../errors.ts";
import { writeChunks } from "../../files/write_content.ts";
import { MCP_APPEND_TRIES_MAX } from "../../limits.ts";
import type { Committed } from "../../ports/commit.ts";
import { expectedVersion, path, text } from "../arguments.ts";
import {
  alreadyAppliedRefusal,
  endsWith,
  existsRefusal,
  isVersionConflict,
  latestContent,
  versionRefusal,
  wasAlreadyApplied,
} from "../version_conflicts.ts";
import type { ToolRefusal } from "../failures.ts";
import { counted, shownPath } from "../text.ts";
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
    expected_version: expectedVersion(
      "Add only if this is the latest version. 0: only create the file. If left out, the text is always added.",
    ),
  }),
  async run(context, { path, content, expected_version: expected }) {
    try {
      const { file } = await append(context, path, content, expected);
      const did = file.version === 1 ? "Created" : "Appended to";
      return `${did} ${shownPath(path)}: version ${file.version}, ${counted(file.size, "byte")}.`;
    } catch (error) {
      if (expected === undefined || !isVersionConflict(error)) throw error;
      throw await explain(context, path, content, expected, error);
    }
  },
});

/** Adds to the file, or creates it, even where others create or delete it meanwhile. */
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

async function explain(
  context: Context,
  path: string,
  content: string,
  expected: number,
  error: ApiError,
): Promise<ToolRefusal> {
  const bytes = new TextEncoder().encode(content);
  const latest = await latestContent(context, path);
  if (latest && await endsWith(context, latest, bytes)) {
    return alreadyAppliedRefusal(
      error.code,
      `Your content is already the end of version ${latest.file.version} of ${shownPath(path)}`,
    );
  }
  if (expected === 0) return await existsRefusal(context, path, latest, error.details);
  const isOld = latest !== undefined && latest.file.version > expected + 1 &&
    await wasAlreadyApplied(context, path, expected, (next) => endsWith(context, next, bytes));
  const advice = isOld
    ? `Your content was already added, in version ${expected + 1}: add it again only if it was removed.`
    : "Your content is not the end of the file. Add it if it is still right.";
  return await versionRefusal(context, latest, { path, expected, details: error.details, advice });
}
