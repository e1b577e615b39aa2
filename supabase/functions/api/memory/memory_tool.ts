/**
 * The memory tool `memory_20250818` over a folder of the project. It gives the same answers as
 * `BetaLocalFilesystemMemoryTool` of `@anthropic-ai/sdk` 1.12.0 over a folder on disk; every change adds a version.
 */
import { z } from "zod";
import { ApiError, ERRORS, fail } from "../errors.ts";
import { commitBasis, type CommitRequest, throwCommitRefusal, tryCommit } from "../files/commit.ts";
import { commitMany, type ManyCommitter } from "../files/commit_many.ts";
import { changeFile, type EditContext } from "../files/edit_file.ts";
import { detectMediaType } from "../contract/media_types.ts";
import { isText } from "../files/presentation.ts";
import { readText, type SegmentSource } from "../files/read_segments.ts";
import { storeContent } from "../files/upload.ts";
import { checkPath } from "../http/path.ts";
import {
  COMMIT_FILES_MAX,
  MEMORY_LINES_MAX,
  MEMORY_TEXT_BYTES_MAX,
  MEMORY_VIEW_FOLDERS_MAX,
  MEMORY_VIEW_ITEMS_MAX,
} from "../limits.ts";
import type { Scope } from "../contract/values.ts";
import type { Answer, Refusal } from "../ports/answer.ts";
import type { Commit, Committed, FolderCommit } from "../ports/commit.ts";
import type { FileRecord } from "../contract/files.ts";
import { byPath, type Content } from "../ports/files.ts";
import type { Metadata } from "../ports/metadata.ts";
import { escapeHidden, unescapeHidden } from "../runtime/hidden_characters.ts";

export interface MemoryContext extends EditContext, SegmentSource {
  readonly metadata:
    & EditContext["metadata"]
    & ManyCommitter["metadata"]
    & Pick<Metadata, "content" | "record" | "list">;
}

const path = z.string();

/** The fields of each command, as a model sends them; later versions of the tool may add fields. */
export const memoryInput = z.discriminatedUnion("command", [
  z.looseObject({ command: z.literal("view"), path, view_range: z.array(z.number()).nullish() }),
  z.looseObject({ command: z.literal("create"), path, file_text: z.string() }),
  z.looseObject({
    command: z.literal("str_replace"),
    path,
    old_str: z.string(),
    // Models leave it out to remove text.
    new_str: z.string().nullish().transform((text) => text ?? ""),
  }),
  z.looseObject({ command: z.literal("insert"), path, insert_line: z.number(), insert_text: z.string() }),
  z.looseObject({ command: z.literal("delete"), path }),
  z.looseObject({ command: z.literal("rename"), old_path: path, new_path: path }),
]);

type AnyCommand = z.output<typeof memoryInput>;
type Command<Name extends AnyCommand["command"]> = Extract<AnyCommand, { readonly command: Name }>;

const SCOPES: Readonly<Record<AnyCommand["command"], readonly Scope[]>> = {
  view: ["read"],
  create: ["write"],
  str_replace: ["read", "write"],
  insert: ["read", "write"],
  delete: ["read", "write"],
  rename: ["read", "write"],
};

/** The scopes that a command requires; undefined where there is no such command. */
export function scopesOf(command: unknown): readonly Scope[] | undefined {
  return new Map<unknown, readonly Scope[]>(Object.entries(SCOPES)).get(command);
}

const LINE_NUMBER_WIDTH = String(MEMORY_LINES_MAX).length;
/** Lines shown before and after a change. */
const CONTEXT_LINES = 2;
/** The size shown for a folder, as on most disks. */
const FOLDER_SIZE = "4K";

export class MemoryTool {
  constructor(
    private readonly context: MemoryContext,
    /** The folder that stands for /memories, a path in the project. */
    private readonly root: string,
    private readonly idempotencyKey: string | undefined,
  ) {}

  /** Whether the answer is that of an earlier request with the same Idempotency-Key. */
  isReplayed = false;

  /** Returns the text for the model. Throws MemoryFailure, and ApiError for failures that a disk does not have. */
  async run(command: AnyCommand): Promise<string> {
    switch (command.command) {
      case "view":
        return await this.view(command);
      case "create":
        return await this.create(command);
      case "str_replace":
        return await this.replace(command);
      case "insert":
        return await this.insert(command);
      case "delete":
        return await this.remove(command);
      case "rename":
        return await this.rename(command);
    }
  }

  private async view({ path, view_range: range }: Command<"view">): Promise<string> {
    const { gate, metadata } = this.context;
    if (resolveMemoryPath(path) === "") return await this.viewFolder(path, this.root);
    const file = this.pathOf(path, "");
    const answer = gate.observe(await metadata.content(gate.caller, file));
    if (!answer.ok && isFolder(answer.refusal)) return await this.viewFolder(path, file);
    const content = this.existing(answer, `The path ${path} does not exist. Please provide a valid path.`);
    const lines = (await this.text(content)).split("\n");
    if (lines.length > MEMORY_LINES_MAX) {
      const most = `Maximum is ${MEMORY_LINES_MAX.toLocaleString("en-US")} lines.`;
      failMemory(`File ${path} has too many lines (${lines.length}). ${most}`);
    }
    const [first, last] = range?.length === 2 ? range : [];
    const start = first === undefined ? 0 : Math.max(1, first) - 1;
    const shown = last === undefined ? lines : lines.slice(start, last === -1 ? lines.length : last);
    return `Here's the content of ${path} with line numbers:\n${numbered(shown, start + 1)}`;
  }

  private async viewFolder(path: string, folder: string): Promise<string> {
    const items: string[] = [];
    let opened = 0;
    let isCut = false;
    const collect = async (inner: string, depth: number): Promise<void> => {
      for (const { name, file } of await this.children(joined(folder, inner))) {
        if (name.startsWith(".") || name === "node_modules") continue;
        if (items.length === MEMORY_VIEW_ITEMS_MAX) {
          isCut = true;
          return;
        }
        const item = joined(inner, name);
        const shown = `${path}/${escapeHidden(item)}`;
        items.push(file ? `${fileSize(file.size)}\t${shown}` : `${FOLDER_SIZE}\t${shown}/`);
        if (file || depth === 2) continue;
        if (opened++ < MEMORY_VIEW_FOLDERS_MAX) await collect(item, depth + 1);
        else isCut = true;
      }
    };
    await collect("", 1);
    const header =
      `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`;
    const end = isCut ? ["(There is more. View one of the directories for what is in it.)"] : [];
    return [header, `${FOLDER_SIZE}\t${path}`, ...items, ...end].join("\n");
  }

  private async create({ path, file_text: text }: Command<"create">): Promise<string> {
    const { context, context: { gate, metadata } } = this;
    const exists = `File ${path} already exists`;
    const file = this.pathOf(path, exists);
    const bytes = encode(text);
    const record = gate.observe(await metadata.record(gate.caller, file));
    if (!record.ok && isFolder(record.refusal)) failMemory(exists);
    const segments = await storeContent(context, [bytes]);
    const request = { ...this.request(file), ifNoneMatch: ["*"] };
    const mimeType = detectMediaType(file, segments.every(({ isText }) => isText));
    const basis = await commitBasis(request, "memory create", text);
    await this.commit({ kind: "write", ...basis, segments, mimeType }, exists);
    return `File created successfully at: ${path}`;
  }

  private async replace({ path, old_str: before, new_str: after }: Command<"str_replace">): Promise<string> {
    return await this.change(path, ["memory str_replace", before, after], (text) => {
      const matching = text.split("\n").flatMap((line, index) => line.includes(before) ? [index + 1] : []);
      const [line, ...others] = matching;
      if (line === undefined) {
        failMemory(`No replacement was performed, old_str \`${before}\` did not appear verbatim in ${path}.`);
      }
      if (others.length > 0) {
        failMemory(
          `No replacement was performed. Multiple occurrences of old_str \`${before}\` in lines: ` +
            `${matching.join(", ")}. Please ensure it is unique`,
        );
      }
      const changed = text.replace(before, () => after);
      const start = Math.max(0, line - 1 - CONTEXT_LINES);
      const shown = changed.split("\n").slice(start, line + CONTEXT_LINES);
      const report =
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):";
      return [changed, `${report}\n${numbered(shown, start + 1)}`];
    });
  }

  private async insert({ path, insert_line: line, insert_text: added }: Command<"insert">): Promise<string> {
    return await this.change(path, ["memory insert", line, added], (text) => {
      const lines = text.split("\n");
      if (line < 0 || line > lines.length) {
        failMemory(
          `Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${lines.length}]`,
        );
      }
      lines.splice(line, 0, added.replace(/\n$/, ""));
      return [lines.join("\n"), `The file ${path} has been edited.`];
    });
  }

  /** Changes the text of a file, also after a conflict. `edit` returns the new text and the report for the model. */
  private async change(
    path: string,
    fingerprint: readonly unknown[],
    edit: (text: string) => [text: string, report: string],
  ): Promise<string> {
    const { context, context: { gate, metadata } } = this;
    const notFile = `The path ${path} is not a file.`;
    const request = this.request(this.pathOf(path, notFile));
    const { idempotency } = await commitBasis(request, "edit", fingerprint);
    const first = gate.observe(await metadata.editBase(gate.caller, request.path, idempotency));
    if (!first.ok && isFolder(first.refusal)) failMemory(notFile);
    this.existing(first, `The path ${path} does not exist. Please provide a valid path.`);
    const committed = await changeFile(context, {
      request,
      fingerprint,
      change: async (base) => {
        const [text, report] = edit(await this.text(base, true));
        const bytes = encode(text);
        gate.ensureWithinTier(bytes.length);
        const segments = await storeContent(context, [bytes]);
        return { segments, segmentIds: segments.map(({ id }) => id), extra: { said: report } };
      },
    }, first);
    this.isReplayed = committed.isReplayed;
    return reportOf(committed);
  }

  private async remove({ path }: Command<"delete">): Promise<string> {
    const file = this.pathOf(path, "Cannot delete the /memories directory itself");
    const basis = await commitBasis(this.request(file), "memory delete", null);
    if (!await this.commit({ kind: "delete", ...basis })) {
      await this.commitFolder({ kind: "delete_folder", path: file }, `The path ${path} does not exist`);
    }
    return `Successfully deleted ${path}`;
  }

  private async rename({ old_path: from, new_path: to }: Command<"rename">): Promise<string> {
    const { gate, metadata } = this.context;
    const exists = `The destination ${to} already exists`;
    const path = this.pathOf(from, "Cannot rename the /memories directory itself");
    const destination = this.pathOf(to, exists);
    const existing = gate.observe(await metadata.record(gate.caller, destination));
    // A repeated request may find the file that it moved there itself; then the commit recognizes the repeat.
    const isTaken = existing.ok ? this.idempotencyKey === undefined : isFolder(existing.refusal);
    if (isTaken) failMemory(exists);
    const basis = await commitBasis(this.request(path), "memory rename", destination);
    if (!await this.commit({ kind: "move", ...basis, destination, overwrite: false }, exists)) {
      const missing = `The path ${from} does not exist`;
      if (destination.startsWith(`${path}/`)) {
        if (await this.isEmpty(path)) failMemory(missing);
        failMemory(`The directory ${from} cannot be renamed to a path inside itself`);
      }
      await this.commitFolder({ kind: "move_folder", path, destination, overwrite: false }, missing, exists);
    }
    return `Successfully renamed ${from} to ${to}`;
  }

  /** Commits a change of one file. False where there is no such file. */
  private async commit(commit: Commit, exists?: string): Promise<boolean> {
    const result = await tryCommit(this.context, commit);
    if ("committed" in result) {
      this.isReplayed = result.committed.isReplayed;
      return true;
    }
    const { code } = result.refusal;
    if (code === "FILE_NOT_FOUND") return false;
    if (code === "FILE_ALREADY_EXISTS" && exists !== undefined) failMemory(exists);
    throwCommitRefusal(this.context, commit, result.refusal);
  }

  /** Commits all files of a folder at once, without the Idempotency-Key: the try with the path as a file has used it. */
  private async commitFolder(folder: FolderCommit, missing: string, exists = missing): Promise<void> {
    try {
      await commitMany(this.context, undefined, folder);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === "FILE_NOT_FOUND") failMemory(missing);
      if (error.code === "FILE_ALREADY_EXISTS") failMemory(exists);
      if (error.code !== "TOO_MANY_FILES") throw error;
      failMemory(
        `The directory has more than ${COMMIT_FILES_MAX} files: send the command for its directories one by one.`,
      );
    }
  }

  private async isEmpty(folder: string): Promise<boolean> {
    for await (const { files } of this.pages(folder, true)) return files.length === 0;
    return true;
  }

  /** The files and folders directly in a folder, sorted by name. */
  private async children(folder: string): Promise<{ name: string; file: FileRecord | null }[]> {
    const found: { name: string; file: FileRecord | null }[] = [];
    for await (const { files, directories } of this.pages(folder, false)) {
      if (found.length === 0) found.push(...directories.map((name) => ({ name, file: null })));
      found.push(...files.map((file) => ({ name: file.path.slice(folder.length + 1), file })));
      if (found.length > MEMORY_VIEW_ITEMS_MAX) break;
    }
    // By UTF-16 code units, as the SDK's tool sorts names.
    return found.sort((a, b) => a.name < b.name ? -1 : 1);
  }

  private async *pages(directory: string, recursive: boolean) {
    const { gate, metadata } = this.context;
    let after: string | undefined;
    for (;;) {
      const { files, directories, hasMore } = gate.unwrap(
        await metadata.list(
          gate.caller,
          byPath({ directory, recursive, limit: MEMORY_VIEW_ITEMS_MAX, after }),
        ),
      );
      yield { files, directories: directories ?? [] };
      if (!hasMore) return;
      after = files.at(-1)?.path;
    }
  }

  /** The value of an answer. Fails with `missing` where the file does not exist. */
  private existing<T>(answer: Answer<T>, missing: string): T {
    if (answer.ok) return answer.value;
    if (answer.refusal.code === "FILE_NOT_FOUND") failMemory(missing);
    return this.context.gate.throwRefusal(answer.refusal);
  }

  /** The content as text, with U+FFFD for bytes that are not UTF-8; with `isStrict`, for edits, these throw NOT_TEXT. */
  private async text({ file, segments }: Content, isStrict = false): Promise<string> {
    if (file.size > MEMORY_TEXT_BYTES_MAX) {
      const limits = { limitBytes: MEMORY_TEXT_BYTES_MAX, sizeBytes: file.size };
      fail(
        "CONTENT_TOO_LARGE",
        "The file is too large for the memory tool. View it in parts with `view_range`.",
        limits,
      );
    }
    if (isStrict && !isText({ file, segments })) {
      fail("NOT_TEXT", "The file is not text, so it cannot be edited.", { version: file.version });
    }
    return await readText(this.context, segments);
  }

  /** The path in the project. Fails with `ofRoot` for /memories itself. */
  private pathOf(memoryPath: string, ofRoot: string): string {
    const inside = resolveMemoryPath(memoryPath);
    if (inside === "") failMemory(ofRoot);
    return checkPath(`${this.root}/${inside}`);
  }

  private request(path: string): CommitRequest {
    return { path, idempotencyKey: this.idempotencyKey };
  }
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MEMORY_TEXT_BYTES_MAX) return bytes;
  const limits = { limitBytes: MEMORY_TEXT_BYTES_MAX, sizeBytes: bytes.length };
  fail("CONTENT_TOO_LARGE", "The text is too large for the memory tool. Write it in parts.", limits);
}

function isFolder({ code, details }: Refusal): boolean {
  return code === "FILE_NOT_FOUND" && details["directory"] === true;
}

/** The report of the change, also for a repeated request. Where it was erased since, a sentence without content. */
function reportOf({ file }: Committed): string {
  const { said } = Object(file);
  if (said === null) return "The file has been edited.";
  if (typeof said !== "string") fail("IDEMPOTENCY_KEY_REUSED", ERRORS.IDEMPOTENCY_KEY_REUSED.message);
  return said;
}

function joined(folder: string, name: string): string {
  return folder === "" ? name : name === "" ? folder : `${folder}/${name}`;
}

function numbered(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(index + first).padStart(LINE_NUMBER_WIDTH)}\t${line}`).join(
    "\n",
  );
}

/** As `du -h` shows it: `0B`, `17B`, `1.5K`. */
function fileSize(bytes: number): string {
  if (bytes === 0) return "0B";
  const units = ["B", "K", "M", "G"];
  const unit = Math.floor(Math.log(bytes) / Math.log(1024));
  const size = bytes / 1024 ** unit;
  return (size % 1 === 0 ? size.toString() : size.toFixed(1)) + units[unit];
}

/** In paths of the tool, `/memories/notes.md` stands for `notes.md` in the root folder. */
const MEMORIES = "/memories";

/**
 * The path below the root folder, "" for the folder itself. Resolves `.`, `..` and empty names as a file system does,
 * and accepts the escapes with which listings show paths. Fails where the path leads out of the folder.
 */
export function resolveMemoryPath(memoryPath: string): string {
  if (!memoryPath.startsWith(MEMORIES)) failMemory(`Path must start with /memories, got: ${memoryPath}`);
  const relative = unescapeHidden(memoryPath.slice(MEMORIES.length)).replace(/^\//, "");
  const names = [MEMORIES];
  for (const name of relative.split("/")) {
    if (name === "..") {
      if (names.pop() === undefined) break;
    } else if (name !== "" && name !== ".") {
      // `../memories/x` resolves back into the root.
      names.push(names.length === 0 && `/${name}` === MEMORIES ? MEMORIES : name);
    }
  }
  const [root, ...rest] = names;
  if (root !== MEMORIES) failMemory(`Path ${memoryPath} would escape /memories directory`);
  return rest.join("/");
}

/** A failure whose message is the answer to the model. */
export class MemoryFailure extends Error {
  override readonly name = "MemoryFailure";
}

export function failMemory(message: string): never {
  throw new MemoryFailure(message);
}
