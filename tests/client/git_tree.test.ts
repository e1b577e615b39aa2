/** The tree of each commit: names depend on the files that exist and not on their history, and no file gets lost. */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { isRefused, type Steps, Tree } from "../../supabase/client/git/tree.ts";
import { SEED } from "../support/random.ts";

for (
  const [paths, names] of [
    [["a", "b/c"], ["a", "b/c"]],
    [["a", "a/b"], ["a~", "a/b"]],
    [["a", "a/b", "a~", "a~~/x"], ["a~~~", "a/b", "a~", "a~~/x"]],
    [["a", "a/b", "a~", "a~/x"], ["a~~", "a/b", "a~~~", "a~/x"]],
  ] as const
) {
  Deno.test(`Tree gives the files ${paths.join(", ")} the names ${names.join(", ")}`, () => {
    const tree = new Tree();
    const { written } = tree.apply(new Map(paths.map((path) => [path, `blob of ${path}`])));
    assertEquals(new Map(written), new Map(names.map((name, index) => [name, `blob of ${paths[index]}`])));
  });
}

Deno.test("isRefused() knows what git takes for its own folder on any system", () => {
  for (
    const path of [".git/x", "a/.GIT", ".git. ", "git~1/a", ".g\u200cit/config", ".git::$INDEX_ALLOCATION/x"]
  ) {
    assertEquals(isRefused(path), true, path);
  }
  for (const path of [".gitignore", "git", "a.git/x", "git~2", ".github/x"]) {
    assertEquals(isRefused(path), false, path);
  }
});

/** What git does: what is below a file is removed with it, and a file gives way to a folder. */
function applied(names: ReadonlyMap<string, string>, { deleted, written }: Steps): Map<string, string> {
  const next = new Map(names);
  for (const name of deleted) if (!next.delete(name)) throw new Error(`${name} is not there`);
  for (const [name, blob] of written) {
    for (const other of next.keys()) {
      if (other.startsWith(`${name}/`) || name.startsWith(`${other}/`)) next.delete(other);
    }
    next.set(name, blob);
  }
  return next;
}

Deno.test("the steps of any history lead to the tree of the files that exist, also after a break", () => {
  const path = fc.constantFrom("a", "a/b", "a/b/c", "a~", "a~/x", "a~~", "d/a", "d");
  const commit = fc.dictionary(path, fc.option(fc.constantFrom("1", "2")), { minKeys: 1, maxKeys: 3 });
  fc.assert(
    fc.property(fc.array(commit, { maxLength: 8 }), (commits) => {
      const files = new Map<string, string>();
      let tree = new Tree();
      let names = new Map<string, string>();
      for (const changed of commits) {
        for (const [one, blob] of Object.entries(changed)) {
          if (blob === null) files.delete(one);
          else files.set(one, blob);
        }
        names = applied(names, tree.apply(new Map(Object.entries(changed))));
        const fresh = applied(new Map(), new Tree().apply(new Map([...files].reverse())));
        assertEquals(new Map([...names].sort()), new Map([...fresh].sort()));
        assertEquals([...names.values()].sort(), [...files.values()].sort());
        const pathOf = new Map([...tree.renamed].map(([one, name]) => [name, one]));
        tree = new Tree();
        for (const [name, blob] of names) tree.load(pathOf.get(name) ?? name, { name, blob });
      }
    }),
    { seed: SEED, numRuns: 1000 },
  );
});
