import { z } from "zod";
import type { Context } from "../../context.ts";
import type { ApiError } from "../../errors.ts";
import { writeChunks } from "../../files/write_content.ts";
import type { FileRecord } from "../../contract/files.ts";
import { Work } from "../../runtime/work.ts";
import { expectedVersion, path, text } from "../arguments.ts";
import {
  alreadyAppliedRefusal,
  equals,
  existsRefusal,
  isVersionConflict,
  latestContent,
  versionRefusal,
  wasAlreadyApplied,
} from "../version_conflicts.ts";
import type { ToolRefusal } from "../failures.ts";
import { counted, shownPath } from "../text.ts";
import { defineTool } from "../tool.ts";

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
    expected_version: expectedVersion(
      "The version to replace, as read_file showed it. 0 or left out: only create a file that does not exist.",
    ),
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
      throw await explain(context, path, content, expected, error);
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

/** The refusal to report. A client that lost the answer repeats its call: then the file has the content already. */
async function explain(
  context: Context,
  path: string,
  content: string,
  expected: number,
  error: ApiError,
): Promise<ToolRefusal> {
  const bytes = new TextEncoder().encode(content);
  const latest = await latestContent(context, path);
  if (latest && await equals(context, latest, bytes)) {
    return alreadyAppliedRefusal(
      error.code,
      `Your content is already version ${latest.file.version} of ${shownPath(path)}`,
    );
  }
  if (expected === 0) return await existsRefusal(context, path, latest, error.details);
  const isOld = latest !== undefined && latest.file.version > expected + 1 &&
    await wasAlreadyApplied(context, path, expected, (next) => equals(context, next, bytes));
  const advice = isOld
    ? `Your content was already written, as version ${
      expected + 1
    }: write again only if it must replace what others ` +
      "wrote after you."
    : "Work these changes into your content.";
  return await versionRefusal(context, latest, { path, expected, details: error.details, advice });
}
