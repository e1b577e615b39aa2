import { z } from "zod";
import type { Context } from "../../context.ts";
import { ApiError, fail } from "../../errors.ts";
import { readSide } from "../../files/diff.ts";
import { editFile as commitEdit } from "../../files/edit_file.ts";
import { type Edit, editWork } from "../../files/edit_text.ts";
import { lineWindow, readLines } from "../../files/line_window.ts";
import { isBinary } from "../../files/presentation.ts";
import { countOccurrences, type LoadPiece, type Piece } from "../../files/rewrite.ts";
import {
  DIFF_BYTES_MAX,
  EDIT_STRING_LENGTH_MAX,
  MCP_EDIT_CONTEXT_LINES,
  MCP_EDIT_LINES_MAX,
  MCP_LINE_LENGTH_MAX,
  READ_KEPT_BYTES_MAX,
} from "../../limits.ts";
import type { Content } from "../../ports/files.ts";
import { flag, path, text, whole } from "../arguments.ts";
import { alreadyAppliedRefusal, contentAt, versionRefusal } from "../version_conflicts.ts";
import { ToolRefusal } from "../failures.ts";
import { cutLine, Lines, numbered, shownPath } from "../text.ts";
import { counted } from "../../runtime/counted.ts";
import { defineTool } from "../tool.ts";

export const editFile = defineTool({
  name: "edit_file",
  title: "Edit a file",
  description:
    "Replaces old_string with new_string in a text file. The rest of the file is kept, even text that others write at " +
    "the same time. old_string is the exact text of the file, without the line numbers of read_file, and with enough " +
    "surrounding lines to be unique. If it does not match, the result shows the most similar lines. Use this tool to " +
    "change a part of a file; to replace all of it, use write_file.",
  // `read` as well, since refusals of an edit reveal content of the file.
  scopes: ["read", "write"],
  effect: "adds",
  input: z.object({
    path: path(),
    old_string: text("The text to replace.", 1, EDIT_STRING_LENGTH_MAX),
    new_string: text(
      "The new text, taken literally; empty to delete the old one.",
      0,
      EDIT_STRING_LENGTH_MAX,
    ),
    replace_all: flag("Replace every occurrence. By default old_string must occur exactly once."),
    expected_version: whole("Edit only if this is the latest version.", 1).optional(),
  }),
  async run(context, input) {
    const { path, expected_version: expected } = input;
    const edit: Edit = {
      oldString: input.old_string,
      newString: input.new_string,
      replaceAll: input.replace_all,
      expectedOccurrences: undefined,
    };
    if (edit.oldString === edit.newString) fail("VALIDATION_ERROR", "new_string must differ from old_string");
    const { gate, metadata } = context;
    const read = await metadata.editBase(gate.caller, path, undefined);
    const base = gate.unwrap(read);
    if ("storedResponse" in base) throw new Error("without an idempotency key nothing is stored");
    if (expected === undefined && !isBinary(base)) {
      const repeat = await repeatRefusal(context, base, edit);
      if (repeat) throw repeat;
    }
    try {
      const isConflict = expected !== undefined && expected !== base.file.version;
      if (isConflict) fail("PRECONDITION_FAILED", "The file is at another version.");
      const ifMatch = expected === undefined ? undefined : [`${base.file.id}.${expected}`];
      const request = { path, edits: [edit], idempotencyKey: undefined, ifMatch };
      const { file } = await commitEdit(context, request, read);
      return await describeEdited(context, base, edit, file);
    } catch (error) {
      throw await explain(context, path, edit, expected, error);
    }
  },
});

/** The error to report. A client that lost the answer repeats its call: then the file contains the edit already. */
async function explain(
  context: Context,
  path: string,
  edit: Edit,
  expected: number | undefined,
  error: unknown,
): Promise<unknown> {
  const { code, details } = error instanceof ApiError ? error : {};
  if (code !== "STRING_NOT_FOUND" && code !== "PRECONDITION_FAILED") return error;
  const version = await versionCreatedBy(context, path, edit);
  if (version !== undefined) {
    return alreadyAppliedRefusal(code, `Your edit is already version ${version} of ${shownPath(path)}`);
  }
  if (code === "STRING_NOT_FOUND" || expected === undefined) return error;
  const latest = await contentAt(context, path);
  return await versionRefusal(context, latest, { path, expected, details, advice: "Edit it as it is now." });
}

/** The latest version, if applying the edit to the version before yields its content. */
async function versionCreatedBy(
  context: Context,
  path: string,
  edit: Edit,
): Promise<number | undefined> {
  const { gate, metadata } = context;
  const answer = gate.observe(await metadata.comparison(gate.caller, path));
  if (!answer.ok) return undefined;
  const { before, after, to } = answer.value;
  const isComparable = [before, after].every((side) =>
    side !== null && side.size <= DIFF_BYTES_MAX && side.segments.every(({ isText }) => isText)
  );
  if (!isComparable) return undefined;
  const text = await readSide(context, before);
  const edited = replaced(text, edit, after?.size ?? 0);
  return edited !== undefined && edited === await readSide(context, after) ? to : undefined;
}

/** The text after the edit; undefined where `oldString` is missing or not unique, or the result exceeds `lengthMax`. */
function replaced(
  text: string,
  { oldString, newString, replaceAll }: Edit,
  lengthMax: number,
): string | undefined {
  const parts = replaceAll ? text.split(oldString) : text.split(oldString, 3);
  const places = parts.length - 1;
  if (places < 1 || (places > 1 && !replaceAll)) return undefined;
  const length = text.length + places * (newString.length - oldString.length);
  return length <= lengthMax ? parts.join(newString) : undefined;
}

/** The refusal of an edit that only adds to `oldString`, where each occurrence of it is part of a `newString` already. */
async function repeatRefusal(
  context: Context,
  content: Content,
  { oldString, newString }: Edit,
): Promise<ToolRefusal | undefined> {
  const each = newString.split(oldString).length - 1;
  if (each === 0) return undefined;
  const { file } = content;
  const { pieces, load } = piecesOf(context, content);
  const work = editWork();
  const edited = await countOccurrences(pieces, load, newString, work, 1);
  if (edited.count === 0) return undefined;
  const old = await countOccurrences(pieces, load, oldString, work, 0);
  if (old.count !== each * edited.count) return undefined;
  return new ToolRefusal(
    "PRECONDITION_FAILED",
    `new_string is in ${shownPath(file.path)} already: version ${file.version}, line ${edited.lines[0]}. ` +
      "Nothing was done now. If you sent this call before, it worked, and there is nothing left to do. To apply the edit once more, send " +
      `expected_version=${file.version}.`,
  );
}

/** The new version, and the lines around the first replacement. */
async function describeEdited(
  context: Context,
  base: Content,
  edit: Edit,
  file: { readonly path: string; readonly version: number; readonly replacements?: unknown },
): Promise<string> {
  const { path, version } = file;
  const replacements = Number(file.replacements ?? 1);
  const title = `Edited ${shownPath(path)}: version ${version}, ${counted(replacements, "replacement")}`;
  // Versions of others in between may have moved the lines.
  if (version !== base.file.version + 1) return `${title}. Others also changed the file: read_file shows it.`;
  const around = await linesAround(context, base, edit);
  return around === undefined ? `${title}.` : `${title}; ${around}`;
}

async function linesAround(context: Context, content: Content, edit: Edit): Promise<string | undefined> {
  const { oldString, newString } = edit;
  // The segments of a larger file are no longer in memory.
  if (content.file.size > READ_KEPT_BYTES_MAX) return undefined;
  const { pieces, load } = piecesOf(context, content);
  const { lines: [line] } = await countOccurrences(pieces, load, oldString, editWork(), 1);
  if (line === undefined) return undefined;
  const from = Math.max(1, line - MCP_EDIT_CONTEXT_LINES);
  const to = line + oldString.replace(/\n$/, "").split("\n").length - 1 + MCP_EDIT_CONTEXT_LINES;
  const window = lineWindow(content.segments, { from, to });
  if (!window) return undefined;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let before = "";
  for await (const part of readLines(context, window.parts)) {
    before += decoder.decode(part);
    // In a file with very long lines, the surrounding lines are too long to show.
    if (before.length > DIFF_BYTES_MAX) return undefined;
  }
  const after = replaced(before, edit, DIFF_BYTES_MAX + newString.length);
  if (after === undefined) return undefined;
  return `around line ${line} it now is\n${numberedLines(after.replace(/\n$/, "").split("\n"), from)}`;
}

/** The content as pieces, which edits search. */
function piecesOf(
  { segments }: Context,
  { file, segments: list }: Content,
): { pieces: Piece[]; load: LoadPiece } {
  const isKept = file.size <= READ_KEPT_BYTES_MAX;
  return {
    pieces: list.map((segment) => ({ kind: "stored", segment })),
    load: (piece) =>
      piece.kind === "new" ? Promise.resolve(piece.bytes) : segments.get(piece.segment, isKept),
  };
}

function numberedLines(given: readonly string[], from: number): string {
  const lines = new Lines(2000);
  lines.addAll(
    given.slice(0, MCP_EDIT_LINES_MAX).map((line, index) =>
      numbered(from + index, cutLine(line, MCP_LINE_LENGTH_MAX))
    ),
  );
  const more = given.length - lines.count;
  return more > 0 ? `${lines}\n… ${counted(more, "more line")}: read_file shows them` : `${lines}`;
}
