import { z } from "zod";
import type { Context } from "../../context.ts";
import type { FileRecord } from "../../contract/files.ts";
import { ApiError } from "../../errors.ts";
import { readRange } from "../../files/read_segments.ts";
import { writeChunks } from "../../files/write_content.ts";
import { MCP_APPEND_TRIES_MAX } from "../../limits.ts";
import type { Committed } from "../../ports/commit.ts";
import type { Content } from "../../ports/files.ts";
import { counted } from "../../runtime/counted.ts";
import { Work } from "../../runtime/work.ts";
import { path, text, whole } from "../arguments.ts";
import { ToolRefusal } from "../failures.ts";
import { describeVersion, shownPath } from "../text.ts";
import { defineTool } from "../tool.ts";
import {
  alreadyAppliedRefusal,
  contentAt,
  isVersionConflict,
  lastWriter,
  versionRefusal,
} from "../version_conflicts.ts";

export const writeFile = defineTool({
  name: "write_file",
  title: "Write a file",
  description:
    "Creates a text file, or replaces all of it; folders need not exist. To replace a file, send the version that " +
    "you read as expected_version: if a newer version exists, nothing is written, and the result shows the " +
    "changes. To change a part of a file, use edit_file; to add to its end, append_file. No version is ever lost.",
  scopes: ["write"],
  effect: "replaces",
  input: z.object({
    path: path(),
    content: text("The whole content."),
    expected_version: whole(
      "The version to replace, as read_file showed it. 0 or left out: only create a file that does not exist.",
      0,
    ).optional(),
  }),
  async run(context, { path, content, expected_version: expected = 0 }) {
    try {
      const { file } = await writeChunks(context, {
        kind: "write",
        path,
        chunks: [new TextEncoder().encode(content)],
        idempotencyKey: undefined,
        ifVersion: expected,
      });
      return await describeWritten(file, content);
    } catch (error) {
      if (!isVersionConflict(error)) throw error;
      throw await explainWrite(context, error, { path, expected, content, isAppend: false });
    }
  },
});

/** `Wrote notes/plan.md: version 8, 12 lines, 345 bytes.`, and what to send with the next write. */
async function describeWritten({ path, version, size }: FileRecord, content: string): Promise<string> {
  const did = version === 1 ? "Created" : "Wrote";
  return `${did} ${shownPath(path)}: version ${version}, ${counted(await countLines(content), "line")}, ` +
    `${counted(size, "byte")}. To replace it, send expected_version=${version}.`;
}

/** Units of work for each line. */
const LINE_UNITS = 16;

async function countLines(content: string): Promise<number> {
  const work = new Work();
  let lines = 0;
  for (let from = 0; from < content.length; lines++) {
    const feed = content.indexOf("\n", from);
    const to = feed < 0 ? content.length : feed + 1;
    if (work.add(LINE_UNITS + to - from)) await work.pause();
    from = to;
  }
  return lines;
}

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
      throw await explainWrite(context, error, { path, expected, content, isAppend: true });
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

/**
 * The refusal to report of a write whose expected version is not the latest. A client that lost the answer repeats its
 * call: then the file has the content already.
 */
async function explainWrite(
  context: Context,
  { code, details }: ApiError,
  { path, expected, content, isAppend }: {
    readonly path: string;
    readonly expected: number;
    readonly content: string;
    readonly isAppend: boolean;
  },
): Promise<ToolRefusal> {
  const bytes = new TextEncoder().encode(content);
  const hasContent = async (version: Content | undefined) =>
    version !== undefined && (isAppend || version.file.size === bytes.length) &&
    await endsWith(context, version, bytes);
  const latest = await contentAt(context, path);
  if (latest && await hasContent(latest)) {
    const what = `${isAppend ? "the end of " : ""}version ${latest.file.version} of ${shownPath(path)}`;
    return alreadyAppliedRefusal(code, `Your content is already ${what}`);
  }
  if (expected === 0) return await existsRefusal(context, path, latest, details);
  // If the version after the expected one has the content, an earlier call committed it, and other changes followed.
  const isOld = latest !== undefined && latest.file.version > expected + 1 &&
    await hasContent(await contentAt(context, path, expected + 1));
  const advice = isAppend
    ? isOld
      ? `Your content was already added, in version ${expected + 1}: add it again only if it was removed.`
      : "The file does not end with your content. Append it if it is still right."
    : isOld
    ? `Your content was already written, as version ${expected + 1}: ` +
      "write again only if it must replace what others wrote after you."
    : "Work these changes into your content.";
  return await versionRefusal(context, latest, { path, expected, details, advice });
}

/** The refusal of a write to a file that exists, without `expected_version`. */
async function existsRefusal(
  context: Context,
  path: string,
  latest: Content | undefined,
  details: ApiError["details"],
): Promise<ToolRefusal> {
  const version = latest?.file.version ?? details?.["version"];
  const state = latest
    ? `${describeVersion(latest.file)}${await lastWriter(context, latest)}`
    : `version ${version}`;
  return new ToolRefusal(
    "FILE_ALREADY_EXISTS",
    `${shownPath(path)} exists already: ${state}. Nothing was written. To change a part of it, use ` +
      `edit_file. To replace all of it, read it first, then send expected_version=${version}.`,
  );
}

async function endsWith(context: Context, content: Content, bytes: Uint8Array): Promise<boolean> {
  const start = content.file.size - bytes.length;
  if (start < 0) return false;
  const work = new Work();
  let at = 0;
  for await (const part of readRange(context, content.segments, { start, end: content.file.size - 1 })) {
    if (work.add(part.length)) await work.pause();
    for (const byte of part) if (byte !== bytes[at++]) return false;
  }
  return true;
}
