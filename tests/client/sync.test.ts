/** `filestore sync`: both sides become equal, nothing is lost, and what cannot be synced is said. */
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { join } from "node:path";
import { Failure } from "../../supabase/client/failure.ts";
import { Filestore } from "../../supabase/client/mod.ts";
import type { Action } from "../../supabase/client/sync/pass.ts";
import type { Mode } from "../../supabase/client/sync/plan.ts";
import { Sync } from "../../supabase/client/sync/sync.ts";
import { administrator, purge } from "../support/client/erasure.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { suite } from "../support/stack/suite.ts";

const { service, test } = await suite();

/** A folder that is in sync with a folder of the project. */
class Synced {
  readonly store: Filestore;

  constructor(own: ProjectFiles, readonly root: string, private readonly directory = "") {
    this.store = new Filestore({ url: service.baseUrl, key: own.key });
  }

  at(path: string): string {
    return join(this.root, path);
  }

  async write(path: string, content: string): Promise<void> {
    await Deno.mkdir(join(this.at(path), ".."), { recursive: true });
    await Deno.writeTextFile(this.at(path), content);
  }

  /** The contents of the folder by path. */
  async files(folder = ""): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for await (const { name, isDirectory, isFile } of Deno.readDir(this.at(folder))) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (path === ".filestore") continue;
      if (isDirectory) Object.assign(found, await this.files(path));
      if (isFile) found[path] = await Deno.readTextFile(this.at(path));
    }
    return found;
  }

  /** One sync; what it did, as `action path`, and how many conflicts are left. */
  async sync(
    more: { mode?: Mode; force?: boolean; dryRun?: boolean } = {},
  ): Promise<[done: string[], left: number]> {
    const done: string[] = [];
    const report = ({ action, path }: Action) => Promise.resolve(void done.push(`${action} ${path}`));
    const sync = new Sync(this.store, this.root, this.directory, {
      mode: "both",
      force: false,
      dryRun: false,
      report,
      ...more,
    });
    try {
      return [done, await sync.once()];
    } finally {
      sync.end();
    }
  }
}

test("files and folders go both ways, and a second pass does nothing", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root, "notes");
    await own.write("notes/a.md", "1");
    await own.write("notes/d/ä b.md", "2");
    await own.write("other", "no");
    await here.write("new/c.txt", "3");
    await here.write("large", "x".repeat(3_000_000));
    assertEquals(await here.sync(), [[
      "download a.md",
      "download d/ä b.md",
      "upload large",
      "upload new/c.txt",
    ], 0]);
    assertEquals(await own.paths({ recursive: true }), [
      "notes/a.md",
      "notes/d/ä b.md",
      "notes/large",
      "notes/new/c.txt",
      "other",
    ]);
    assertEquals(await here.sync(), [[], 0]);

    await own.write("notes/a.md", "1.1");
    await here.write("new/c.txt", "3.1");
    await Deno.remove(here.at("large"));
    await own.request("DELETE", "/files/notes/d/%C3%A4%20b.md");
    const [done, left] = await here.sync();
    assertEquals([done.toSorted(), left], [[
      "deleteLocal d/ä b.md",
      "deleteRemote large",
      "download a.md",
      "upload new/c.txt",
    ], 0]);
    assertEquals(await here.files(), { "a.md": "1.1", "new/c.txt": "3.1" });
    await assertRejects(() => Deno.stat(here.at("d")), Deno.errors.NotFound);
    const { versions } = await own.versions("notes/new/c.txt");
    assertEquals(versions.map(({ version }) => version), [2, 1]);
    assertEquals(await here.sync(), [[], 0]);
  }));

test("many small files are one run of batches", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    for (let index = 0; index < 150; index++) await here.write(`d/${index}`, `${index}`);
    await Deno.writeFile(here.at("bytes"), new Uint8Array([0xff, 0, 0x80]));
    await here.write("bom", "\ufeffx");
    await here.write("empty", "");
    await here.sync();
    const runs = [];
    for await (const run of here.store.runs.list()) runs.push(run);
    assertEquals(runs.map(({ fileCount, versionCount }) => [fileCount, versionCount]), [[153, 153]]);
    assertEquals([...await here.store.readBytes("bytes")], [0xff, 0, 0x80]);
    assertEquals((await here.store.readBytes("bom")).length, 4);
    assertEquals(await here.sync(), [[], 0]);
  }));

test("texts that both sides have changed are merged by lines", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    await own.write("a", "1\n2\n3\n4\n5\n");
    await here.sync();
    await own.write("a", "0\n1\n2\n3\n4\n5\n");
    await here.write("a", "1\n2\n3\n4\n5\n6\n");
    assertEquals(await here.sync(), [["merge a", "upload a"], 0]);
    assertEquals(await here.files(), { a: "0\n1\n2\n3\n4\n5\n6\n" });
    assertEquals((await own.read("a")).content, "0\n1\n2\n3\n4\n5\n6\n");
    assertEquals(await here.sync(), [[], 0]);
  }));

test("what cannot be merged is kept twice: the service's at the path, the disk's beside it", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    await own.write("a.md", "1\n");
    await own.write("both", "theirs");
    await here.write("both", "mine");
    const [, left] = await here.sync();
    assertEquals(left, 1);
    await own.write("a.md", "2\n");
    await here.write("a.md", "3\n");
    assertEquals((await here.sync())[1], 1);
    assertEquals(await here.sync(), [[], 0]);
    const contents = await here.files();
    const copies = Object.keys(contents).filter((path) => path.includes("(conflict "));
    assertEquals(copies.map((path) => contents[path]).sort(), ["3\n", "mine"]);
    assertEquals([contents["a.md"], contents["both"]], ["2\n", "theirs"]);
    assertEquals(await own.paths({ recursive: true }), Object.keys(contents).sort());
    const lines = (await Deno.readTextFile(here.at(".filestore/conflicts.jsonl"))).trim().split("\n");
    const { path, base, current, copy } = JSON.parse(lines[1] ?? "");
    assertEquals([path, base, current, contents[copy]], ["a.md", 1, 2, "3\n"]);
  }));

test("a version of the service that is equal to the file on the disk is taken over: nothing is sent or replaced", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    for (const path of ["changed", "kept"]) await own.write(path, "1");
    await here.sync();
    const versionsOf = async (path: string) =>
      (await own.versions(path)).versions.map(({ version }) => version);
    const modified = async (path: string) => (await Deno.stat(here.at(path))).mtime?.getTime();
    for (const path of ["changed", "new"]) {
      await own.write(path, "2");
      await here.write(path, "2");
    }
    await own.write("kept", "1");
    const before = await Promise.all(["changed", "kept", "new"].map(modified));
    assertEquals(await here.sync(), [[], 0]);
    assertEquals(await Promise.all(["changed", "kept", "new"].map(modified)), before);
    assertEquals(await Promise.all(["changed", "kept", "new"].map(versionsOf)), [[2, 1], [2, 1], [1]]);
    // A file whose version was not taken over would now conflict, or be sent on the condition of an earlier version.
    for (const path of ["changed", "kept", "new"]) await here.write(path, "3");
    assertEquals(await here.sync(), [["upload changed", "upload kept", "upload new"], 0]);
    assertEquals(await Promise.all(["changed", "kept", "new"].map(versionsOf)), [[3, 2, 1], [3, 2, 1], [
      2,
      1,
    ]]);
    assertEquals(Object.keys(await here.files()).sort(), ["changed", "kept", "new"]);
  }));

test("a pass over files that have not changed is one call, however many they are", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    for (let index = 0; index < 120; index++) await here.write(`d/${index}`, `${index}`);
    for (let index = 0; index < 3; index++) await own.write(`theirs/${index}`, "x");
    await here.sync();
    const calls: string[] = [];
    const { fetch } = globalThis;
    globalThis.fetch = (input, init) => {
      const { href } = new URL(String(input));
      // What the function calls is counted elsewhere.
      if (href.startsWith(service.baseUrl)) {
        calls.push(href.slice(service.baseUrl.length).split("?", 1)[0] ?? "");
      }
      return fetch(input, init);
    };
    try {
      // The feed brings what the first pass has sent.
      await here.sync();
      calls.length = 0;
      assertEquals(await here.sync(), [[], 0]);
    } finally {
      globalThis.fetch = fetch;
    }
    assertEquals(calls, ["/changes"]);
  }));

test("what one side has deleted and the other has changed stays", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    await own.write("a", "1");
    await own.write("b", "1");
    await here.sync();
    await Deno.remove(here.at("a"));
    await own.write("a", "2");
    await own.request("DELETE", "/files/b");
    await here.write("b", "2");
    assertEquals(await here.sync(), [["download a", "upload b"], 0]);
    assertEquals(await here.files(), { a: "2", b: "2" });
  }));

test("more than half of 20 files are deleted with --force alone", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    for (let index = 0; index < 20; index++) await here.write(`${index}`, "x");
    await here.sync();
    for (let index = 0; index < 11; index++) await Deno.remove(here.at(`${index}`));
    assertStringIncludes((await assertRejects(() => here.sync(), Failure)).message, "--force");
    assertEquals((await own.paths({ recursive: true, limit: 100 })).length, 20);
    assertEquals((await here.sync({ force: true }))[0].length, 11);
    assertEquals((await own.paths({ recursive: true, limit: 100 })).length, 9);
  }));

test("ignore rules hold both ways, nested ones too, also those that the first pass fetches", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    await own.write(".gitignore", "*.log\n/build/\n");
    await own.write("d/.filestoreignore", "!keep.log\n");
    for (const path of ["x.log", "d/y.log", "d/keep.log", "build/z", "d/build/z"]) {
      await own.write(path, "theirs");
    }
    await here.write("mine.log", "mine");
    await here.write(".git/config", "mine");
    await Deno.symlink("/etc/hostname", here.at("link"));
    await here.sync();
    const contents = Object.keys(await here.files()).sort();
    assertEquals(contents, [
      ".git/config",
      ".gitignore",
      "d/.filestoreignore",
      "d/build/z",
      "d/keep.log",
      "mine.log",
    ]);
    assertEquals((await own.paths({ recursive: true })).includes("mine.log"), false);
    await Deno.remove(here.at(".gitignore"));
    await here.sync();
    assertEquals(Object.keys(await here.files()).includes("x.log"), true);
    assertEquals((await own.read("mine.log")).content, "mine");
  }));

test("what the disk cannot hold is said, and is not deleted in the service", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    await own.write("a", "1");
    await own.write("a/b", "2");
    await own.write("n".repeat(300), "3");
    const [done, left] = await here.sync();
    assertEquals([done.filter((one) => one.startsWith("skip")).length, left], [2, 0]);
    assertEquals((await here.sync())[0].filter((one) => !one.startsWith("skip")), []);
    assertEquals((await own.paths({ recursive: true })).length, 3);
  }));

test("a file that is larger than the project allows is said, and the others are sent", (own) =>
  withScratchDirectory(async (root) => {
    await service.setTier(own.project.id, "enterprise", { maxFileBytes: 2_000_000 });
    const here = new Synced(own, root);
    await here.write("large", "x".repeat(5_000_000));
    await here.write("small", "x");
    assertEquals(await here.sync(), [["skip large", "upload small"], 0]);
    assertEquals(await own.paths(), ["small"]);
  }));

test("--pull sends nothing, and --push changes nothing on the disk", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    await own.write("a", "1");
    await here.sync();
    await own.write("a", "2");
    await here.write("a", "3");
    await here.write("mine", "x");
    await own.write("theirs", "y");
    assertEquals(await here.sync({ mode: "push" }), [["conflict theirs", "conflict a", "upload mine"], 2]);
    assertEquals(await here.files(), { a: "3", mine: "x" });
    await here.write("mine", "z");
    const [, left] = await here.sync({ mode: "pull" });
    assertEquals(left, 1);
    assertEquals([(await own.read("mine")).content, (await own.paths({ recursive: true })).length], ["x", 3]);
    const { a, mine, theirs } = await here.files();
    assertEquals([a, mine, theirs], ["2", "z", "y"]);
    assertEquals((await here.sync())[0].filter((one) => one.startsWith("upload")).length, 2);
  }));

test("--dry-run changes nothing", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    await own.write("a", "1");
    await here.write("b", "1");
    assertEquals(await here.sync({ dryRun: true }), [["download a", "upload b"], 0]);
    assertEquals([await here.files(), await own.paths({ recursive: true })], [{ b: "1" }, ["a"]]);
  }));

test("a purge in the service removes the file on the disk, unless it was changed there", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    const admin = await administrator(service, own.project.id);
    for (const path of ["a", "b"]) await own.write(path, "1");
    await here.sync();
    await here.write("b", "2");
    for (const path of ["a", "b"]) await purge(admin, path);
    assertEquals(await here.sync(), [["deleteLocal a", "upload b"], 0]);
  }));

test("one run at a time; another folder of the service is refused; a lock of a dead process is not in the way", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    await here.sync();
    const options = { mode: "both" as const, force: false, dryRun: false, report: () => Promise.resolve() };
    const first = new Sync(here.store, root, "", options);
    assertThrows(() => new Sync(here.store, root, "", options), Failure, "is running");
    first.end();
    assertThrows(() => new Sync(here.store, root, "other", options), Failure, "This folder is in sync with");
    await Deno.writeTextFile(here.at(".filestore/lock"), "999999999");
    assertEquals(await here.sync(), [[], 0]);
  }));

test("--watch brings what changes on either side", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    const done: string[] = [];
    let wake = () => {};
    const report = ({ action, path }: Action) => {
      done.push(`${action} ${path}`);
      wake();
      return Promise.resolve();
    };
    const until = async (what: string) => {
      while (!done.includes(what)) await new Promise<void>((resolve) => wake = resolve);
    };
    const sync = new Sync(here.store, root, "", { mode: "both", force: false, dryRun: false, report });
    const end = new AbortController();
    const ready = Promise.withResolvers<void>();
    const followed = sync.follow(end.signal, () => Promise.resolve(ready.resolve()));
    await ready.promise;
    await own.write("theirs", "1");
    await until("download theirs");
    await here.write("mine", "1");
    await until("upload mine");
    assert((await own.paths({ recursive: true })).includes("mine"));
    end.abort();
    await followed;
    sync.end();
  }));
