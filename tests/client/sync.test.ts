/** `filestore sync`: both sides become equal, nothing is lost, and what cannot be synced is said. */
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { join } from "node:path";
import { Failure } from "../../supabase/client/failure.ts";
import { Filestore, FilestoreError } from "../../supabase/client/mod.ts";
import { LocalFolder } from "../../supabase/client/sync/local_folder.ts";
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

  async mode(path: string): Promise<string> {
    return (((await Deno.stat(this.at(path))).mode ?? 0) & 0o777).toString(8);
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

/** Runs the work with a callback for each call of the service, before it is sent. What the function calls does not count. */
async function watched<T>(onCall: (path: string) => void, work: () => Promise<T>): Promise<T> {
  const { fetch } = globalThis;
  globalThis.fetch = (input, init) => {
    const { href } = new URL(String(input));
    if (href.startsWith(service.baseUrl)) onCall(href.slice(service.baseUrl.length).split("?", 1)[0] ?? "");
    return fetch(input, init);
  };
  try {
    return await work();
  } finally {
    globalThis.fetch = fetch;
  }
}

/** Runs the work, and changes the disk when the folder was scanned and before anything else is done. */
function afterScan<T>(change: () => void, work: () => Promise<T>): Promise<T> {
  let isScanned = false;
  return watched(() => {
    if (!isScanned) change();
    isScanned = true;
  }, work);
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
    // The feed brings what the first pass has sent.
    await here.sync();
    const calls: string[] = [];
    const pass = await watched((path) => calls.push(path), () => here.sync());
    assertEquals(pass, [[], 0]);
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

test("--pull forgets what the service has deleted, so the next sync writes the changed file again", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    await own.write("a", "1");
    await here.sync();
    await here.write("a", "2");
    await own.remove("a");
    assertEquals(await here.sync({ mode: "pull" }), [[], 0]);
    assertEquals(await here.sync(), [["upload a"], 0]);
    assertEquals((await own.read("a")).content, "2");
  }));

test("what the service changes while the disk has a link there arrives when the link is gone", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    for (const path of ["as before", "changed", "removed", "d/a"]) await own.write(path, "1\n2\n3\n");
    await here.sync();
    await Deno.mkdir(here.at(".filestore/kept"));
    for (const path of ["as before", "changed", "removed", "d"]) {
      await Deno.rename(here.at(path), here.at(`.filestore/kept/${path}`));
      await Deno.symlink("/etc/hostname", here.at(path));
    }
    for (const path of ["as before", "changed", "removed", "d/new"]) await own.write(path, "0\n1\n2\n3\n");
    assertEquals(await here.sync(), [["skip as before", "skip changed", "skip d", "skip removed"], 0]);
    for (const path of ["as before", "changed", "removed", "d"]) await Deno.remove(here.at(path));
    for (const path of ["as before", "d"]) {
      await Deno.rename(here.at(`.filestore/kept/${path}`), here.at(path));
    }
    await here.write("changed", "1\n2\n3\n4\n");
    const [done, left] = await here.sync();
    assertEquals([done.toSorted(), left], [[
      "download as before",
      "download d/new",
      "download removed",
      "merge changed",
      "upload changed",
    ], 0]);
    assertEquals((await own.read("changed")).content, "0\n1\n2\n3\n4\n");
  }));

test("a run that others seem to overtake for ever says so, and the next one lists all files", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    await own.write("a", "1\n2\n3\n");
    await here.sync();
    await own.write("a", "0\n1\n2\n3\n");
    const { cursor } = await here.store.api.data<{ cursor: string }>("/changes", { query: { after: "now" } });
    const [head = "", ...lines] = (await Deno.readTextFile(here.at(".filestore/state"))).split("\n");
    const later = JSON.stringify({ ...JSON.parse(head), cursor });
    await Deno.writeTextFile(here.at(".filestore/state"), [later, ...lines].join("\n"));
    await here.write("a", "1\n2\n3\n4\n");
    const { message } = await assertRejects(() => here.sync(), Failure);
    assertEquals(message, "Others keep changing the same files (a); run it again.");
    assertEquals(await here.sync(), [["merge a", "upload a"], 0]);
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
    for (const path of ["x.log", "X.LOG", "d/y.log", "d/keep.log", "build/z", "d/build/z"]) {
      await own.write(path, "theirs");
    }
    await here.write("mine.log", "mine");
    await here.write(".git/config", "mine");
    await Deno.symlink("/etc/hostname", here.at("link"));
    await here.sync();
    const contents = Object.keys(await here.files()).sort();
    // Rules tell cases apart where the disk does.
    const isApart = await Deno.stat(here.at(".FILESTORE")).then(() => false, () => true);
    assertEquals(contents, [
      ".git/config",
      ".gitignore",
      ...isApart ? ["X.LOG"] : [],
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

test("a file of the service with the name of a folder on the disk is left out until the folder is gone", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    await own.write(".gitignore", "*.log\n");
    await own.write("d/synced", "1");
    await here.sync();
    await Deno.mkdir(here.at("empty"));
    await here.write("d/x.log", "mine");
    await own.remove("d/synced");
    for (const path of ["d", "empty", "other"]) await own.write(path, "theirs");
    const [done, left] = await here.sync();
    assertEquals([done.toSorted(), left], [[
      "deleteLocal d/synced",
      "download other",
      "skip d",
      "skip d/x.log",
      "skip empty",
    ], 0]);
    assertEquals((await here.files())["d/x.log"], "mine");
    await Deno.remove(here.at("d"), { recursive: true });
    await Deno.remove(here.at("empty"));
    assertEquals(await here.sync(), [["download d", "download empty"], 0]);
  }));

test("a folder that is a link, or has another name on the disk, gets no file through it", (own) =>
  withScratchDirectory(async (scratch) => {
    const [root, elsewhere] = [join(scratch, "root"), join(scratch, "elsewhere")];
    for (const folder of [root, elsewhere]) await Deno.mkdir(folder);
    const here = new Synced(own, root);
    await own.write("Docs/a", "1");
    await here.sync();
    for (const path of ["docs/a", "docs/b", "link/x", "link/y/z"]) await own.write(path, "theirs");
    // A disk that ignores case opens `Docs` under the name `docs`.
    const [done] = await afterScan(() => {
      Deno.symlinkSync("Docs", here.at("docs"));
      Deno.symlinkSync(elsewhere, here.at("link"));
    }, () => here.sync());
    assertEquals(done, ["skip docs/a", "skip docs/b", "skip link/x", "skip link/y/z"]);
    assertEquals([await here.files(), [...Deno.readDirSync(elsewhere)]], [{ "Docs/a": "1" }, []]);
    for (const path of ["docs", "link"]) await Deno.remove(here.at(path));
    assertEquals((await here.sync())[0].length, 4);
  }));

test("what any system takes for .git or .filestore is left out in both ways", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    const paths = [".GIT/hooks/pre-commit", "d/.Git/x", "git~1/x", ".git./x", ".g\u200cit/x"];
    paths.push(".Filestore/state", "d/.FILESTORE./x", "FileSt~1/x", ".file\u017ftore/x");
    for (const path of paths) await own.write(path, "theirs");
    await here.write(".Git/config", "mine");
    await here.write(".github/x", "mine");
    assertEquals(await here.sync(), [["skip .Git", "upload .github/x"], 0]);
    assertEquals(Object.keys(await here.files()).sort(), [".Git/config", ".github/x"]);
  }));

test("a file keeps its mode when a new version replaces it", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    const paths = ["conflict", "merged", "run.sh", "secret"];
    for (const path of paths) await own.write(path, "1\n2\n3\n");
    await here.sync();
    const usual = await here.mode("secret");
    for (const path of paths) await Deno.chmod(here.at(path), path === "run.sh" ? 0o755 : 0o600);
    for (const path of [...paths, "new"]) await own.write(path, "0\n1\n2\n3\n");
    await here.write("conflict", "one\n");
    await here.write("merged", "1\n2\n3\n4\n");
    assertEquals((await here.sync())[1], 1);
    const names = Object.keys(await here.files()).sort();
    assertEquals(names.length, 6);
    const modes = await Promise.all(names.map((path) => here.mode(path)));
    assertEquals(modes, ["600", "600", "600", usual, "755", "600"]);
    assertEquals(await here.mode(".filestore/tmp"), "700");
  }));

test("a name that has no room for a copy's mark is cut", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    const name = `${"n".repeat(250)}.md`;
    await own.write(name, "theirs");
    await here.write(name, "mine");
    const [done, left] = await here.sync();
    assertEquals([done[0], left], [`conflict ${name}`, 1]);
    const contents = await here.files();
    const { copy } = JSON.parse(await Deno.readTextFile(here.at(".filestore/conflicts.jsonl")));
    assertEquals([contents[name], contents[copy], (await own.read(copy)).content], [
      "theirs",
      "mine",
      "mine",
    ]);
  }));

test("a file that cannot be moved, replaced or removed is said, and the others are synced", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    for (const path of ["deleted", "merged"]) await own.write(path, "1\n2\n3\n");
    await here.sync();
    await own.remove("deleted");
    await own.write("merged", "0\n2\n3\n");
    await here.write("merged", "1\n2\n4\n");
    for (const path of ["both", "theirs"]) await own.write(path, "theirs");
    for (const path of ["both", "mine"]) await here.write(path, "mine");
    const { keepBeside, place, remove } = LocalFolder.prototype;
    LocalFolder.prototype.remove = () => {
      throw new Error("EBUSY");
    };
    LocalFolder.prototype.place = function (download, path, like) {
      if (path === "merged") throw new Error("EBUSY");
      place.call(this, download, path, like);
    };
    // A folder in the way of the copy, which appears after the name was chosen.
    LocalFolder.prototype.keepBeside = function (path, copy, line) {
      Deno.mkdirSync(this.at(copy));
      keepBeside.call(this, path, copy, line);
    };
    try {
      for (const others of [["download theirs", "upload mine"], []]) {
        assertEquals(await here.sync(), [["skip deleted", "skip both", "skip merged", ...others], 0]);
      }
    } finally {
      Object.assign(LocalFolder.prototype, { keepBeside, place, remove });
    }
    const { both, deleted, merged } = await here.files();
    assertEquals([both, deleted, merged], ["mine", "1\n2\n3\n", "1\n2\n4\n"]);
    const conflicts = await Deno.readTextFile(here.at(".filestore/conflicts.jsonl"));
    assertEquals(conflicts, "", "it names a copy that is none");
    const [done, left] = await here.sync();
    assertEquals([done, left], [[
      "deleteLocal deleted",
      "conflict both",
      "download both",
      "merge merged",
      `upload ${JSON.parse(await Deno.readTextFile(here.at(".filestore/conflicts.jsonl"))).copy}`,
      "upload merged",
    ], 1]);
  }));

test("a large file that disappears before it is sent does not end the run", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    await here.write("large", "x".repeat(2_000_000));
    await here.write("small", "x");
    const [done] = await afterScan(() => Deno.removeSync(here.at("large")), () => here.sync());
    assertEquals(done, ["upload small"]);
    assertEquals(await own.paths(), ["small"]);
  }));

test("bytes that end too early are asked for again", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    const contents = { large: "x".repeat(2_000_000), small: "1\n2\n" };
    for (const [path, content] of Object.entries(contents)) await own.write(path, content);
    const cut = new Set<string>();
    const { fetch } = globalThis;
    globalThis.fetch = async (input, init) => {
      const answer = await fetch(input, init);
      const [path = ""] = /(?<=\/files\/)\w+/.exec(String(input)) ?? [];
      if (!(path in contents) || cut.has(path) || !String(input).startsWith(service.baseUrl)) return answer;
      cut.add(path);
      return new Response((await answer.arrayBuffer()).slice(0, 3), answer);
    };
    try {
      assertEquals(await here.sync(), [["download large", "download small"], 0]);
    } finally {
      globalThis.fetch = fetch;
    }
    assertEquals([await here.files(), cut.size], [contents, 2]);
  }));

test("a new version keeps the type that the file was given, and that of an empty file follows from its content", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    await own.write("plan", "# 1", { contentType: "text/markdown" });
    await own.write("large", "x".repeat(2_000_000), { contentType: "text/csv" });
    await own.write("empty", "");
    await here.sync();
    await here.write("plan", "# 2");
    await here.write("large", "y".repeat(2_000_000));
    await Deno.writeFile(here.at("empty"), new Uint8Array([0xff]));
    assertEquals((await here.sync())[0].toSorted(), ["upload empty", "upload large", "upload plan"]);
    const types = await Promise.all(["plan", "large", "empty"].map(async (path) => {
      const { mimeType, version } = await own.record(path);
      return [mimeType, version];
    }));
    assertEquals(types, [["text/markdown", 2], ["text/csv", 2], ["application/octet-stream", 2]]);
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
    const refused = new Synced({ ...own, key: "oa_x" } as ProjectFiles, root, "wrong");
    await assertRejects(() => refused.sync(), FilestoreError);
    assertEquals(await new Synced(own, root, "d").sync(), [["upload b"], 0], "the folder belonged to none");
  }));

test("--dry-run says what is merged, what conflicts, and what --push would leave", (own) =>
  withScratchDirectory(async (root) => {
    const here = new Synced(own, root);
    for (const path of ["merged", "other", "theirs"]) await own.write(path, "1\n2\n3\n");
    await here.sync();
    for (const path of ["merged", "other", "theirs"]) await own.write(path, "0\n2\n3\n");
    await here.write("merged", "1\n2\n4\n");
    await here.write("other", "9\n2\n3\n");
    const before = await here.files();
    const both = ["merge merged", "conflict other", "download theirs"];
    assertEquals(await here.sync({ dryRun: true }), [both, 0]);
    const push = ["conflict merged", "conflict other", "conflict theirs"];
    assertEquals(await here.sync({ dryRun: true, mode: "push" }), [push, 0]);
    assertEquals(await here.files(), before);
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
    // A process that has ended, also one that had the id that this one has now, as the first of a container.
    for (const owner of ["999999999", `${Deno.pid}`, `${Deno.pid} ${crypto.randomUUID()}`]) {
      await Deno.writeTextFile(here.at(".filestore/lock"), owner);
      assertEquals(await here.sync(), [[], 0]);
    }
    // One that has created it and not written it yet.
    await Deno.writeTextFile(here.at(".filestore/lock"), "");
    assertThrows(() => new Sync(here.store, root, "", options), Failure, "is running");
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
