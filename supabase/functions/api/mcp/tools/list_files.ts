import { z } from "zod";
import type { Context } from "../../context.ts";
import { GlobError, globPattern } from "../../search/glob.ts";
import { LazyDfa } from "../../search/lazy_dfa.ts";
import { parseEre, PatternError } from "../../search/posix_ere.ts";
import { fail } from "../../errors.ts";
import { MCP_LIST_CALLS_MAX, MCP_LIST_DEFAULT, PAGE_LIMIT_MAX, SEARCH_UNITS_MAX } from "../../limits.ts";
import type { FileRecord } from "../../contract/files.ts";
import { byPath, type ListPage } from "../../ports/files.ts";
import { Work } from "../../runtime/work.ts";
import { flag, folder, glob, parsePath, text, whole } from "../arguments.ts";
import { describeVersion, Lines, quoted, QUOTED_PATH_LENGTH_MAX, shownPath } from "../text.ts";
import { counted } from "../../runtime/counted.ts";
import { defineTool } from "../tool.ts";

interface Listing {
  /** Without outer slashes; "" for all files. */
  readonly directory: string;
  readonly recursive: boolean;
  readonly matches: (path: string) => Promise<boolean>;
}

export const listFiles = defineTool({
  name: "list_files",
  title: "List files",
  description:
    "Lists the files and folders directly in a folder, with version, size and time of each file. recursive=true " +
    "also lists all folders below; glob selects files by name or path. Start here to see what exists. To find text, use grep_files; " +
    "to find files about a subject, search_files. A path that could be mistaken for other parts " +
    "of the result, or has invisible characters, is shown as a JSON string.",
  scopes: ["read"],
  effect: "reads",
  input: z.object({
    path: folder("The folder, such as notes/2026; empty for the top."),
    glob,
    recursive: flag("Whether to include the files in all folders below."),
    limit: whole("How many files to show.", 1, PAGE_LIMIT_MAX).default(MCP_LIST_DEFAULT),
    after: text("Continue after this path, as the last line of the previous result says.").optional()
      .transform((path) => path === undefined || path === "" ? undefined : parsePath(path)),
  }),
  async run(context, { path: directory, glob, recursive, limit, after }) {
    // A glob with a slash matches paths at any depth below the folder.
    const isRecursive = recursive || (glob?.includes("/") ?? false);
    const listing = { directory, recursive: isRecursive, matches: matcher(glob, directory) };
    const found = await find(context, listing, limit, after);
    return describe(listing, found, glob !== undefined, after);
  },
});

/** Units of work for each character of a path. */
const MATCH_UNITS = 2;

/** Whether a path matches the glob, in time linear in the path for any glob. Throws VALIDATION_ERROR. */
function matcher(glob: string | undefined, directory: string): (path: string) => Promise<boolean> {
  if (glob === undefined) return () => Promise.resolve(true);
  let dfa: LazyDfa;
  try {
    dfa = new LazyDfa(parseEre(globPattern(glob, directory)), false);
  } catch (error) {
    const isInvalid = error instanceof GlobError || error instanceof PatternError;
    if (isInvalid) fail("VALIDATION_ERROR", `glob ${error.message}`);
    throw error;
  }
  const work = new Work(SEARCH_UNITS_MAX, () => fail("SEARCH_TOO_BROAD", "The glob is too complex."));
  return async (path) => {
    if (work.add(MATCH_UNITS * path.length)) await work.pause();
    let at = dfa.find(path, 0, path.length, work);
    while (typeof at !== "number") {
      await work.pause();
      at = dfa.find(path, 0, path.length, work, at);
    }
    return at >= 0;
  };
}

interface Found {
  readonly files: readonly FileRecord[];
  readonly page: ListPage;
  /** The path after which to continue; null: no file is left. */
  readonly after: string | null;
}

/** Files that match, from up to MCP_LIST_CALLS_MAX pages. */
async function find(
  { gate, metadata }: Context,
  { directory, recursive, matches }: Listing,
  limit: number,
  after: string | undefined,
): Promise<Found> {
  const files: FileRecord[] = [];
  let from = after;
  for (let calls = 1;; calls++) {
    const page = gate.unwrap(
      await metadata.list(gate.caller, byPath({ directory, recursive, limit: PAGE_LIMIT_MAX, after: from })),
    );
    for (const file of page.files) {
      if (!await matches(file.path)) continue;
      if (files.length === limit) return { files, page, after: files.at(-1)?.path ?? null };
      files.push(file);
    }
    from = page.files.at(-1)?.path;
    if (!page.hasMore || from === undefined) return { files, page, after: null };
    if (files.length === limit) return { files, page, after: files.at(-1)?.path ?? null };
    if (calls === MCP_LIST_CALLS_MAX) return { files, page, after: from };
  }
}

function describe(
  { directory, recursive }: Listing,
  { files, page, after }: Found,
  isFiltered: boolean,
  from: string | undefined,
): string {
  const name = directory === "" ? "All files" : shownPath(`${directory}/`);
  const folders = from === undefined && !recursive && !isFiltered ? page.directories ?? [] : [];
  if (files.length === 0 && folders.length === 0 && after === null) {
    return describeNothing(directory, isFiltered);
  }
  const lines = new Lines(name.length + QUOTED_PATH_LENGTH_MAX + 200);
  const above = directory === "" ? "" : `${directory}/`;
  const foldersLeft = lines.addAll(folders.map((folder) => shownPath(`${above}${folder}/`)));
  const left = foldersLeft > 0
    ? files.length
    : lines.addAll(files.map((file) => `${shownPath(file.path)} — ${describeVersion(file)}`));
  const shown = files.length - left;
  const last = left === 0 ? after : files[shown - 1]?.path ?? from ?? "";
  const isPart = isFiltered || from !== undefined || page.total === undefined || page.total === null;
  const least = page.totalIsExact === false ? "more than " : "";
  const others = recursive ? "" : ` and ${counted(folders.length, "folder")}`;
  const total = isPart ? counted(shown, "file") : `${least}${counted(page.total ?? 0, "file")}${others}`;
  return `${name} — ${total}\n${lines}${last === null ? "" : `\nmore files: after ${quoted(last)}`}`;
}

function describeNothing(directory: string, isFiltered: boolean): string {
  const place = directory === "" ? "the project" : shownPath(`${directory}/`);
  if (isFiltered) {
    return `No file in ${place} matches the glob. Without glob, list_files shows what is there.`;
  }
  if (directory === "") return "There are no files yet. write_file creates one.";
  return `There are no files below ${place} – if ${shownPath(directory)} is a file, use read_file. ` +
    "list_files without path shows the top.";
}
