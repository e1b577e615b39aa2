/** Commands that read files and their versions. */
import { FilestoreError } from "../library/errors.ts";
import type { Version } from "../library/records.ts";
import { type Command, type Context, oneOf, whole } from "./command.ts";
import { printBytes, printJson, printLine, printNotice } from "./output.ts";

const ls: Command = {
  usage: "ls [dir]",
  summary: "list the files of a folder, and its sub-folders",
  options: [
    ["-r, --recursive", "all files below the folder"],
    ["-l, --long", "version, size and time of each file, too"],
    ["--at <moment>", "as it was at a time, or at a cursor of the change feed"],
  ],
  examples: ["ls", "ls notes --recursive --long"],
  async run(context, directory = "") {
    const folders: string[] = [];
    const options = { recursive: context.flag("recursive"), at: context.text("at") };
    for await (const page of context.store.listPages(directory, options)) {
      for (const name of page.directories ?? []) {
        if (folders.includes(name)) continue;
        folders.push(name);
        const path = `${folderPrefix(directory)}${name}/`;
        await (context.isJson ? printJson({ directory: path }) : printLine(path));
      }
      for (const file of page.files) {
        if (context.isJson) await printJson(file);
        else if (!context.flag("long")) await printLine(file.path);
        else await printLine(`${file.path}  version ${file.version}  ${file.size} bytes  ${file.updatedAt}`);
      }
    }
  },
};

function folderPrefix(directory: string): string {
  const inner = directory.replace(/^\/+|\/+$/g, "");
  return inner === "" ? "" : `${inner}/`;
}

const cat: Command = {
  usage: "cat <path>",
  summary: "print the content of a file",
  options: [
    ["--version <n>", "an earlier version", whole(1)],
    ["--at <moment>", "as it was at a time, or at a cursor of the change feed"],
  ],
  examples: ["cat notes/plan.md", "cat notes/plan.md --version 1"],
  async run(context, path = "") {
    const options = { version: context.number("version"), at: context.text("at") };
    if (context.isJson) await printJson(await context.store.read(path, options));
    else await printBytes(await context.store.readBytes(path, options));
  },
};

const log: Command = {
  usage: "log <path>",
  summary: "list the versions of a file, the newest first",
  examples: ["log notes/plan.md"],
  async run(context, path = "") {
    for await (const version of context.store.history(path)) {
      await (context.isJson ? printJson(version) : printLine(versionLine(version)));
    }
  },
};

function versionLine(entry: Version): string {
  const { version, createdAt, operation, size, actor, runId, note } = entry;
  const whole = [`version ${version}`, createdAt, operation, `${size} bytes`];
  if (actor !== undefined) whole.push(`by ${actor}`);
  if (runId !== undefined) whole.push(`run ${runId}`);
  if (note !== undefined) whole.push(note);
  return whole.join("  ");
}

const diff: Command = {
  usage: "diff <path>",
  summary: "print what changed between two versions of a file; by default by the latest one",
  options: [
    ["--from <n>", "the earlier version (default: the one before)", whole(1)],
    ["--to <n>", "the later version (default: the latest)", whole(1)],
  ],
  examples: ["diff notes/plan.md", "diff notes/plan.md --from 1 --to 2"],
  async run(context, path = "") {
    const found = await context.store.diff(path, { from: context.number("from"), to: context.number("to") });
    if (context.isJson) return await printJson(found);
    if (found.diff !== "") await printLine(found.diff.replace(/\n$/, ""));
  },
};

const grep: Command = {
  usage: "grep <pattern> [dir]",
  summary: "print every line that has a text, as path:line: text",
  more: 'A pattern that begins with - comes after --, as in: grep -- "- a"',
  options: [
    ["--regex", "the pattern is an extended regular expression"],
    ["-i, --ignore-case", "ignore case"],
    ["-g, --glob <glob>", "only in these files, such as *.md"],
  ],
  examples: ["grep sleep", 'grep --regex -i "^- sl" notes --glob "*.md"'],
  async run(context, pattern = "", directory) {
    await search(context, pattern, {
      mode: context.flag("regex") ? "regex" : "text",
      directory,
      glob: context.text("glob"),
      caseSensitive: context.flag("ignoreCase") ? false : undefined,
    });
  },
};

const MODES = ["hybrid", "semantic", "text", "regex"] as const;

const find: Command = {
  usage: "search <query>",
  summary: "print the best files for a question, by words and by meaning",
  options: [
    ["--mode <mode>", `${MODES.join(", ")} (default: hybrid)`, oneOf(MODES)],
    ["--directory <dir>", "only below this folder"],
    ["--glob <glob>", "only in these files"],
    ["--limit <n>", "the number of files (default: 10)", whole(1)],
  ],
  examples: ['search "what to ship"'],
  async run(context, query = "") {
    const mode = MODES.find((one) => one === context.text("mode"));
    const [directory, glob] = [context.text("directory"), context.text("glob")];
    await search(context, query, { mode, directory, glob }, context.number("limit") ?? 10);
  },
};

/** Prints up to `most` files of a search, with their lines. */
async function search(
  context: Context,
  query: string,
  options: NonNullable<Parameters<Context["store"]["search"]>[1]>,
  most = Infinity,
): Promise<void> {
  const asked = options.directory === undefined
    ? options
    : { ...options, directory: options.directory || "/" };
  for (let offset = 0; offset < most;) {
    const limit = Math.min(100, most - offset);
    const page = await context.store.search(query, { ...asked, limit, offset });
    for (const result of page.results) {
      if (context.isJson) await printJson(result);
      else if (result.matches.length === 0) await printLine(result.path);
      for (const { line, snippet } of context.isJson ? [] : result.matches) {
        await printLine(`${result.path}:${line}: ${snippet}`);
      }
      const isLines = page.mode === "text" || page.mode === "regex";
      if (isLines && !context.isJson && result.score > result.matches.length) {
        printNotice(`${result.path} has ${result.score - result.matches.length} more such lines.`);
      }
    }
    if (offset === 0 && page.notSearched !== undefined) {
      const { files, reasons } = page.notSearched;
      printNotice(`${files} files were not searched, at least in part: ${reasons.join(", ")}.`);
    }
    offset += page.results.length;
    if (!page.hasMore) return;
    if (page.results.length === 0) {
      throw new FilestoreError("SEARCH_TOO_BROAD", "The search stopped early; name a folder or a glob.");
    }
  }
}

export const READ_COMMANDS: readonly Command[] = [ls, cat, log, diff, grep, find];
