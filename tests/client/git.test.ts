/**
 * `filestore git`: the tree of each commit is the folder at the moment of its cursor, equal histories have equal hashes, and
 * only a repository that the command created is changed.
 */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { Failure } from "../../supabase/client/failure.ts";
import { Git } from "../../supabase/client/git/git.ts";
import { writeHistory } from "../../supabase/client/git/history.ts";
import { Filestore, FilestoreError } from "../../supabase/client/mod.ts";
import { administrator, purge } from "../support/client/erasure.ts";
import { IS_BRIEF, rounds } from "../support/runner/long.ts";
import { type Random, randomFrom, SEED } from "../support/random.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { suite } from "../support/stack/suite.ts";

const HISTORIES = IS_BRIEF ? 2 : rounds(10, 300);
const PATHS = ["a", "a/b", "a/b/c", "a~", "d/plan.md", 'd/"q" ä.md', "d/.git/config", "\u{1f600}"];

const { service, test } = await suite();

function storeOf({ key }: { readonly key: string }, more: { run?: string; actor?: string } = {}): Filestore {
  return new Filestore({ url: service.baseUrl, key, ...more });
}

/** One write of any kind. A refusal, for instance for a file that does not exist, is no commit. */
async function writeSomething(store: Filestore, random: Random): Promise<void> {
  const path = random.pick(PATHS);
  const content = random.pick(["1\n", "2\n", "ä", "x".repeat(2_000_000)]);
  const kinds: readonly (() => Promise<unknown>)[] = [
    () => store.write(path, content, { note: random.pick(["why", "two\n\nlines", "Cursor: not this one"]) }),
    () => store.write(path, new Uint8Array([0, 255, random.below(9)])),
    () => store.write(path, ""),
    () => store.append(path, "more\n"),
    () => store.delete(path),
    () => store.restore(path, 1),
    () => store.move(path, random.pick(PATHS), { overwrite: true }),
    () => store.copy(path, random.pick(PATHS), { overwrite: true }),
    () => store.move("d", "e", { recursive: true }),
    () => store.delete("a", { recursive: true }),
    () =>
      store.batch(
        PATHS.slice(random.below(6)).map((one) => ({ op: "write", path: one, content: `${one}\n` })),
      ),
    () => store.runs.undo("night-1", { dryRun: false, onConflict: "skip" }),
  ];
  await random.pick(kinds)().catch((error) => {
    if (!(error instanceof FilestoreError)) throw error;
  });
}

async function gitText(folder: string, ...args: string[]): Promise<string> {
  return await new Git(folder).run(...args);
}

/** Name → blob of the files at a moment, with the names that git can hold. */
async function treeAt(store: Filestore, directory: string, at: string): Promise<Map<string, string>> {
  const blobs = new Map<string, string>();
  for await (const { path } of store.list(directory, { recursive: true, at })) {
    if (path.split("/").includes(".git")) continue;
    const bytes = await store.readBytes(path, { at });
    const name = directory === "" ? path : path.slice(directory.length + 1);
    blobs.set(name, createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex"));
  }
  const paths = [...blobs.keys()];
  const isFolder = (path: string) => paths.some((other) => other.startsWith(`${path}/`));
  const names = new Map<string, string>();
  for (const path of paths.toSorted()) {
    let name = path;
    while (isFolder(name) || name !== path && (blobs.has(name) || names.has(name))) name += "~";
    names.set(name, blobs.get(path) ?? "");
  }
  return names;
}

async function treeOf(folder: string, commit: string): Promise<Map<string, string>> {
  const lines = (await gitText(folder, "ls-tree", "-r", "-z", commit)).split("\0").filter((line) =>
    line !== ""
  );
  return new Map(lines.map((line) => {
    const [head = "", name = ""] = line.split("\t");
    assertEquals(head.slice(0, 12), "100644 blob ");
    return [name, head.slice(12)];
  }));
}

/** Compares every commit with the service, and returns the last one. */
async function check(store: Filestore, folder: string, directory: string): Promise<string> {
  const commits: { id: string; cursor: string }[] = [];
  for await (const { commitId, cursor } of store.changes({ directory: directory || undefined })) {
    if (commits.at(-1)?.id === commitId) commits.pop();
    commits.push({ id: commitId, cursor });
  }
  const logged = (await gitText(folder, "rev-list", "--reverse", "main")).trim().split("\n");
  assertEquals(logged.length, commits.length);
  for (const [index, { cursor }] of commits.entries()) {
    const commit = logged[index] ?? "";
    const body = await gitText(folder, "log", "-1", "--format=%B", commit);
    assertEquals(body.trim().split("\n").at(-1), `Cursor: ${cursor}`);
    assertEquals(sorted(await treeOf(folder, commit)), sorted(await treeAt(store, directory, cursor)), body);
  }
  assertEquals(await gitText(folder, "status", "--porcelain"), "");
  assertEquals((await gitText(folder, "symbolic-ref", "HEAD")).trim(), "refs/heads/main");
  await gitText(folder, "fsck", "--strict", "--no-dangling");
  return logged.at(-1) ?? "";
}

function sorted(tree: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...tree].sort());
}

for (let history = 0; history < HISTORIES; history++) {
  test(`the tree of each commit is the folder at its cursor, after one run or several (seed ${SEED + history})`, (own) =>
    withScratchDirectory(async (scratch) => {
      const random = randomFrom(SEED + history);
      const directory = random.pick(["", "d", "a"]);
      const store = storeOf(own, { run: "night-1", actor: "planner <p>" });
      const [steps, whole] = [join(scratch, "steps"), join(scratch, "whole")];
      for (let part = 0; part < 3; part++) {
        for (let count = random.below(8); count > 0; count--) await writeSomething(store, random);
        await writeHistory(store, steps, directory);
      }
      const { tip, commits } = await writeHistory(store, whole, directory);
      if (tip === null) return;
      assertEquals(await check(store, steps, directory), tip);
      assertEquals(await check(store, whole, directory), tip, "equal histories have equal hashes");
      assert(commits > 0);
      assertEquals((await writeHistory(store, whole, directory)).commits, 0);
    }));
}

test("a commit has the actor or the name of its key, the note or a line, the run and the cursor", (own) =>
  withScratchDirectory(async (folder) => {
    const admin = await administrator(service, own.project.id);
    await storeOf(own, { run: "night-1", actor: "planner <p@x>" }).write("a", "1", { note: "größer" });
    await storeOf(own).write("a", "2");
    await storeOf(own).batch([{ op: "write", path: "b", content: "" }, { op: "delete", path: "a" }]);
    await writeHistory(storeOf(admin), folder, "");
    const [batch, second, first] =
      (await gitText(folder, "log", "--format=%an|%ae|%cn|%s|%(trailers:key=Run)"))
        .trim().split(/\n+(?=\S+.*\|)/);
    assertEquals(first?.trim(), "planner p@x||planner p@x|größer|Run: night-1");
    const { keys } = await storeOf(admin).api.data<{ keys: { name: string }[] }>("/project/apikeys");
    assert(keys.some(({ name }) => second === `${name}||${name}|write a|`), second);
    assertStringIncludes(batch ?? "", "|write 2 versions|");
    await assertRejects(() => Deno.stat(join(folder, "a")), Deno.errors.NotFound);
    await writeHistory(storeOf(own), `${folder}/other`, "");
    assertStringIncludes(await gitText(`${folder}/other`, "log", "--format=%an"), "filestore\n");
  }));

test("what was purged is in no commit and no object any more", (own) =>
  withScratchDirectory(async (scratch) => {
    const [folder, fresh] = [join(scratch, "one"), join(scratch, "two")];
    const store = storeOf(own);
    await store.write("secret", "a password");
    await store.write("a", "1");
    await writeHistory(store, folder, "");
    const blob = (await gitText(folder, "rev-parse", "main:secret")).trim();
    await purge(await administrator(service, own.project.id), "secret");
    const { tip } = await writeHistory(store, folder, "");
    await assertRejects(() => gitText(folder, "cat-file", "-e", blob), Failure);
    assertEquals((await writeHistory(store, fresh, "")).tip, tip);
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), [".git", "a"]);
  }));

test("a folder of somebody else, commits of somebody else and changes that were not committed are left alone", (own) =>
  withScratchDirectory(async (scratch) => {
    const store = storeOf(own);
    await store.write("a", "1");
    const refused = async (folder: string, directory = "") =>
      (await assertRejects(() => writeHistory(store, folder, directory), Failure)).message;

    const foreign = join(scratch, "foreign");
    await Deno.mkdir(foreign);
    await gitText(foreign, "init", "--quiet");
    assertStringIncludes(await refused(foreign), "no folder that filestore git created");
    await Deno.mkdir(join(scratch, "files"));
    await Deno.writeTextFile(join(scratch, "files/x"), "");
    assertStringIncludes(await refused(join(scratch, "files")), "is not empty");

    const folder = join(scratch, "own");
    await writeHistory(store, folder, "");
    assertStringIncludes(await refused(folder, "d"), "has the history of the whole project, not of d");
    await Deno.writeTextFile(join(folder, "a"), "mine");
    await store.write("a", "2");
    assertMatch(await refused(folder), /^git checkout failed: error: .* would be overwritten .*: a$/);
    assertEquals(await Deno.readTextFile(join(folder, "a")), "mine");
    await gitText(folder, "checkout", "--quiet", "--", "a");
    assertEquals((await writeHistory(store, folder, "")).commits, 0);
    assertEquals(await Deno.readTextFile(join(folder, "a")), "2");
    await store.write(".gitignore", "*.log\n");
    await writeHistory(store, folder, "");
    await Deno.writeTextFile(join(folder, "x.log"), "mine");
    await store.write("x.log", "theirs");
    assertMatch(await refused(folder), /^git checkout failed: error: .* would be overwritten .*: x\.log$/);
    assertEquals(await Deno.readTextFile(join(folder, "x.log")), "mine");
    await Deno.remove(join(folder, "x.log"));
    await writeHistory(store, folder, "");
    const identity = ["-c", "user.name=me", "-c", "user.email=me@x"];
    await gitText(folder, ...identity, "commit", "--quiet", "--allow-empty", "-m", "mine");
    assertStringIncludes(await refused(folder), "has commits of its own on main");
  }));

test("a history that was cut off is continued, and none is written twice", (own) =>
  withScratchDirectory(async (folder) => {
    const store = storeOf(own);
    await store.write("a", "1");
    await writeHistory(store, folder, "");
    await store.write("a", "2");
    const state = join(folder, ".git/filestore.json");
    const before = await Deno.readTextFile(state);
    const { tip } = await writeHistory(store, folder, "");
    // The end came after the commits were written, and before they were remembered or checked out.
    await Deno.writeTextFile(state, before);
    await gitText(folder, "checkout", "--quiet", "-B", "main", "main^");
    assertEquals((await writeHistory(store, folder, "")).tip, tip);
    assertEquals((await gitText(folder, "rev-list", "--count", "main")).trim(), "2");
    // The end came while a large version was being fetched.
    await Deno.writeTextFile(join(folder, `.git/filestore-${crypto.randomUUID()}`), "x");
    // The end came while the files were being replaced.
    await Deno.writeTextFile(
      state,
      (await Deno.readTextFile(state)).replace('"isCheckingOut":false', '"isCheckingOut":true'),
    );
    await Deno.writeTextFile(join(folder, "a"), "hal");
    await store.write("a", "3");
    await writeHistory(store, folder, "");
    assertEquals(await Deno.readTextFile(join(folder, "a")), "3");
    const kept = [...Deno.readDirSync(join(folder, ".git"))].filter(({ name }) =>
      name.startsWith("filestore")
    );
    assertEquals(kept.map(({ name }) => name), ["filestore.json"]);
    // The end came before there was a repository.
    const early = join(folder, "early");
    await Deno.mkdir(join(early, ".git"), { recursive: true });
    const { directory, renamed } = JSON.parse(await Deno.readTextFile(state));
    await Deno.writeTextFile(join(early, ".git/filestore.json"), JSON.stringify({ directory, renamed }));
    assertEquals((await writeHistory(store, early, "")).commits, 3);
  }));
