/** Three-way merges by git. */
import { assertEquals } from "@std/assert";

/** Path → content, of which each character is a byte. */
export type Tree = Readonly<Record<string, string>>;

/** Two trees that were made from a third. */
export interface Sides {
  readonly base: Tree;
  readonly ours: Tree;
  readonly theirs: Tree;
}

export interface GitMerge {
  /** Sorted. */
  readonly conflicts: readonly string[];
  /** The files without a conflict. */
  readonly clean: Tree;
}

/** Merges each of the trees with three processes of git for all of them together. */
export async function gitMerges(all: readonly Sides[]): Promise<GitMerge[]> {
  const directory = await Deno.makeTempDir();
  try {
    await git(directory, ["init", "--quiet"]);
    await git(directory, ["fast-import", "--quiet"], all.map(commitsOf).join(""));
    const merge = ["merge-tree", "--write-tree", "--stdin", "--name-only", "--no-messages"];
    const names = all.map((_, number) => `theirs${number} ours${number}\n`).join("");
    const words = (await git(directory, ["-c", "merge.renames=false", ...merge], names)).split("\0");
    const merged = all.map(() => {
      const [, tree = ""] = words.splice(0, 2);
      return { tree, conflicts: words.splice(0, words.indexOf("") + 1).slice(0, -1).toSorted() };
    });
    assertEquals(words, [""]);
    const wanted = all.map(({ ours, theirs }, number) =>
      Object.keys({ ...ours, ...theirs }).filter((path) => !merged[number]?.conflicts.includes(path))
    );
    const objects = wanted.flatMap((paths, number) =>
      paths.map((path) => `${merged[number]?.tree}:${path}\n`)
    );
    const contents = contentsOf(await git(directory, ["cat-file", "--batch"], objects.join("")));
    return merged.map(({ conflicts }, number) => {
      const entries = (wanted[number] ?? []).map((path) => [path, contents.shift() ?? null] as const);
      return {
        conflicts,
        clean: Object.fromEntries(entries.filter((one): one is [string, string] => one[1] !== null)),
      };
    });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** The three commits of one merge, as `git fast-import` reads them. */
function commitsOf({ base, ours, theirs }: Sides, number: number): string {
  const commit = (name: string, tree: Tree, parent?: string) =>
    `commit refs/heads/${name}${number}\ncommitter test <test@example.org> 0 +0000\ndata 0\n` +
    (parent === undefined ? "" : `from refs/heads/${parent}${number}\n`) + "deleteall\n" +
    Object.entries(tree).map(([path, text]) => `M 100644 inline ${path}\ndata ${text.length}\n${text}\n`)
      .join("");
  return commit("base", base) + commit("ours", ours, "base") + commit("theirs", theirs, "base");
}

/** The objects that `git cat-file --batch` wrote; null where there is none. */
function contentsOf(output: string): (string | null)[] {
  const contents: (string | null)[] = [];
  for (let at = 0; at < output.length;) {
    const end = output.indexOf("\n", at);
    const [, size] = /blob (\d+)$/.exec(output.slice(at, end)) ?? [];
    contents.push(size === undefined ? null : output.slice(end + 1, end + 1 + Number(size)));
    at = end + 1 + (size === undefined ? 0 : Number(size) + 1);
  }
  return contents;
}

/** The output of git, of which each character is a byte. */
async function git(cwd: string, args: readonly string[], input = ""): Promise<string> {
  const process = new Deno.Command("git", {
    ...{ args: [...args], cwd, stdin: "piped", stdout: "piped", stderr: "piped" },
  }).spawn();
  const bytes = Uint8Array.from(input, (character) => character.charCodeAt(0));
  const [{ code, stdout, stderr }] = await Promise.all([
    process.output(),
    new Blob([bytes]).stream().pipeTo(process.stdin),
  ]);
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder("latin1").decode(stdout);
}
