/**
 * What the library does, as cases that run on any runtime: they get the library, and compare by `equal` alone. Each
 * case gets an empty project.
 */
import type * as Library from "../../../supabase/client/mod.ts";

export interface Kit {
  readonly Filestore: typeof Library.Filestore;
  readonly FilestoreError: typeof Library.FilestoreError;
  readonly url: string;
  readonly key: string;
  equal(actual: unknown, expected: unknown, what?: string): void;
}

type Case = readonly [name: string, run: (kit: Kit) => Promise<void>];

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** The code of the FilestoreError that the work throws. */
async function codeOf({ FilestoreError }: Kit, work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
  } catch (error) {
    return error instanceof FilestoreError ? error.code : `not a FilestoreError: ${error}`;
  }
  return "nothing thrown";
}

export const LIBRARY_CASES: readonly Case[] = [
  ["texts and bytes are written, appended, edited and read", async (kit) => {
    const store = new kit.Filestore(kit);
    const first = await store.write("notes/ä b.md", "# Plan\n- ship\n", { ifVersion: 0 });
    kit.equal([first.version, first.mimeType], [1, "text/markdown"]);
    kit.equal((await store.append("notes/ä b.md", "- sleep\n")).version, 2);
    const edited = await store.edit("notes/ä b.md", "ship", "ship it", { ifVersion: 2 });
    kit.equal([edited.version, edited.replacements], [3, 1]);
    await store.edit("notes/ä b.md", [{ oldString: "#", newString: "##" }, {
      oldString: "sleep",
      newString: "rest",
    }]);
    const read = await store.read("notes/ä b.md");
    kit.equal([read.content, read.version], ["## Plan\n- ship it\n- rest\n", 4]);
    kit.equal((await store.read("notes/ä b.md", { version: 1, lines: "2-2" })).content, "- ship\n");
    const bytes = new Uint8Array([0, 255, 1]);
    kit.equal((await store.write("logo", bytes, { contentType: "image/png" })).mimeType, "image/png");
    await store.append("logo", new Blob([bytes]));
    await store.append("logo", () => Promise.resolve(new Blob(["x"]).stream()));
    kit.equal([...await store.readBytes("logo")], [0, 255, 1, 0, 255, 1, 120]);
    kit.equal([...await store.readBytes("logo", { version: 1 })], [0, 255, 1]);
  }],
  ["lists, histories and the feed are iterated over all of their pages", async (kit) => {
    const store = new kit.Filestore({ ...kit, run: "many" });
    for (let from = 0; from < 250; from += 50) {
      const operations = Array.from({ length: 50 }, (_, index) => ({
        op: "write" as const,
        path: `d/${String(from + index).padStart(3, "0")}`,
        content: "x",
      }));
      kit.equal((await store.batch(operations)).results.length, 50);
    }
    await store.batch(
      Array.from({ length: 100 }, () => ({ op: "append" as const, path: "d/000", content: "x" })),
    );
    const paths = (await all(store.list("d"))).map(({ path }) => path);
    kit.equal([paths.length, paths[0], paths[249]], [250, "d/000", "d/249"]);
    const versions = (await all(store.history("d/000"))).map(({ version }) => version);
    kit.equal([versions.length, versions[0], versions[100]], [101, 101, 1]);
    kit.equal((await all(store.changes())).length, 350);
    kit.equal((await all(store.changes({ path: "d/000" }))).length, 101);
    kit.equal((await all(store.runs.list())).map(({ runId, fileCount }) => [runId, fileCount]), [[
      "many",
      250,
    ]]);
    kit.equal((await store.runs.get("many")).files.length, 250);
  }],
  ["the feed is followed until the iteration ends", async (kit) => {
    const store = new kit.Filestore(kit);
    await store.write("a", "1");
    const seen: string[] = [];
    for await (const { path, version } of store.changes({ follow: true })) {
      seen.push(`${path} ${version}`);
      if (seen.length === 3) break;
      await store.append("a", "x");
    }
    kit.equal(seen, ["a 1", "a 2", "a 3"]);
  }],
  [
    "files and folders are copied, moved, deleted and restored; diffs and searches are the service's data",
    async (kit) => {
      const store = new kit.Filestore(kit);
      await store.write("d/a", "one two\n");
      await store.write("d/a", "one three\n");
      kit.equal((await store.diff("d/a")).additions, 1);
      kit.equal((await store.diff("d/a", { from: 2, to: 1 })).to, 1);
      kit.equal((await store.copy("d/a", "d/b")).path, "d/b");
      kit.equal(await codeOf(kit, () => store.copy("d/a", "d/b")), "FILE_ALREADY_EXISTS");
      kit.equal((await store.copy("d/a", "d/b", { overwrite: true })).version, 2);
      kit.equal((await store.move("d/b", "d/c")).path, "d/c");
      kit.equal((await store.copy("d", "e", { recursive: true })).count, 2);
      kit.equal((await store.move("e", "f", { recursive: true })).count, 2);
      kit.equal((await store.delete("f", { recursive: true })).count, 2);
      kit.equal((await store.delete("d/c", { ifVersion: 1 })).version, 2);
      kit.equal((await store.restore("d/a", 1)).version, 3);
      const found = await store.search("two", { mode: "text", directory: "d" });
      kit.equal(found.results.map(({ path, matches }) => [path, matches[0]?.line]), [["d/a", 1]]);
    },
  ],
  ["a run is planned, undone and redone", async (kit) => {
    const store = new kit.Filestore({ ...kit, run: "night-1", actor: "planner" });
    await store.write("a", "1", { note: "größer" });
    const [version] = await all(store.history("a"));
    kit.equal([version?.runId, version?.actor, version?.note], ["night-1", "planner", "größer"]);
    kit.equal((await store.runs.undo("night-1")).actions.map(({ action }) => action), ["delete"]);
    kit.equal((await store.read("a")).content, "1");
    const other = new kit.Filestore({ ...kit, run: "back" });
    kit.equal((await other.runs.undo("night-1", { dryRun: false })).runId, "back");
    kit.equal(await codeOf(kit, () => store.read("a")), "FILE_NOT_FOUND");
    await new kit.Filestore(kit).write("a", "2");
    kit.equal(await codeOf(kit, () => store.runs.undo("back", { dryRun: false })), "RUN_CONFLICT");
    for (const odd of [".", "..", "a/b", "\ud800", "x y"]) {
      const code = await codeOf(kit, () => store.runs.get(odd));
      kit.equal(["RUN_NOT_FOUND", "VALIDATION_ERROR"].includes(code), true, `${odd}: ${code}`);
    }
  }],
  ["a branch is created, read, updated, merged and closed", async (kit) => {
    const store = new kit.Filestore(kit);
    await store.write("notes/plan.md", "1\n2\n3\n");
    const branch = await store.branches.create("try-1", { directory: "notes", title: "Shorter" });
    kit.equal([branch.path, branch.state, branch.fileCount], [".branches/try-1", "open", 1]);
    await store.write(".branches/try-1/plan.md", "1\n2\n3\n4\n");
    await store.write("notes/plan.md", "0\n1\n2\n3\n");
    const { counts, changes } = await store.branches.get("try-1");
    kit.equal([counts.modified, counts.conflicts, changes.map((one) => one.path)], [1, 0, ["plan.md"]]);
    kit.equal((await store.branches.update("try-1", { dryRun: false })).actions.map((one) => one.action), [
      "merge",
    ]);
    kit.equal((await store.branches.change("try-1", { state: "ready", note: "please" })).state, "ready");
    kit.equal((await all(store.branches.list({ state: "ready" }))).map((one) => one.name), ["try-1"]);
    kit.equal((await store.branches.merge("try-1")).actions.length, 1);
    const merged = await store.branches.merge("try-1", { dryRun: false, note: "reviewed" });
    kit.equal([merged.actions[0]?.version, typeof merged.runId], [3, "string"]);
    kit.equal((await store.read("notes/plan.md")).content, "0\n1\n2\n3\n4\n");
    await store.branches.create("try-2", { directory: "notes" });
    await store.write(".branches/try-2/plan.md", "x\n");
    await store.write("notes/plan.md", "y\n");
    kit.equal(await codeOf(kit, () => store.branches.merge("try-2", { dryRun: false })), "MERGE_CONFLICT");
    const resolutions = [{ path: "plan.md", content: "xy\n" }];
    kit.equal((await store.branches.merge("try-2", { resolutions })).conflicts, []);
    kit.equal((await store.branches.close("try-2", { note: "no" })).state, "closed");
    for (const odd of ["none", ".", "..", "a/b", "\ud800"]) {
      kit.equal(await codeOf(kit, () => store.branches.get(odd)), "BRANCH_NOT_FOUND", odd);
    }
  }],
  ["a link reads, and is listed until it is deleted", async (kit) => {
    const store = new kit.Filestore(kit);
    await store.write("a.txt", "hello");
    const { url, id } = await store.links.create("a.txt", { expiresIn: 60 });
    kit.equal(await (await fetch(url)).text(), "hello");
    kit.equal((await all(store.links.list())).map((one) => one.id), [id]);
    await store.links.delete(id);
    kit.equal(await all(store.links.list()), []);
  }],
  ["refusals are FilestoreErrors with code, status, details and request id", async (kit) => {
    const store = new kit.Filestore(kit);
    await store.write("a", "1");
    try {
      await store.write("a", "2", { ifVersion: 7 });
      kit.equal("no error", "an error");
    } catch (error) {
      kit.equal(error instanceof kit.FilestoreError && error instanceof Error, true);
      if (!(error instanceof kit.FilestoreError)) return;
      kit.equal([error.code, error.status, error.details["version"]], ["PRECONDITION_FAILED", 412, 1]);
      kit.equal(typeof error.requestId, "string");
    }
    kit.equal(await codeOf(kit, () => store.read("none")), "FILE_NOT_FOUND");
    kit.equal(await codeOf(kit, () => store.read("../keys")), "INVALID_PATH");
    kit.equal(await codeOf(kit, () => all(store.history("none"))), "FILE_NOT_FOUND");
    const stranger = new kit.Filestore({ ...kit, key: "oa_wrong" });
    kit.equal(await codeOf(kit, () => all(stranger.list())), "INVALID_API_KEY");
  }],
  ["a write with one idempotency key happens once", async (kit) => {
    const store = new kit.Filestore(kit);
    await store.write("a", "1");
    for (let time = 0; time < 2; time++) await store.append("a", "x", { idempotencyKey: "job-1" });
    kit.equal((await store.read("a")).content, "1x");
  }],
];
