/** Commands that change files. */
import { FilestoreError } from "../library/errors.ts";
import type { WriteOptions } from "../library/options.ts";
import type { FileRecord, FolderResult } from "../library/records.ts";
import { type Command, type Context, UsageError, whole, WRITES } from "./command.ts";
import { contentOf } from "./input.ts";
import { printJson, printLine } from "./output.ts";

async function report(context: Context, record: FileRecord, what = ""): Promise<void> {
  if (context.isJson) await printJson(record);
  else await printLine(`${record.path}: version ${record.version}${what}`);
}

async function reportFolder(
  context: Context,
  path: string,
  done: string,
  result: FolderResult,
): Promise<void> {
  if (context.isJson) await printJson(result);
  else await printLine(`${path}: ${done} ${result.count} files`);
}

const put: Command = {
  usage: "put <file> <path>",
  summary: "write a file of this machine, or with - standard input, as a file or its next version",
  options: [["--type <type>", "the content type (default: by the path)"], ...WRITES],
  examples: ["put plan.md notes/plan.md", "put - notes/list.md --if-version 0"],
  async run(context, file = "", path = "") {
    const options = { ...context.writeOptions, contentType: context.text("type") };
    await report(context, await context.store.write(path, await contentOf(file), options));
  },
};

const append: Command = {
  usage: "append <file> <path>",
  summary: "add a file of this machine, or with - standard input, to the end of a file",
  options: WRITES,
  examples: ["append - notes/plan.md"],
  async run(context, file = "", path = "") {
    await report(context, await context.store.append(path, await contentOf(file), context.writeOptions));
  },
};

const edit: Command = {
  usage: "edit <path> <old> <new>",
  summary: "replace a text that occurs once",
  more: 'A text that begins with - comes after --, as in: edit notes/plan.md -- "- a" "- b"',
  options: [["--all", "replace it wherever it occurs"], ...WRITES],
  examples: ['edit notes/plan.md "ship it" "ship it well"', "edit notes/plan.md sleep rest --all"],
  async run(context, path = "", oldString = "", newString = "") {
    const options = { ...context.writeOptions, replaceAll: context.flag("all") || undefined };
    const record = await context.store.edit(path, oldString, newString, options);
    await report(context, record, `, ${record.replacements} replaced`);
  },
};

const rm: Command = {
  usage: "rm <paths...>",
  summary: "delete files, or with --recursive folders; their versions stay readable",
  options: [["-r, --recursive", "delete folders, too"], ...WRITES],
  examples: ["rm notes/list.md", "rm --recursive drafts"],
  async run(context, ...paths) {
    const options = context.writeOptions;
    if (options.ifVersion !== undefined && (paths.length > 1 || context.flag("recursive"))) {
      throw new UsageError("--if-version is for one file.");
    }
    for (const path of paths) {
      const deleteFolder = async () => {
        const folder = folderName(path);
        const deleted = await context.store.delete(folder, { ...options, recursive: true });
        await reportFolder(context, folder, "deleted", deleted);
      };
      const deleteFile = async () => {
        await report(context, await context.store.delete(path, options), ", deleted");
      };
      await (context.flag("recursive") ? fileOrFolder(deleteFile, deleteFolder) : deleteFile());
    }
  },
};

/** `cp` and `mv`: a path that is no file but a folder is copied or moved as a whole. */
function placing(action: "copy" | "move", name: string, examples: readonly string[]): Command {
  const done = action === "copy" ? "copied" : "moved";
  return {
    usage: `${name} <src> <dst>`,
    summary: `${action} a file or a folder to another path`,
    options: [["--overwrite", "add a version where a file exists"], ...WRITES],
    examples,
    async run(context, source = "", destination = "") {
      const options: WriteOptions & { overwrite?: boolean } = {
        ...context.writeOptions,
        ...context.flag("overwrite") && { overwrite: true },
      };
      const { store } = context;
      const placeFolder = async () => {
        if (options.ifVersion !== undefined) throw new UsageError("--if-version is for one file.");
        const [from, to] = [folderName(source), folderName(destination)];
        const placed = await store[action](from, to, { ...options, recursive: true });
        await reportFolder(context, to, done, placed);
      };
      const placeFile = async () => await report(context, await store[action](source, destination, options));
      await fileOrFolder(placeFile, placeFolder);
    },
  };
}

/** Changes the file of a path, or if there is none, its folder. If there is neither, there is no file. */
async function fileOrFolder(ofFile: () => Promise<void>, ofFolder: () => Promise<void>): Promise<void> {
  try {
    await ofFile();
  } catch (error) {
    // `notes/` is no path of a file.
    if (!hasCode(error, "FILE_NOT_FOUND") && !hasCode(error, "INVALID_PATH")) throw error;
    await ofFolder().catch((other) => {
      throw hasCode(other, "FILE_NOT_FOUND") ? error : other;
    });
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof FilestoreError && error.code === code;
}

function folderName(path: string): string {
  return path.replace(/\/+$/, "");
}

const restore: Command = {
  usage: "restore <path> <n>",
  summary: "make an earlier version the latest one",
  options: WRITES,
  examples: ["restore notes/plan.md 1"],
  async run(context, path = "", n = "") {
    const version = whole(1)(n);
    await report(context, await context.store.restore(path, version, context.writeOptions));
  },
};

export const WRITE_COMMANDS: readonly Command[] = [
  put,
  append,
  edit,
  rm,
  placing("move", "mv", ["mv notes/list.md notes/todo.md"]),
  placing("copy", "cp", ["cp notes archive/notes", "cp notes/plan.md notes/old.md --overwrite"]),
  restore,
];
