/**
 * Random histories of branches, against `git merge` of the same trees: the same files conflict, and the others have the
 * same text. An undo of the merge, an update and a second merge then end as the contract says.
 *
 * One branch has several histories, each in a folder of its own, so that a request concerns all of them.
 */
import { assertEquals } from "@std/assert";
import { Branches } from "../support/client/branches.ts";
import { assertRefused } from "../support/client/contract.ts";
import type { Files } from "../support/client/files.ts";
import { type GitMerge, gitMerges, type Sides, type Tree } from "../support/content/git_merges.ts";
import { unzipped } from "../support/content/unzipped.ts";
import { inParallel } from "../support/in_parallel.ts";
import { type Random, randomFrom, SEED } from "../support/random.ts";
import { IS_LONG } from "../support/runner/long.ts";
import { suite, test } from "../support/stack/suite.ts";

const { files } = await suite();

const HISTORIES = IS_LONG ? 1000 : 120;
const BRANCH_HISTORIES = 10;
const NAMES = ["a.md", "b.md", "deep/c.md", "d.bin"];
const NUL = "\0";
/** A type of binary content: git recognizes it by its NUL. */
const BINARY = { contentType: "image/png" } as const;
/** Changed in each branch, and merged last. */
const LAST = { "last.md": "last\n" } as const;

/** The histories of one branch. */
type Group = readonly { readonly number: number; readonly sides: Sides; readonly merge: GitMerge }[];

test(`${HISTORIES} random histories end as with git merge (seed ${SEED})`, async () => {
  const all = Array.from({ length: HISTORIES }, (_, number) => sidesOf(randomFrom(SEED + number)));
  const merges = await gitMerges(all);
  const histories = all.flatMap((sides, number) => {
    const merge = merges[number];
    return merge ? [{ number, sides, merge }] : [];
  });
  const groups = Array.from(
    { length: HISTORIES / BRANCH_HISTORIES },
    (_, index) => histories.slice(index * BRANCH_HISTORIES, (index + 1) * BRANCH_HISTORIES),
  );
  await inParallel(groups, 2, async (group, index) => run(await files(), group, index));
});

/** Conflicts are resolved in one of three ways. */
async function run(own: Files, group: Group, index: number): Promise<void> {
  const [name, folder, inside] = [`b${index}`, `g${index}`, `.branches/b${index}`];
  const branches = new Branches(own);
  const [base, ours, theirs] = [sideOf(group, "base"), sideOf(group, "ours"), sideOf(group, "theirs")];
  const conflicts = group.flatMap(({ number, merge }) => merge.conflicts.map((path) => `h${number}/${path}`));
  const clean = joined(group.map(({ number, merge }) => [number, merge.clean]));
  const take = index % 3 === 0 ? "current" : "branch";
  const taken = take === "current" ? theirs : ours;
  const merged = { ...clean, ...only(taken, conflicts) };
  const what = JSON.stringify(group);

  await put(own, folder, {}, base);
  await branches.create(name, { directory: folder });
  await put(own, inside, base, { ...ours, ...LAST });
  await put(own, folder, base, theirs);
  const plan = await branches.merge(name, { dryRun: true });
  assertEquals(plan.conflicts.map(({ path }) => path).toSorted(), conflicts.toSorted(), what);
  assertEquals((await branches.get(name)).counts.conflicts, conflicts.length, what);
  if (conflicts.length > 0) assertRefused(await branches.tryMerge(name), "MERGE_CONFLICT");
  if (index % 3 === 1) {
    // The branch takes its own side of the conflicts, and then has nothing in conflict.
    await branches.update(name, { onConflict: "branch" });
    assertEquals((await branches.get(name)).counts.conflicts, 0, what);
  }
  const paths = Object.keys({ ...base, ...ours, ...theirs });
  const { runId } = await branches.merge(name, { paths, onConflict: take });
  assertEquals(await treeOf(own, folder), sorted(merged), what);

  const undo = await own.request("POST", `/runs/${runId}/undo`, { body: { dryRun: false } });
  assertEquals(undo.status, 200, undo.text);
  assertEquals(await treeOf(own, folder), sorted(theirs), what);
  // The branch has changed nothing since the merge, so an update takes the folder as it is.
  await branches.update(name);
  assertEquals(await treeOf(own, inside), sorted({ ...theirs, ...LAST }), what);
  const last = await branches.merge(name);
  assertEquals(last.actions.map(({ path }) => path), Object.keys(LAST), what);
  assertEquals(await treeOf(own, folder), sorted({ ...theirs, ...LAST }), what);
  assertEquals((await branches.get(name)).state, "merged");
}

function sidesOf(random: Random): Sides {
  const names = NAMES.filter(() => random.below(4) > 0);
  const base = Object.fromEntries(names.map((name) => [name, textOf(name, linesOf(random))]));
  return { base, ours: changeOf(random, base, "ours"), theirs: changeOf(random, base, "theirs") };
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

function sideOf(group: Group, side: keyof Sides): Tree {
  return joined(group.map(({ number, sides }) => [number, sides[side]]));
}

/** The trees of histories, each in the folder of its own. */
function joined(trees: readonly (readonly [number, Tree])[]): Tree {
  return Object.fromEntries(
    trees.flatMap(([number, tree]) =>
      Object.entries(tree).map(([path, text]) => [`h${number}/${path}`, text])
    ),
  );
}

function only(tree: Tree, paths: readonly string[]): Tree {
  return Object.fromEntries(Object.entries(tree).filter(([path]) => paths.includes(path)));
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
  await own.commit(operations);
}

async function treeOf(own: Files, directory: string): Promise<Tree> {
  const answer = await own.request("GET", "/export", { query: { directory } });
  assertEquals(answer.status, 200);
  const entries = [...await unzipped(answer.bytes)].map(([path, bytes]) =>
    [path.slice(directory.length + 1), new TextDecoder("latin1").decode(bytes)] as const
  );
  return sorted(Object.fromEntries(entries));
}

function sorted(tree: Tree): Tree {
  return Object.fromEntries(Object.entries(tree).toSorted(([one], [other]) => one < other ? -1 : 1));
}
