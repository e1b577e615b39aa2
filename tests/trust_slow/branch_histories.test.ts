/**
 * Random histories of branches, against `git merge` of the same trees: the same files conflict, and the others have the
 * same text. What is undone afterwards is as before, and an updated branch merges without a conflict.
 */
import { assertEquals } from "@std/assert";
import { Branches } from "../support/client/branches.ts";
import type { Files } from "../support/client/files.ts";
import { type Random, randomFrom, SEED } from "../support/random.ts";
import { IS_LONG } from "../support/runner/long.ts";
import { suite, test } from "../support/stack/suite.ts";

const { files } = await suite();

const HISTORIES = IS_LONG ? 1000 : 300;
const NAMES = ["a.md", "b.md", "deep/c.md", "d.bin"];
const NUL = "\0";
/** A type of binary content: git recognizes it by its NUL. */
const BINARY = { contentType: "image/png" } as const;

/** Path → content. */
type Tree = Readonly<Record<string, string>>;

/** Chains of histories that run at the same time, each with its own repository. */
const CHAINS = 4;

test(`${HISTORIES} random histories end as with git merge (seed ${SEED})`, async () => {
  const own = await files();
  await Promise.all(Array.from({ length: CHAINS }, async (_, chain) => {
    const git = await Repository.create();
    try {
      for (let number = chain; number < HISTORIES; number += CHAINS) {
        await history(own, git, randomFrom(SEED + number), number);
      }
    } finally {
      await git.remove();
    }
  }));
});

async function history(own: Files, git: Repository, random: Random, number: number): Promise<void> {
  const folder = `h${number}`;
  const inside = `.branches/b${number}`;
  const branches = new Branches(own);
  const base = startOf(random);
  await put(own, folder, {}, base);
  await branches.create(`b${number}`, { directory: folder });
  const ours = changeOf(random, base, "ours");
  const theirs = changeOf(random, base, "theirs");
  await put(own, inside, base, ours);
  await put(own, folder, base, theirs);
  const expected = await git.merge(base, theirs, ours);
  const what = JSON.stringify({ number, base, ours, theirs });
  const plan = await branches.merge(`b${number}`, { dryRun: true });
  assertEquals(plan.conflicts.map(({ path }) => path), expected.conflicts, what);
  if (expected.conflicts.length > 0) {
    // The branch takes its own side of the conflicts, and then has nothing in conflict.
    await branches.update(`b${number}`, { onConflict: "branch" });
    assertEquals((await branches.get(`b${number}`)).counts.conflicts, 0, what);
  }
  const merged = await branches.merge(`b${number}`);
  const chosen = Object.fromEntries(expected.conflicts.flatMap((path) => {
    const content = ours[path];
    return content === undefined ? [] : [[path, content]];
  }));
  assertEquals(await treeOf(own, folder), sorted({ ...expected.clean, ...chosen }), what);
  if (merged.actions.length === 0) return;
  const undo = await own.request("POST", `/runs/${merged.runId}/undo`, { body: { dryRun: false } });
  assertEquals(undo.status, 200, undo.text);
  assertEquals(await treeOf(own, folder), sorted(theirs), what);
}

function startOf(random: Random): Tree {
  const names = NAMES.filter(() => random.below(4) > 0);
  return Object.fromEntries(names.map((name) => [name, textOf(name, linesOf(random))]));
}

function linesOf(random: Random): string[] {
  return Array.from({ length: 1 + random.below(8) }, (_, index) => `line ${index}`);
}

function textOf(name: string, lines: readonly string[]): string {
  return (name.endsWith(".bin") ? NUL : "") + lines.map((line) => `${line}\n`).join("");
}

/** Some files are added, deleted or changed; all lines differ, so a shortest change is unique. */
function changeOf(random: Random, base: Tree, side: string): Tree {
  const changed: Record<string, string> = {};
  for (const name of NAMES) {
    const kind = random.below(6);
    const old = base[name];
    if (old === undefined) {
      if (kind < 2) changed[name] = textOf(name, [kind === 0 ? "both add" : `${side} adds`]);
    } else if (kind === 0) continue;
    else changed[name] = kind < 3 ? old : textOf(name, changedLines(random, old.replace(NUL, ""), side));
  }
  return changed;
}

function changedLines(random: Random, old: string, side: string): string[] {
  return old.split("\n").slice(0, -1).flatMap((line, index) => {
    const kind = random.below(8);
    if (kind === 0) return [];
    if (kind === 1) return [`${side} changes ${line}`];
    if (kind === 2) return [`both change ${line}`];
    return kind === 3 ? [`${side} adds ${index}`, line] : [line];
  });
}

async function put(own: Files, folder: string, before: Tree, after: Tree): Promise<void> {
  const operations = [
    ...Object.keys(before).filter((name) => !(name in after)).map((name) => ({
      op: "delete",
      path: `${folder}/${name}`,
    })),
    ...Object.entries(after).filter(([name, content]) => before[name] !== content).map(([name, content]) => ({
      op: "write",
      path: `${folder}/${name}`,
      content: btoa(content),
      isBase64: true,
      ...name.endsWith(".bin") && BINARY,
    })),
  ];
  if (operations.length > 0) await own.commit(operations);
}

async function treeOf(own: Files, directory: string): Promise<Tree> {
  const paths = await own.paths({ directory, recursive: true, limit: 100 });
  const entries = paths.map(async (path) =>
    [path.slice(directory.length + 1), new TextDecoder().decode(await own.readBytes(path))] as const
  );
  return sorted(Object.fromEntries(await Promise.all(entries)));
}

function sorted(tree: Tree): Tree {
  return Object.fromEntries(Object.entries(tree).toSorted(([one], [other]) => one < other ? -1 : 1));
}

class Repository {
  constructor(private readonly directory: string) {}

  static async create(): Promise<Repository> {
    const repository = new Repository(await Deno.makeTempDir());
    await repository.git("init", "--quiet");
    return repository;
  }

  /** Merges `theirs` into `ours`, both made from `base`. */
  async merge(base: Tree, ours: Tree, theirs: Tree): Promise<{ conflicts: string[]; clean: Tree }> {
    const root = await this.commit(base);
    const [one, other] = [await this.commit(ours, root), await this.commit(theirs, root)];
    const args = [
      "-c",
      "merge.renames=false",
      "merge-tree",
      "--write-tree",
      "--name-only",
      "--no-messages",
      one,
      other,
    ];
    const [tree = "", ...named] = (await this.git(...args)).split("\n").filter((line) => line !== "");
    const conflicts = [...new Set(named)].toSorted();
    const clean: Record<string, string> = {};
    for (const path of (await this.git("ls-tree", "-r", "--name-only", tree)).split("\n")) {
      if (path === "" || conflicts.includes(path)) continue;
      clean[path] = await this.git("show", `${tree}:${path}`);
    }
    return { conflicts, clean };
  }

  private async commit(tree: Tree, ...parents: string[]): Promise<string> {
    await this.git("read-tree", "--empty");
    for (const [path, content] of Object.entries(tree)) {
      const id = (await this.git("hash-object", "-w", "--stdin", { input: content })).trim();
      await this.git("update-index", "--add", "--cacheinfo", `100644,${id},${path}`);
    }
    const id = (await this.git("write-tree")).trim();
    const identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"];
    return (await this.git(
      ...identity,
      "commit-tree",
      "-m",
      "x",
      ...parents.flatMap((one) => ["-p", one]),
      id,
    )).trim();
  }

  /** The output; a merge with conflicts ends with 1. */
  private async git(...given: (string | { readonly input: string })[]): Promise<string> {
    const args = given.filter((one) => typeof one === "string");
    const input = given.find((one) => typeof one === "object")?.input;
    const command = new Deno.Command("git", {
      args,
      cwd: this.directory,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    });
    const process = command.spawn();
    const writer = process.stdin.getWriter();
    if (input !== undefined) await writer.write(new TextEncoder().encode(input));
    await writer.close();
    const { code, stdout, stderr } = await process.output();
    if (code > 1) throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
    return new TextDecoder().decode(stdout);
  }

  async remove(): Promise<void> {
    await Deno.remove(this.directory, { recursive: true });
  }
}
