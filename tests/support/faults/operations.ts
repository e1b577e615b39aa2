/** Every operation of the service, in each form that makes different calls to the back end. */
import { COMPACTION_CHECK_EVERY_SEGMENTS } from "../../../supabase/functions/api/limits.ts";
import type { Laboratory, Sending, Tenant } from "./laboratory.ts";

export interface Operation extends Sending {
  readonly name: string;
  /** Files that must exist before, besides `dir/old.txt`. */
  readonly prepare?: readonly Sending[];
  readonly writes: boolean;
}

const MEBIBYTE = 1024 * 1024;
/** Three segments, all different. */
export const LARGE = ["a", "b", "c"].map((letter) => `${letter.repeat(1023)}\n`.repeat(1024)).join("");
const RAW = { "content-type": "application/octet-stream" };
const BYTES = { accept: "application/octet-stream" };
const bytes = (size: number) => new Uint8Array(size).fill(0x78);

/** Writes a whole file. */
export const post = (path: string, content: string): Sending => ({
  method: "POST",
  path: "/files",
  body: { path, content },
});
/** Changes the file at `path`; `route` names the operation. */
export const put = (route: string, path: string, body: unknown): Sending => ({
  method: "PUT",
  path: `/files/${route}/${path}`,
  body,
});

/** A command of the memory tool, in the folder `dir`. */
const remember = (input: Readonly<Record<string, unknown>>): Sending => ({
  method: "POST",
  path: "/memory?root=dir",
  body: input,
});
const link = (purpose: "read" | "write"): Sending => ({
  method: "POST",
  path: "/links",
  body: { path: "dir/old.txt", for: purpose },
});

/** Two versions of a short text. */
const BEFORE: readonly Sending[] = [post("dir/old.txt", "first\n"), post("dir/old.txt", "old\n")];
/** A file of three segments. */
const WITH_LARGE: readonly Sending[] = [post("large.txt", LARGE)];

/** A file whose content another file uses, too. */
const COPIED: readonly Sending[] = [put("copy", "dir/old.txt", { destination: "dir/copy.txt" })];
/** A second file in the folder. */
const IN_FOLDER: readonly Sending[] = [post("dir/deep/b.txt", "b\n")];
/** A run that creates, changes and moves. */
const RUN: readonly Sending[] = [
  post("dir/from.txt", "moved\n"),
  ...[
    post("dir/old.txt", "by the run\n"),
    post("dir/created.txt", "by the run\n"),
    put("move", "dir/from.txt", { destination: "dir/to.txt" }),
  ].map((sending) => ({ ...sending, headers: { "x-run-id": "r1" } })),
];
/** A write that belongs to a run. */
const IN_A_RUN: readonly Sending[] = [{
  ...post("dir/run.txt", "in a run\n"),
  headers: { "x-run-id": "nightly-42", "x-actor": "planner/2.1" },
}];

/** A branch of the folder with a change. */
const BRANCH: readonly Sending[] = [
  { method: "POST", path: "/branches", body: { name: "try", directory: "dir" } },
  put("append", ".branches/try/old.txt", { content: "in the branch\n" }),
  post(".branches/try/new.txt", "new\n"),
];
/** Both sides have changed the same text, in different lines. */
const BOTH_CHANGED: readonly Sending[] = [
  post("dir/old.txt", "one\ntwo\nthree\n"),
  ...BRANCH,
  put("edit", "dir/old.txt", { oldString: "one", newString: "ONE" }),
];
const branch = (method: string, route = "", body?: unknown): Sending => ({
  method,
  path: `/branches/try${route}`,
  ...body !== undefined && { body },
});

/** One append before a compaction is due. */
const MANY_APPENDS: readonly Sending[] = Array.from(
  { length: COMPACTION_CHECK_EVERY_SEGMENTS - 2 },
  (_, index) => put("append", "dir/old.txt", { content: `line ${index}\n` }),
);

const write = (name: string, sending: Sending, prepare?: readonly Sending[]): Operation => ({
  name,
  ...sending,
  writes: true,
  ...(prepare && { prepare }),
});
const read = (
  name: string,
  path: string,
  headers: Record<string, string> = {},
  prepare = path.includes("large") ? WITH_LARGE : [],
): Operation => ({ name, method: "GET", path, headers, writes: false, prepare });

export const OPERATIONS: readonly Operation[] = [
  write("write a new file", post("new/new.txt", "new\n")),
  write("write a version", post("dir/old.txt", "newer\n")),
  write("write nothing", post("dir/old.txt", "")),
  write("write several segments", post("new.txt", LARGE)),
  write("write raw", {
    method: "POST",
    path: "/files?path=raw.bin",
    headers: RAW,
    body: bytes(2 * MEBIBYTE + 1),
  }),
  write("append", put("append", "dir/old.txt", { content: "more\n" })),
  write("append raw", { ...put("append", "dir/old.txt", bytes(9)), headers: RAW }),
  write("append and compact", put("append", "dir/old.txt", { content: "last\n" }), MANY_APPENDS),
  write("append raw and compact", { ...put("append", "dir/old.txt", bytes(9)), headers: RAW }, MANY_APPENDS),
  write("overwrite", put("overwrite", "dir/old.txt", { content: "other\n" })),
  write("overwrite with nothing", put("overwrite", "dir/old.txt", { content: "" })),
  write("edit", put("edit", "dir/old.txt", { oldString: "old", newString: "new" })),
  write(
    "edit a large file",
    put("edit", "large.txt", { oldString: "b\nc", newString: "b\n-\nc" }),
    WITH_LARGE,
  ),
  write("edit everything away", put("edit", "dir/old.txt", { oldString: "old\n", newString: "" })),
  write(
    "edit several",
    put("edit", "dir/old.txt", {
      edits: [{ oldString: "old", newString: "mid" }, { oldString: "mid", newString: "new" }],
    }),
  ),
  write("delete", { method: "DELETE", path: "/files/dir/old.txt" }),
  write("restore", put("restore", "dir/old.txt", { version: 1 })),
  write("restore a deleted file", put("restore", "dir/old.txt", { version: 1 }), [
    { method: "DELETE", path: "/files/dir/old.txt" },
  ]),
  write("purge", { method: "DELETE", path: "/files/dir/old.txt?purge" }, COPIED),
  write("purge a deleted file", { method: "DELETE", path: "/files/dir/old.txt?purge" }, [
    { method: "DELETE", path: "/files/dir/old.txt" },
  ]),
  write("redact", {
    method: "POST",
    path: "/files/redact/dir/old.txt",
    body: { versions: [2], note: "erased" },
  }, [...COPIED, put("overwrite", "dir/old.txt", { content: "clean\n" })]),
  write("copy", put("copy", "dir/old.txt", { destination: "copy/x.txt" })),
  write("copy over", put("copy", "dir/old.txt", { destination: "large.txt", overwrite: true }), WITH_LARGE),
  write("move", put("move", "dir/old.txt", { destination: "moved/x.txt" })),
  write("move over", put("move", "dir/old.txt", { destination: "large.txt", overwrite: true }), WITH_LARGE),
  write("batch", {
    method: "POST",
    path: "/batch",
    body: {
      operations: [
        { op: "write", path: "new/new.txt", content: "new\n" },
        { op: "append", path: "new/new.txt", content: "more\n" },
        { op: "edit", path: "dir/old.txt", oldString: "old", newString: "older" },
        { op: "copy", path: "dir/old.txt", destination: "copy.txt" },
        { op: "move", path: "dir/old.txt", destination: "moved/x.txt" },
      ],
    },
  }),
  write("copy a folder", {
    method: "POST",
    path: "/folders/copy",
    body: { path: "dir", destination: "copy" },
  }, IN_FOLDER),
  write("move a folder", {
    method: "POST",
    path: "/folders/move",
    body: { path: "dir", destination: "moved" },
  }, IN_FOLDER),
  write("delete a folder", { method: "DELETE", path: "/folders/dir" }, IN_FOLDER),
  write("undo a run", { method: "POST", path: "/runs/r1/undo", body: { dryRun: false } }, RUN),
  { name: "plan an undo", method: "POST", path: "/runs/r1/undo", body: {}, writes: false, prepare: RUN },
  write("restore a folder", {
    method: "POST",
    path: "/restore",
    body: { directory: "dir", at: "2026-01-01", dryRun: false },
  }, IN_FOLDER),
  write("create a branch", { method: "POST", path: "/branches", body: { name: "try", directory: "dir" } }),
  write("merge a branch", branch("POST", "/merge", { dryRun: false }), BRANCH),
  write("merge the lines of a branch", branch("POST", "/merge", { dryRun: false }), BOTH_CHANGED),
  write("update a branch", branch("POST", "/update", { dryRun: false }), BOTH_CHANGED),
  write("close a branch", branch("PATCH", "", { state: "closed" }), BRANCH),
  {
    name: "plan the merge of a branch",
    ...branch("POST", "/merge", {}),
    writes: false,
    prepare: BOTH_CHANGED,
  },
  { name: "read a branch", ...branch("GET"), writes: false, prepare: BOTH_CHANGED },
  read("list branches", "/branches", {}, BRANCH),
  write("memory create", remember({ command: "create", path: "/memories/new.md", file_text: "new\n" })),
  write(
    "memory str_replace",
    remember({ command: "str_replace", path: "/memories/old.txt", old_str: "old", new_str: "new" }),
  ),
  write("memory delete", remember({ command: "delete", path: "/memories/old.txt" })),
  write(
    "memory rename",
    remember({ command: "rename", old_path: "/memories/old.txt", new_path: "/memories/x/new.txt" }),
  ),
  { name: "memory view", ...remember({ command: "view", path: "/memories" }), writes: false },
  read("read", "/files/dir/old.txt"),
  read("read several segments", "/files/large.txt"),
  read("read raw", "/files/large.txt", BYTES),
  read("read a range", "/files/large.txt", { ...BYTES, range: "bytes=1000000-1100000" }),
  read("read lines", "/files/large.txt?lines=1023-1026"),
  read("read the record", "/files/dir/old.txt?metadata"),
  read("read the versions", "/files/dir/old.txt?versions"),
  read("list", "/files?recursive=true"),
  { name: "make a link for reading", ...link("read"), writes: false },
  { name: "make a link for writing", ...link("write"), writes: false },
  read("list links", "/links", {}, [link("read")]),
  read("diff", "/diff/dir/old.txt"),
  read("diff of two files", "/diff/dir/old.txt?toPath=dir/deep/b.txt", {}, IN_FOLDER),
  read("export", "/export?directory=dir"),
  read("export several segments", "/export", {}, WITH_LARGE),
  read("changes", "/changes?path=dir/old.txt"),
  read("the cursor of now", "/changes?after=now"),
  read("runs", "/runs", {}, IN_A_RUN),
  read("a run", "/runs/nightly-42", {}, IN_A_RUN),
  {
    name: "try an edit",
    ...put("edit", "dir/old.txt", { oldString: "old", newString: "new", dryRun: true }),
    writes: false,
  },
];

/** The operations that take an Idempotency-Key. */
export const COMMITS = OPERATIONS.filter(({ name, writes }) =>
  writes && !["redact", "create a branch", "close a branch"].includes(name)
);
/** Whether a call of the back end commits one of them. */
export const isCommit = (call: string) => /^filestore_(commit|purge)/.test(call);

const tool = (
  name: string,
  args: Record<string, unknown>,
  writes: boolean,
  prepare?: readonly Sending[],
): Operation => ({
  name: `${name} ${JSON.stringify(args).slice(0, 80)}`,
  method: "POST",
  path: "/mcp",
  body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
  writes,
  ...prepare && { prepare },
});

/** The tools of /mcp. */
export const TOOL_CALLS: readonly Operation[] = [
  tool("write_file", { path: "new/new.txt", content: "new\n" }, true),
  tool("write_file", { path: "dir/old.txt", content: "newer\n", expected_version: 2 }, true),
  tool("edit_file", { path: "dir/old.txt", old_string: "old", new_string: "new" }, true),
  tool(
    "edit_file",
    { path: "dir/old.txt", old_string: "old", new_string: "older", expected_version: 2 },
    true,
  ),
  tool("append_file", { path: "dir/old.txt", content: "more\n" }, true),
  tool("append_file", { path: "new.txt", content: "more\n" }, true),
  tool("delete_file", { path: "dir/old.txt" }, true),
  tool("move_file", { path: "dir/old.txt", destination: "moved/x.txt" }, true),
  tool("restore_file", { path: "dir/old.txt", version: 1 }, true),
  tool("read_file", { path: "dir/old.txt" }, false),
  tool("read_file", { path: "large.txt", offset: 1020, limit: 10 }, false, WITH_LARGE),
  tool("list_files", { recursive: true, glob: "*.txt" }, false),
  tool("grep_files", { pattern: "nothing has this" }, false),
  // Of a folder without files, since other files may not be indexed yet.
  tool("search_files", { query: "zebra", path: "none" }, false),
  tool("file_history", { path: "dir/old.txt" }, false),
  tool("delete_file", { path: "dir", recursive: true }, true, IN_FOLDER),
  tool("undo_run", { run: "r1" }, false, RUN),
  tool("undo_run", { run: "r1", dry_run: false }, true, RUN),
  tool("recent_changes", {}, false),
  tool("recent_changes", { run: "nightly-42" }, false, IN_A_RUN),
  tool("diff_versions", { path: "dir/old.txt" }, false),
  tool("create_branch", { name: "try", path: "dir" }, true),
  tool("finish_branch", { name: "try" }, true, BRANCH),
];

/** Writes the files that the operation needs. */
export async function prepareFor(lab: Laboratory, tenant: Tenant, operation: Operation): Promise<void> {
  for (const sending of [...BEFORE, ...operation.prepare ?? []]) await lab.prepare(tenant, sending);
}
