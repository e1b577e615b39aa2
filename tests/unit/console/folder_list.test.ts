/** The console's lists of files, without a browser: applying changes, natural order, icons, the palette. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Change } from "../../../supabase/console/src/api/changes.ts";
import type { FileList, FileRecord } from "../../../supabase/console/src/api/files.ts";
import { fileIcon } from "../../../supabase/console/src/components/file_icon.ts";
import { bestOf, distance, wordsOf } from "../../../supabase/console/src/shell/palette/match.ts";
import {
  comparison,
  mergeChanges,
  type Sort,
} from "../../../supabase/console/src/views/folder/merge_changes.ts";
import { inNaturalOrder } from "../../../supabase/console/src/components/natural_order.ts";
import { pageOf, type PageStart, withPage } from "../../../supabase/console/src/views/folder/shown_files.ts";

const BY_PATH: Sort = { by: "path", order: "asc" };
/** A page of a folder with many more files. */
const LARGE = { total: 300, hasMore: true };
const FIRST = { directory: "a", sort: BY_PATH, isFirst: true };

Deno.test("changes: a folder of one page becomes what a new list of it would be, whatever happens in it", () => {
  const name = fc.constantFrom("a/1", "a/2", "a/3", "a/x/1", "a/x/2", "a/y/1", "b", "b/1", "ab/1");
  const action = fc.record({ path: name, isDeletion: fc.boolean(), size: fc.nat(9) });
  const sort = fc.record({
    by: fc.constantFrom<Sort["by"]>("path", "size", "updated_at"),
    order: fc.constantFrom<Sort["order"]>("asc", "desc"),
  });
  fc.assert(
    fc.property(
      fc.array(action, { maxLength: 12 }),
      fc.nat(12),
      fc.nat(3),
      sort,
      (actions, from, overlap, sort) => {
        const project = new Project();
        const changes = actions.flatMap((one) => project.apply(one));
        const start = Math.min(from, changes.length);
        const loaded = project.list("a", sort, start);
        // A list may already contain changes that the feed delivers afterwards.
        const told = changes.slice(Math.max(0, start - overlap));
        const { list, isStale } = mergeChanges(loaded, told, { directory: "a", sort, isFirst: true });
        const now = project.list("a", sort, changes.length);
        assertEquals(list.files, now.files);
        assertEquals(list.total, now.total);
        // A stale page may still list a folder that has become empty.
        if (!isStale) assertEquals(list.directories, now.directories);
        else assert((now.directories ?? []).every((one) => list.directories?.includes(one)));
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("pages: what is shown has no gap and no file twice, whichever pages are loaded, and again", () => {
  const step = fc.record({
    // Loads a page below the list, above it, or again a part of it.
    turn: fc.constantFrom("below", "above", "again" as const),
    at: fc.nat(30),
    change: fc.option(fc.record({ name: fc.nat(40), isDeletion: fc.boolean() })),
  });
  const order = fc.constantFrom<Sort["order"]>("asc", "desc");
  fc.assert(
    fc.property(fc.nat(20), fc.array(step, { maxLength: 20 }), order, (first, steps, order) => {
      const sort: Sort = { by: "path", order };
      let names = new Set(Array.from({ length: 30 }, (_, index) => index));
      const folder = () =>
        [...names].map((name) => file(`a/${String(name).padStart(2, "0")}`)).sort(comparison(sort));
      const load = ({ first, after }: PageStart, limit = 4): FileList => {
        const all = folder();
        // Like the console, uses the cursor only in ascending order.
        const isByCursor = after !== undefined && order === "asc";
        const from = isByCursor ? all.findIndex(({ path }) => after < path) : first;
        const files = from < 0 ? [] : all.slice(from, from + limit);
        return listOf(files, { total: all.length, hasMore: from >= 0 && from + limit < all.length });
      };
      let shown = withPage(null, load({ first }), { first }, sort);
      const paths = () => shown.list.files.map(({ path }) => path);
      let isSame = true;
      for (const { turn, at, change } of steps) {
        if (change !== null) {
          isSame = false;
          names = new Set(names);
          if (change.isDeletion) names.delete(change.name);
          else names.add(change.name);
        }
        const count = shown.list.files.length;
        const above = Math.max(0, shown.first - 4);
        if (turn === "above" && shown.first === 0) continue;
        const start = turn === "below"
          ? { first: shown.first + count, after: shown.list.files.at(-1)?.path }
          : turn === "above"
          ? { first: above }
          : pageOf(shown, at % Math.max(count, 1), 4);
        const page = load(start, turn === "above" ? shown.first - above : 4);
        shown = withPage(shown, page, start, sort);
        assertEquals(new Set(paths()).size, paths().length, "no file twice");
        for (const { path } of page.files) assert(paths().includes(path), path);
        assertEquals(paths(), [...shown.list.files].sort(comparison(sort)).map(({ path }) => path));
        if (!isSame) continue;
        const expected = folder().slice(shown.first, shown.first + shown.list.files.length);
        assertEquals(paths(), expected.map(({ path }) => path));
        assertEquals(shown.list.hasMore, shown.first + shown.list.files.length < folder().length);
      }
      // Reloading all pages from the first one yields the present state.
      let start: PageStart = { first: 0 };
      shown = { first: 0, list: { ...shown.list, files: shown.first === 0 ? shown.list.files : [] } };
      for (;;) {
        const page = load(start);
        shown = withPage(shown, page, start, sort);
        if (!page.hasMore) break;
        start = { first: start.first + page.files.length, after: page.files.at(-1)?.path };
      }
      assertEquals(paths(), folder().map(({ path }) => path));
      assertEquals(shown.list.hasMore, false);
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("changes: of a page in the middle only what stands between its ends is taken in; the rest is stale", () => {
  const page = { directory: "a", sort: BY_PATH, isFirst: false };
  const list = listOf([file("a/d"), file("a/f")], LARGE);
  const rows: readonly (readonly [string, readonly string[], boolean])[] = [
    ["a/b", ["a/d", "a/f"], true],
    ["a/e", ["a/d", "a/e", "a/f"], false],
    ["a/g", ["a/d", "a/f"], true],
  ];
  for (const [path, expected, isStale] of rows) {
    const merged = mergeChanges(list, [change(path, 1)], page);
    assertEquals(merged.list.files.map((one) => one.path), expected, path);
    assertEquals(merged.isStale, isStale, path);
  }
});

Deno.test("changes: what is appended to on another page is no reason to load this one again", () => {
  const list = listOf([file("a/d")], LARGE);
  for (const operation of ["append", "overwrite", "edit"] as const) {
    const merged = mergeChanges(list, [change("a/z", 7, { operation })], FIRST);
    assertEquals(merged, { list, isStale: false }, operation);
  }
  assertEquals(mergeChanges(list, [change("a/z", 1)], FIRST).isStale, true, "a new file changes the count");
});

Deno.test("changes: a deletion that this page does not show changes the count of a large folder, not of a small one", () => {
  const deletion = change("a/z", 2, { operation: "delete", deleted: true });
  const large = listOf([file("a/d")], LARGE);
  assertEquals(mergeChanges(large, [deletion], FIRST), { list: large, isStale: true });
  assertEquals(mergeChanges(large, [deletion], { ...FIRST, isFirst: false }).isStale, true);
  const small = listOf([file("a/d")]);
  assertEquals(mergeChanges(small, [deletion], FIRST), { list: small, isStale: false });
});

Deno.test("changes: an older version than the one that is listed does nothing, a purged file goes", () => {
  const list = listOf([{ ...file("a/d"), version: 5 }]);
  assertEquals(mergeChanges(list, [change("a/d", 4)], FIRST), { list, isStale: false });
  assertEquals(mergeChanges(list, [change("a/d", 4, { deleted: true })], FIRST), { list, isStale: false });
  const purged: Change = { ...change("a/d", 6, { operation: "purge" }), path: undefined };
  const { list: after } = mergeChanges(list, [purged], FIRST);
  assertEquals([after.files, after.total], [[], 0]);
});

Deno.test("changes: a file that is made anew at a purged path is the one that is listed", () => {
  const list = listOf([{ ...file("a/d"), version: 5 }]);
  const merged = mergeChanges(list, [change("a/d", 1, { fileId: "new", size: 3 })], FIRST);
  assertEquals(merged.list.files.map(({ id, version, size }) => [id, version, size]), [["new", 1, 3]]);
  assertEquals(merged.list.total, 1);
});

Deno.test("changes: the page of a large folder keeps its length where a file leaves its range", () => {
  const sort: Sort = { by: "size", order: "desc" };
  const list = listOf([{ ...file("a/1"), size: 9 }, { ...file("a/2"), size: 8 }], LARGE);
  const shrunk = change("a/1", 2, { operation: "overwrite", size: 1 });
  const merged = mergeChanges(list, [shrunk], { ...FIRST, sort });
  assertEquals(merged.list.files.map(({ path }) => path), ["a/2"]);
  assertEquals(merged.isStale, true, "another file has moved up");
});

Deno.test("totals: one that is not exact stays, and a page after a cursor leaves the one that is known", () => {
  const many = listOf([file("a/d")], { total: 10_000, totalIsExact: false, hasMore: true });
  assertEquals(mergeChanges(many, [change("a/c", 1)], FIRST).list.total, 10_000);
  const shown = { first: 0, list: many };
  const page = listOf([file("a/e")], { total: null });
  const { list } = withPage(shown, page, { first: 1, after: "a/d" }, FIRST.sort);
  assertEquals([list.files.length, list.total, list.totalIsExact], [2, 10_000, false]);
});

Deno.test("natural order: numbers count as numbers", () => {
  const names = ["Item-1.md", "a", "b", "item-1.md", "item-10.md", "item-2.md"];
  assertEquals(inNaturalOrder(names, (name) => name, "asc"), [
    ..."a b item-1.md Item-1.md item-2.md item-10.md".split(" "),
  ]);
  assertEquals(inNaturalOrder(["b-10", "b-9", "a"], (name) => name, "desc"), ["b-10", "b-9", "a"]);
});

Deno.test("icons: the extension decides, then the type; a hidden file has no extension", () => {
  assertEquals(
    [
      { path: "a/plan.MD" },
      { path: "data.csv", mimeType: "text/plain" },
      { path: "no extension", mimeType: "image/png" },
      { path: "no extension", mimeType: "application/octet-stream" },
      { path: ".zip" },
      { path: "a.constructor" },
    ].map(fileIcon),
    ["fileText", "fileTable", "fileImage", "file", "file", "file"],
  );
});

Deno.test("palette: all words have to be there; the name counts more than its folders, the beginning most", () => {
  const paths = ["plans/a.md", "notes/my plan.md", "notes/explanation.md", "notes/plan.md", "other.md"];
  assertEquals(bestOf(paths, wordsOf("PLAN"), (path) => path, 10), [
    "notes/plan.md",
    "notes/my plan.md",
    "notes/explanation.md",
    "plans/a.md",
  ]);
  assertEquals(bestOf(paths, wordsOf("notes plan"), (path) => path, 2), [
    "notes/plan.md",
    "notes/my plan.md",
  ]);
  assertEquals(bestOf(paths, wordsOf("notes/pl"), (path) => path, 10), ["notes/plan.md"]);
  assertEquals(distance(wordsOf("plan nowhere"), "notes/plan.md"), null);
  assertEquals(bestOf(paths, [], (path) => path, 10), paths);
});

/** A model of a project and its feed. */
class Project {
  readonly #changes: Change[] = [];
  readonly #versions = new Map<string, number>();
  readonly #createdAt = new Map<string, string>();
  readonly #live = new Set<string>();

  /** Returns no change if the file to delete does not exist. */
  apply({ path, isDeletion, size }: { path: string; isDeletion: boolean; size: number }): readonly Change[] {
    if (isDeletion && !this.#live.has(path)) return [];
    const version = (this.#versions.get(path) ?? 0) + 1;
    const isNew = !this.#live.has(path);
    this.#versions.set(path, version);
    if (isDeletion) this.#live.delete(path);
    else this.#live.add(path);
    const operation = isDeletion ? "delete" : isNew ? "write" : "overwrite";
    const createdAt = new Date(this.#changes.length * 1000).toISOString();
    const fileCreatedAt = this.#createdAt.get(path) ?? createdAt;
    this.#createdAt.set(path, fileCreatedAt);
    const what = isDeletion ? { deleted: true, size: 0 } as const : { size };
    const made = change(path, version, { operation, createdAt, fileCreatedAt, ...what });
    this.#changes.push(made);
    return [made];
  }

  /** Returns the folder after the first `count` changes. */
  list(directory: string, sort: Sort, count: number): FileList {
    const files = new Map<string, FileRecord>();
    for (const { path = "", version, size, deleted, createdAt } of this.#changes.slice(0, count)) {
      if (deleted) files.delete(path);
      else {
        const times = { createdAt: this.#createdAt.get(path) ?? createdAt, updatedAt: createdAt };
        files.set(path, { ...file(path), version, size, ...times });
      }
    }
    const below = [...files.values()].filter(({ path }) => path.startsWith(`${directory}/`));
    const rests = below.map(({ path }) => path.slice(directory.length + 1));
    const names = rests.filter((rest) => rest.includes("/")).map((rest) => rest.split("/")[0] ?? "");
    return {
      ...listOf(below.filter((_, index) => !rests[index]?.includes("/")).sort(comparison(sort))),
      directories: [...new Set(names)].sort(),
    };
  }
}

function file(path: string): FileRecord {
  const times = { createdAt: new Date(0).toISOString(), updatedAt: new Date(0).toISOString() };
  return { id: `id of ${path}`, path, version: 1, mimeType: "text/plain", size: 1, ...times };
}

function listOf(files: FileRecord[], rest: Partial<FileList> = {}): FileList {
  return { files, directories: [], total: files.length, limit: 100, offset: 0, hasMore: false, ...rest };
}

function change(path: string, version: number, rest: Partial<Change> = {}): Change {
  return {
    ...{ cursor: "c", path, fileId: `id of ${path}`, version, size: 1, mimeType: "text/plain" },
    ...{ commitId: `commit of ${path}`, operation: "write", createdAt: new Date(0).toISOString(), ...rest },
  };
}
