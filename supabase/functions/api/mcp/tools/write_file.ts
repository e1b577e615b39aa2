import { z } from "zod";
import { writeChunks } from "../../files/write_content.ts";
import type { FileRecord } from "../../contract/files.ts";
import { Work } from "../../runtime/work.ts";
import { path, text, whole } from "../arguments.ts";
import { explainWrite, isVersionConflict } from "../version_conflicts.ts";
import { shownPath } from "../text.ts";
import { counted } from "../../runtime/counted.ts";
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
      throw await explainWrite(context, { path, expected, content, isAppend: false, error });
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
