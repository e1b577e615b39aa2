/** Branches: a copy of a folder below `.branches/`, which nothing above it shows, and which is merged or closed. */
import { assert, assertEquals } from "@std/assert";
import { Branches, confinedTo } from "../support/client/branches.ts";
import { assertRefused, issuePaths } from "../support/client/contract.ts";
import { Files } from "../support/client/files.ts";
import { sweepAll } from "../support/client/erasure.ts";
import { suite } from "../support/stack/suite.ts";

const { service, test } = await suite();

const LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

async function sample(own: Files, name = "try") {
  await own.write("notes/a.md", LINES);
  await own.write("notes/deep/b.md", "b");
  await own.write("other.md", "other");
  const branches = new Branches(own);
  return { branches, created: await branches.create(name, { directory: "notes", title: "A try" }) };
}

/** Paths and contents below a directory. */
async function tree(own: Files, directory = ""): Promise<Record<string, string>> {
  const paths = await own.paths({ directory, recursive: true, limit: 100 });
  const entries = paths.map(async (path) => [path, (await own.read(path)).content] as const);
  return Object.fromEntries(await Promise.all(entries));
}

test("200 create: the live files below the folder, with their origin, and a record", async (own) => {
  const { branches, created } = await sample(own);
  assertEquals(created, {
    ...created,
    name: "try",
    path: ".branches/try",
    directory: "notes",
    title: "A try",
    note: null,
    state: "open",
    fileCount: 2,
    createdBy: { keyName: "test" },
  });
  assertEquals(await tree(own, ".branches/try"), {
    ".branches/try/a.md": LINES,
    ".branches/try/deep/b.md": "b",
  });
  const [version] = (await own.versions(".branches/try/a.md")).versions;
  assertEquals([version?.operation, version?.from], ["copy", { path: "notes/a.md", version: 1 }]);
  const { changes, counts, hasMore, ...record } = await branches.get("try");
  assertEquals([changes, counts, hasMore], [[], { added: 0, modified: 0, deleted: 0, conflicts: 0 }, false]);
  assertEquals(record, created);
  assertEquals((await branches.list()).branches, [created]);
  assertEquals((await branches.list({ state: "closed" })).branches, []);
});

test("200 create at a moment: the folder as it was", async (own) => {
  await own.write("a.md", "old");
  const [{ cursor } = { cursor: "" }] = (await own.versions("a.md")).versions;
  await own.write("a.md", "new");
  await own.write("later.md", "later");
  assertEquals((await new Branches(own).create("past", { at: cursor })).base, cursor);
  assertEquals(await tree(own, ".branches/past"), { ".branches/past/a.md": "old" });
});

test("nothing above shows a branch: lists, folder names, search, changes, runs, exports", async (own) => {
  await own.write(".branches-old/x.md", "needle");
  await sample(own);
  await own.request("POST", "/files", {
    body: { path: ".branches/try/new.md", content: "needle in a branch" },
    headers: { "X-Run-Id": "run-1" },
  });
  const paths = [".branches-old/x.md", "notes/a.md", "notes/deep/b.md", "other.md"];
  assertEquals(await own.paths({ recursive: true, limit: 100 }), paths);
  for (const query of [{ sortBy: "size" }, { sortBy: "updated_at", sortOrder: "desc" }, { minSize: 0 }]) {
    assertEquals((await own.paths({ recursive: true, limit: 100, ...query })).toSorted(), paths);
  }
  const root = await own.list({ limit: 100 });
  assertEquals([root.directories, root.total], [[".branches-old", "notes"], 1]);
  assertEquals((await own.list({ recursive: true })).total, 4);
  const at = new Date().toISOString();
  assertEquals(await own.paths({ recursive: true, limit: 100, at }), paths);
  assertEquals((await own.list({ at })).directories, [".branches-old", "notes"]);
  const search = await own.request("GET", "/search?q=needle&mode=text&wait=10");
  assert(search.text.includes(".branches-old/x.md") && !search.text.includes(".branches/try"), search.text);
  const inside = await own.request("GET", "/search?q=needle&mode=text&wait=10&directory=.branches%2Ftry");
  assert(inside.text.includes(".branches/try/new.md") && !inside.text.includes("-old"), inside.text);
  for (const query of ["", "?limit=2", "?order=desc"]) {
    const { text } = await own.request("GET", `/changes${query === "?order=desc" ? "" : query}`);
    assert(!text.includes(".branches/"), text);
  }
  const feed = await own.request("GET", "/changes?directory=.branches%2Ftry");
  assert(feed.text.includes(".branches/try/new.md"), feed.text);
  assert(!(await own.request("GET", "/runs")).text.includes("run-1"));
  assertRefused(await own.request("GET", "/runs/run-1"), "RUN_NOT_FOUND");
  assertEquals(await own.paths({ directory: ".branches", recursive: true }), []);
  assertEquals((await own.list({ directory: ".branches" })).directories, []);
  assertRefused(await own.request("DELETE", "/folders/.branches"), "BRANCH_NOT_FOUND");
});

test("404 and 409: a write below `.branches/` needs an open branch", async (own) => {
  const { branches } = await sample(own);
  for (const path of [".branches", ".branches/try", ".branches/none/a.md", ".branches/none"]) {
    assertRefused(await own.post({ path, content: "x" }), "BRANCH_NOT_FOUND");
  }
  await own.write(".branches/try/a.md", "changed");
  await branches.change("try", { state: "closed" });
  assertRefused(await own.post({ path: ".branches/try/a.md", content: "x" }), "BRANCH_CLOSED");
  assertRefused(await own.put("copy", "other.md", { destination: ".branches/try/c.md" }), "BRANCH_CLOSED");
  for (const path of [".branches/try/a.md", ".branches/try/none.md"]) {
    for (const kind of ["append", "overwrite"]) {
      // The same for a key that no isolate knows yet, whose requests are authorized before their content is read.
      const unknown = new Files(service, (await service.key(own.project.id)).key);
      for (const by of [own, unknown]) {
        assertRefused(await by.put(kind, path, { content: "x" }), "BRANCH_CLOSED");
      }
    }
  }
  const batch = { operations: [{ op: "write", path: ".branches/try/a.md", content: "x" }] };
  assertRefused(await own.request("POST", "/batch", { body: batch }), "BRANCH_CLOSED");
  assertRefused(await branches.tryChange("try", { state: "open" }), "BRANCH_CLOSED");
  assertRefused(await branches.tryMerge("try"), "BRANCH_CLOSED");
  assertRefused(await branches.tryUpdate("try"), "BRANCH_CLOSED");
  assertEquals(await tree(own, ".branches/try"), {});
  assertEquals((await branches.get("try")).state, "closed");
});

test("409 and 400: names and folders of branches", async (own) => {
  const { branches } = await sample(own);
  await branches.change("try", { state: "closed" });
  assertRefused(await branches.tryCreate("try", { directory: "notes" }), "BRANCH_ALREADY_EXISTS");
  for (const name of ["", ".x", "a/b", "a b", "é", "x".repeat(65)]) {
    assertEquals(issuePaths(assertRefused(await branches.tryCreate(name), "VALIDATION_ERROR")), ["name"]);
  }
  for (const directory of [".branches", ".branches/try", ".branches/try/deep"]) {
    assertRefused(await branches.tryCreate("inner", { directory }), "VALIDATION_ERROR");
  }
  assertEquals((await branches.create("empty", { directory: "nothing" })).fileCount, 0);
  // A run without versions is none.
  const inRun = {
    body: { name: "empty-in-run", directory: "nothing" },
    headers: { "x-run-id": "of-nothing" },
  };
  assertEquals((await own.request("POST", "/branches", inRun)).status, 200);
  assertRefused(await own.request("GET", "/runs/of-nothing"), "RUN_NOT_FOUND");
  const long = `${"x".repeat(250)}/`.repeat(4) + "y".repeat(18);
  await own.write(long, "long");
  const details = assertRefused(await branches.tryCreate("long"), "PATH_TOO_LONG");
  assertEquals(details["paths"], [long]);
  assertRefused(await branches.tryGet("long"), "BRANCH_NOT_FOUND");
  const { directories } = await own.list();
  assertEquals(directories?.includes(".branches"), false);
});

test("200 merge: added, modified and deleted files, as one run that can be undone", async (own) => {
  const { branches } = await sample(own);
  await own.write(".branches/try/a.md", "changed");
  await own.write(".branches/try/new.md", "new");
  await own.remove(".branches/try/deep/b.md");
  const { changes, counts } = await branches.get("try");
  assertEquals(counts, { added: 1, modified: 1, deleted: 1, conflicts: 0 });
  assertEquals(changes, [
    { path: "a.md", change: "modified", base: 1, branch: 2, current: 1, conflict: false },
    { path: "deep/b.md", change: "deleted", base: 1, branch: null, current: 1, conflict: false },
    { path: "new.md", change: "added", base: null, branch: 1, current: null, conflict: false },
  ]);
  const before = await tree(own);
  const plan = await branches.merge("try", { dryRun: true });
  const actions = [
    { path: "a.md", action: "write", from: 1, to: 2 },
    { path: "deep/b.md", action: "delete", from: 1, to: null },
    { path: "new.md", action: "write", from: null, to: 1 },
  ] as const;
  assertEquals(plan, { actions: [...actions], conflicts: [], runId: null });
  assertEquals(await tree(own), before);
  const merged = await branches.merge("try");
  assertEquals(merged, {
    actions: actions.map((action) => ({ ...action, version: (action.from ?? 0) + 1 })),
    conflicts: [],
    runId: merged.runId,
  });
  assertEquals(await tree(own), { "notes/a.md": "changed", "notes/new.md": "new", "other.md": "other" });
  const [version] = (await own.versions("notes/a.md")).versions;
  assertEquals([version?.operation, version?.runId, version?.from], [
    "merge",
    merged.runId ?? "",
    { path: ".branches/try/a.md", version: 2 },
  ]);
  assertEquals((await branches.get("try")).state, "merged");
  assertEquals(await tree(own, ".branches/try"), {});
  const undo = await own.request("POST", `/runs/${merged.runId}/undo`, { body: { dryRun: false } });
  assertEquals(undo.status, 200, undo.text);
  assertEquals(await tree(own), before);
  assertEquals((await branches.get("try")).state, "merged");
});

test("200 merge of lines: both sides changed the same text in different places", async (own) => {
  const { branches } = await sample(own);
  await own.write(".branches/try/a.md", LINES.replace("two", "TWO"));
  await own.write("notes/a.md", LINES.replace("six", "SIX"));
  assertEquals((await branches.get("try")).counts.conflicts, 0);
  const [action] = (await branches.merge("try", { dryRun: true })).actions;
  assertEquals(action, { path: "a.md", action: "merge", from: 2, to: 2 });
  await branches.merge("try");
  assertEquals((await own.read("notes/a.md")).content, LINES.replace("two", "TWO").replace("six", "SIX"));
});

test("409 merge: conflicts, and the choices that resolve them", async (own) => {
  await own.write("text.md", LINES);
  await own.write("picture.png", "binary", { contentType: "image/png" });
  await own.write("mine.md", "mine");
  await own.write("yours.md", "yours");
  const branches = new Branches(own);
  await branches.create("try");
  const both = async (path: string, branch: string | null, current: string | null) => {
    const type = path.endsWith(".png") ? { contentType: "image/png" } : {};
    if (branch === null) await own.remove(`.branches/try/${path}`);
    else await own.write(`.branches/try/${path}`, branch, type);
    if (current === null) await own.remove(path);
    else await own.write(path, current, type);
  };
  await both("text.md", LINES.replace("two", "2"), LINES.replace("two", "II"));
  await both("picture.png", "branch", "current");
  await both("mine.md", "changed", null);
  await both("yours.md", null, "changed");
  await both("added.md", "one", "two");
  await both("same.md", "same", "same");
  const details = assertRefused(await branches.tryMerge("try"), "MERGE_CONFLICT");
  const conflicts = [
    { path: "added.md", kind: "content", base: null, branch: 1, current: 1 },
    { path: "mine.md", kind: "deletedInTarget", base: 1, branch: 2, current: null },
    { path: "picture.png", kind: "binary", base: 1, branch: 2, current: 2 },
    { path: "text.md", kind: "content", base: 1, branch: 2, current: 2 },
    { path: "yours.md", kind: "deletedInBranch", base: 1, branch: null, current: 2 },
  ];
  assertEquals(details["conflicts"], conflicts);
  assertEquals((await branches.merge("try", { dryRun: true })).conflicts, conflicts as never);
  assertEquals((await branches.get("try")).counts.conflicts, 5);
  const merged = await branches.merge("try", {
    onConflict: "current",
    resolutions: [
      { path: "text.md", content: "by hand" },
      { path: "picture.png", take: "branch" },
      { path: "added.md", content: "AAH/", isBase64: true },
    ],
  });
  assertEquals(merged.actions.map(({ path, action }) => [path, action]), [
    ["added.md", "merge"],
    ["picture.png", "write"],
    ["text.md", "merge"],
  ]);
  assertEquals((await own.read("text.md")).content, "by hand");
  assertEquals(await own.readBytes("added.md"), new Uint8Array([0, 1, 255]));
  assertEquals(new TextDecoder().decode(await own.readBytes("picture.png")), "branch");
  assertEquals((await own.read("yours.md")).content, "changed");
  assertEquals((await branches.get("try")).state, "merged");
});

test("200 merge: a resolution with content for a file that is new, of any name, keeps its type", async (own) => {
  await own.write("readme.md", "x");
  await own.write("__proto__", "1\n", { contentType: "text/plain" });
  const branches = new Branches(own);
  await branches.create("try");
  await own.write(".branches/try/new.md", "a");
  await own.write(".branches/try/__proto__", "2\n", { contentType: "text/plain" });
  await own.write("__proto__", "3\n", { contentType: "text/plain" });
  await branches.merge("try", {
    onConflict: "branch",
    resolutions: [{ path: "new.md", content: "b" }, { path: "__proto__", take: "current" }],
  });
  const { content, mimeType } = await own.read("new.md");
  assertEquals([content, mimeType], ["b", "text/markdown"]);
  assertEquals((await own.read("__proto__")).content, "3\n");
});

test("200 update: what came since; then the branch merges without a conflict", async (own) => {
  const { branches, created } = await sample(own);
  await own.write(".branches/try/a.md", LINES.replace("two", "TWO"));
  await own.write("notes/a.md", LINES.replace("six", "SIX"));
  await own.write("notes/came.md", "came");
  await own.remove("notes/deep/b.md");
  assertEquals((await branches.update("try")).actions, [
    { path: "a.md", action: "merge", from: 2, to: 2, version: 3 },
    { path: "came.md", action: "write", from: null, to: 1, version: 1 },
    { path: "deep/b.md", action: "delete", from: 1, to: null, version: 2 },
  ]);
  const { base, changes } = await branches.get("try");
  assert(base !== created.base);
  assertEquals(changes, [
    { path: "a.md", change: "modified", base: 2, branch: 3, current: 2, conflict: false },
  ]);
  assertEquals((await branches.update("try")).actions, []);
  assertEquals((await branches.merge("try")).actions.map(({ path, action }) => [path, action]), [[
    "a.md",
    "write",
  ]]);
  assertEquals((await own.read("notes/a.md")).content, LINES.replace("two", "TWO").replace("six", "SIX"));
});

test("200 merge in parts: the branch stays open until nothing is left", async (own) => {
  const { branches } = await sample(own);
  await own.write(".branches/try/a.md", "a2");
  await own.write(".branches/try/c.md", "c");
  assertEquals((await branches.merge("try", { paths: ["c.md"] })).actions.map(({ path }) => path), ["c.md"]);
  assertEquals((await branches.get("try")).changes.map(({ path }) => path), ["a.md"]);
  assertEquals((await branches.merge("try", { keep: true })).actions.map(({ path }) => path), ["a.md"]);
  assertEquals((await branches.get("try")).state, "merged");
  assertEquals(Object.keys(await tree(own, ".branches/try")), [
    ".branches/try/a.md",
    ".branches/try/c.md",
    ".branches/try/deep/b.md",
  ]);
});

test("200 merge in parts: what was decided for the folder's side is not asked again", async (own) => {
  const { branches } = await sample(own);
  await own.write(".branches/try/a.md", "a2");
  await own.write(".branches/try/c.md", "c");
  const resolutions = [{ path: "a.md", take: "current" as const }];
  assertEquals((await branches.merge("try", { paths: ["a.md"], resolutions })).actions, []);
  assertEquals((await branches.get("try")).changes.map(({ path }) => path), ["c.md"]);
  assertEquals((await branches.merge("try", { keep: true })).actions.map(({ path }) => path), ["c.md"]);
  assertEquals((await branches.get("try")).state, "merged");
});

for (const take of ["lines", "current", "content"] as const) {
  test(`200 merge after a merge in parts (${take}): what the folder had is not taken back`, async (own) => {
    const { branches } = await sample(own);
    await own.write("notes/a.md", "1\n2\n3\n4\n5\n");
    await own.write("notes/later.md", "");
    await branches.update("try");
    await own.write(".branches/try/a.md", "one\n2\n3\n4\n5\n");
    await own.write("notes/a.md", "1\n2\nthree\n4\n5\n");
    const resolutions = take === "lines"
      ? []
      : [{ path: "a.md", ...take === "current" ? { take } : { content: "by hand\n2\nthree\n4\n5\n" } }];
    await own.write(".branches/try/later.md", "later");
    await branches.merge("try", { paths: ["a.md"], resolutions });
    const first = { lines: "one", current: "1", content: "by hand" }[take];
    assertEquals((await tree(own, "notes"))["notes/a.md"], `${first}\n2\nthree\n4\n5\n`);
    await own.write(".branches/try/a.md", "one\n2\n3\n4\nfive\n");
    await branches.merge("try");
    assertEquals((await tree(own, "notes"))["notes/a.md"], `${first}\n2\nthree\n4\nfive\n`);
  });
}

test("412: the folder was changed since the expected position", async (own) => {
  const { branches, created } = await sample(own);
  await own.write(".branches/try/a.md", "changed");
  await own.write("other.md", "elsewhere");
  assertEquals((await branches.merge("try", { dryRun: true, expected: created.base })).actions.length, 1);
  await own.write("notes/x.md", "x");
  assertEquals(
    assertRefused(await branches.tryMerge("try", { expected: created.base }), "PRECONDITION_FAILED"),
    {
      expected: true,
    },
  );
  assertRefused(await branches.tryUpdate("try", { expected: created.base }), "PRECONDITION_FAILED");
  await branches.merge("try");
});

test("a repeated merge and a repeated write answer as before, although the branch has ended", async (own) => {
  const { branches } = await sample(own);
  const headers = { "Idempotency-Key": crypto.randomUUID() };
  const write = () => own.post({ path: ".branches/try/a.md", content: "changed" }, headers);
  const written = await write();
  const key = { "Idempotency-Key": crypto.randomUUID() };
  const merged = await branches.merge("try", {}, key);
  assertEquals(await branches.merge("try", {}, key), merged);
  assertEquals((await write()).body, written.body);
});

test("a key confined to a branch sees its own side, and neither merges nor updates", async (own) => {
  const { branches } = await sample(own);
  const agent = await confinedTo(service, own.project.id, ".branches/try");
  await agent.write(".branches/try/a.md", "by the agent");
  await own.write("notes/a.md", "by others");
  const inside = new Branches(agent);
  const { changes, counts } = await inside.get("try");
  assertEquals(changes, [{ path: "a.md", change: "modified", base: 1, branch: 2, current: null }]);
  assertEquals(counts, { added: 0, modified: 1, deleted: 0, conflicts: 0 });
  assertEquals((await inside.change("try", { state: "ready", note: "look" })).note, "look");
  assertEquals((await branches.list({ state: "ready" })).branches.map(({ name }) => name), ["try"]);
  for (const dryRun of [true, false]) {
    assertRefused(await inside.tryMerge("try", { dryRun }), "FORBIDDEN_SCOPE");
    assertRefused(await inside.tryUpdate("try", { dryRun }), "FORBIDDEN_SCOPE");
  }
  assertRefused(await inside.tryCreate("other"), "FORBIDDEN_SCOPE");
  assertRefused(await agent.get("notes/a.md"), "FILE_NOT_FOUND");
});

test("a key of a folder creates, lists and merges its branches, and works in none", async (own) => {
  const { branches } = await sample(own);
  await branches.create("whole");
  const confined = await confinedTo(service, own.project.id, "notes");
  const theirs = new Branches(confined);
  assertEquals((await theirs.create("mine", { directory: "notes/deep" })).fileCount, 1);
  assertRefused(await theirs.tryCreate("root"), "FORBIDDEN_SCOPE");
  assertEquals((await theirs.list()).branches.map(({ name }) => name), ["mine", "try"]);
  assertRefused(await theirs.tryGet("whole"), "BRANCH_NOT_FOUND");
  assertRefused(await theirs.tryMerge("whole"), "BRANCH_NOT_FOUND");
  assertRefused(await confined.get(".branches/mine/b.md"), "FILE_NOT_FOUND");
  assertRefused(await confined.post({ path: ".branches/mine/b.md", content: "x" }), "FORBIDDEN_SCOPE");
  await own.write(".branches/mine/b.md", "better");
  assertEquals((await theirs.merge("mine")).actions.length, 1);
  assertEquals((await confined.read("notes/deep/b.md")).content, "better");
});

test("400: a change of many files concerns one branch, or none", async (own) => {
  await sample(own);
  for (const [path, destination] of [["notes", ".branches/try/n"], [".branches/try/deep", "n"]]) {
    const answer = await own.request("POST", "/folders/copy", { body: { path, destination } });
    assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR")), ["destination"]);
  }
  const body = { path: ".branches/try/deep", destination: ".branches/try/deeper" };
  assertEquals((await own.request("POST", "/folders/move", { body })).status, 200);
});

test("an expired branch is closed, and the sweep deletes its files", async (own) => {
  const { branches } = await sample(own);
  await service.sql(
    "update filestore.branches set (expires_at, due_at) = (now(), now()) where project_id = $1",
    [own.project.id],
  );
  assertEquals((await branches.get("try")).state, "closed");
  assertRefused(await own.post({ path: ".branches/try/a.md", content: "x" }), "BRANCH_CLOSED");
  assertEquals(Object.keys(await tree(own, ".branches/try")).length, 2);
  await sweepAll(service);
  assertEquals(await tree(own, ".branches/try"), {});
});
