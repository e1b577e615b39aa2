/** Undo of a run and restore of a folder: plans, conflicts, and undoing an undo. */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { PROJECT_KEYS_MAX } from "../../supabase/functions/api/limits.ts";
import { owner } from "../support/client/accounts.ts";
import { assertRefused, dataOf, issuePaths } from "../support/client/contract.ts";
import { Files, type HeaderFields } from "../support/client/files.ts";
import { suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

const answer = z.strictObject({
  runId: z.string().nullable(),
  undoneRunId: z.string().nullable(),
  actions: z.array(z.strictObject({
    path: z.string(),
    action: z.enum(["restore", "delete"]),
    from: z.int(),
    to: z.int().nullable(),
    version: z.int().optional(),
    own: z.boolean().optional(),
    keyIds: z.array(z.string()).optional(),
  })),
  unchanged: z.array(z.string()),
  conflicts: z.array(z.strictObject({
    path: z.string(),
    version: z.int(),
    actor: z.string().nullable(),
    runId: z.string().nullable(),
    own: z.boolean().optional(),
    keyId: z.string().optional(),
    reason: z.enum(["gone", "moved", "unexamined"]).optional(),
  })),
});

/** The same files, with writes under this run id. */
function inRun(own: Files, runId: string, actor?: string): Files {
  const headers: HeaderFields = { "x-run-id": runId, ...(actor === undefined ? {} : { "x-actor": actor }) };
  return new Files({
    request: (key, method, path, options = {}) =>
      own.api.request(key, method, path, { ...options, headers: { ...headers, ...options.headers } }),
  }, own.key);
}

const ask = (own: Files, run: string, body: unknown, headers: HeaderFields = {}) =>
  own.request("POST", `/runs/${encodeURIComponent(run)}/undo`, { body, headers });

async function plan(own: Files, run: string, body: Record<string, unknown> = {}) {
  return dataOf(await ask(own, run, body), "undo_run", answer);
}

async function undo(own: Files, run: string, body: Record<string, unknown> = {}, headers: HeaderFields = {}) {
  return dataOf(await ask(own, run, { dryRun: false, ...body }, headers), "undo_run", answer);
}

/** Paths, types and contents. */
async function tree(own: Files): Promise<Record<string, string>> {
  const paths = await own.paths({ recursive: true, limit: 100 });
  const entries = await Promise.all(paths.map(async (path) => {
    const { content, mimeType } = await own.read(path);
    return [path, `${mimeType} ${content}`] as const;
  }));
  return Object.fromEntries(entries);
}

/** A run that creates, changes, deletes and moves. */
async function sample(own: Files) {
  await own.write("changed.txt", "before");
  await own.write("deleted.txt", "there");
  await own.write("from.txt", "moved");
  await own.write("other.txt", "untouched");
  const before = await tree(own);
  const run = inRun(own, "r1", "agent");
  await run.write("changed.txt", "after");
  await run.append("changed.txt", "!");
  await run.write("created.txt", "new");
  await run.remove("deleted.txt");
  await run.move("from.txt", "to.txt");
  return { before, after: await tree(own) };
}

test("200 plan: by default nothing is done; the answer says what would be", async (own) => {
  const { after } = await sample(own);
  const tables = await service.tables();
  for (const body of [{}, { dryRun: true }, { dryRun: null, onConflict: null, paths: null }]) {
    assertEquals(await plan(own, "r1", body), {
      runId: null,
      undoneRunId: "r1",
      actions: [
        { path: "changed.txt", action: "restore", from: 3, to: 1, own: true },
        { path: "created.txt", action: "delete", from: 1, to: null, own: true },
        { path: "deleted.txt", action: "restore", from: 2, to: 1, own: true },
        { path: "from.txt", action: "restore", from: 2, to: 1, own: true },
        { path: "to.txt", action: "delete", from: 1, to: null, own: true },
      ],
      unchanged: [],
      conflicts: [],
    });
  }
  const empty = await own.request("POST", "/runs/r1/undo");
  assertEquals(dataOf(empty, "undo_run", answer).actions.length, 5, "the body may be left out");
  assertEquals(await tree(own), after);
  assertEquals(await service.tables(), tables);
});

test("200 undo: every file is what it was; the undo is a run, undoing that redoes, and so on", async () => {
  const own = await files();
  const { before, after } = await sample(own);
  const undone = await undo(own, "r1", {}, { "x-run-id": "u1", "x-actor": "me" });
  assertEquals([undone.runId, undone.undoneRunId, undone.actions.length], ["u1", "r1", 5]);
  for (const { from, version } of undone.actions) assertEquals(version, from + 1);
  assertEquals(await tree(own), before);
  const [version] = (await own.versions("changed.txt")).versions;
  assertEquals([version?.operation, version?.runId, version?.actor], ["undo", "u1", "me"]);
  assertEquals(version?.from, { path: "changed.txt", version: 1 });
  const again = await undo(own, "r1");
  assertEquals([again.actions, again.unchanged.length], [[], 5], "all of it is equal already");
  const redone = await undo(own, "u1");
  const redo = redone.runId ?? "";
  assert(!["", "u1", "r1"].includes(redo), "a new run");
  assertEquals(await tree(own), after);
  assertEquals((await plan(own, "r1")).conflicts, [], "what undoing it made, and undoing that, is its own");
  await undo(own, "r1");
  assertEquals(await tree(own), before);
  await undo(own, redo);
  assertEquals(await tree(own), before, "equal already");
});

test("a run names its undo, and an undo its run, until the undo is undone; a key sees that of its files alone", async () => {
  const account = await owner(service);
  const own = new Files(service, (await account.createKey()).key);
  const night = inRun(own, "night-9");
  await night.write("notes/a.md", "a");
  await night.write("b.md", "b");
  await undo(own, "night-9", { paths: ["notes/a.md"] }, { "x-run-id": "undo-a" });
  await undo(own, "night-9", { paths: ["b.md"] }, { "x-run-id": "undo-b" });
  const named = z.looseObject({
    runId: z.string(),
    undoneRunId: z.string().optional(),
    undoneBy: z.array(z.string()).optional(),
  });
  const namedOf = async (from: Files, run: string) => {
    const { runId, undoneRunId, undoneBy } = dataOf(
      await from.request("GET", `/runs/${run}`),
      "get_run",
      named,
    );
    return [runId, undoneRunId, undoneBy];
  };
  assertEquals(await namedOf(own, "night-9"), ["night-9", undefined, ["undo-a", "undo-b"]]);
  assertEquals(await namedOf(own, "undo-a"), ["undo-a", "night-9", undefined]);
  const narrow = new Files(service, (await account.createKey({ pathPrefix: "notes" })).key);
  assertEquals(await namedOf(narrow, "night-9"), ["night-9", undefined, ["undo-a"]]);
  await undo(own, "undo-a", {}, { "x-run-id": "redo-a" });
  assertEquals(await namedOf(own, "night-9"), ["night-9", undefined, ["undo-b"]]);
  assertEquals(await namedOf(own, "undo-a"), ["undo-a", "night-9", ["redo-a"]]);
  const page = z.looseObject({ runs: z.array(named) });
  const { runs } = dataOf(await own.request("GET", "/runs"), "list_runs", page);
  assertEquals(runs.map(({ runId, undoneRunId }) => [runId, undoneRunId]), [
    ["redo-a", "undo-a"],
    ["undo-b", "night-9"],
    ["undo-a", "night-9"],
    ["night-9", undefined],
  ]);
});

test("409 RUN_CONFLICT: what others changed since is named and nothing is done; skip, overwrite, paths", async () => {
  const own = await files();
  await sample(own);
  await inRun(own, "r2", "other agent").append("changed.txt", "?");
  await own.write("created.txt", "by nobody");
  await own.write("deleted.txt", "there");
  const conflicts = [
    { path: "changed.txt", version: 4, actor: "other agent", runId: "r2", own: true },
    { path: "created.txt", version: 2, actor: null, runId: null, own: true },
  ];
  const planned = await plan(own, "r1");
  assertEquals([planned.conflicts, planned.unchanged], [conflicts, ["deleted.txt"]]);
  const tables = await service.tables();
  const refused = await ask(own, "r1", { dryRun: false });
  assertEquals(assertRefused(refused, "RUN_CONFLICT", "undo_run"), { conflicts });
  assertEquals(await service.tables(), tables, "nothing is done");
  const skipped = await undo(own, "r1", { onConflict: "skip" });
  assertEquals(skipped.actions.map(({ path }) => path), ["from.txt", "to.txt"]);
  assertEquals(skipped.conflicts, conflicts);
  assertEquals((await own.read("changed.txt")).content, "after!?");
  const one = await undo(own, "r1", { onConflict: "overwrite", paths: ["created.txt", "none.txt"] });
  assertEquals(one.actions.map(({ path }) => path), ["created.txt"]);
  const forced = await undo(own, "r1", { onConflict: "overwrite" });
  assertEquals(forced.actions.map(({ path }) => path), ["changed.txt"]);
  assertEquals((await own.read("changed.txt")).content, "before");
});

test("the other file of a move outside `paths` is a conflict", async (own) => {
  await sample(own);
  for (const [path, version] of [["from.txt", 2], ["to.txt", 1]] as const) {
    const { conflicts } = await plan(own, "r1", { paths: [path] });
    assertEquals(conflicts, [{ path, version, actor: "agent", runId: "r1", own: true, reason: "moved" }]);
    assertRefused(await ask(own, "r1", { dryRun: false, paths: [path] }), "RUN_CONFLICT");
  }
  assertEquals((await plan(own, "r1", { paths: ["from.txt", "to.txt"] })).conflicts, []);
});

test("a key with a prefix undoes below it; outside of it there is no run", async () => {
  const account = await owner(service);
  const own = new Files(service, (await account.createKey()).key);
  await own.write("p/from.txt", "x");
  const run = inRun(own, "r1");
  await run.write("p/a.txt", "1");
  await run.write("q/a.txt", "1");
  await run.move("p/from.txt", "q/to.txt");
  await inRun(own, "r2").write("q/b.txt", "1");
  const narrow = new Files(service, (await account.createKey({ pathPrefix: "p" })).key);
  const planned = await plan(narrow, "r1");
  assertEquals(planned.actions.map(({ path }) => path), ["p/a.txt"]);
  const conflict = { path: "p/from.txt", version: 2, actor: null, runId: "r1", own: false };
  assertEquals(planned.conflicts, [{ ...conflict, reason: "moved" }]);
  assertRefused(await ask(narrow, "r2", {}), "RUN_NOT_FOUND");
  await undo(narrow, "r1", { onConflict: "skip" });
  assertEquals(await own.paths({ recursive: true }), ["q/a.txt", "q/b.txt", "q/to.txt"]);
});

test("400 and 404: the undone run itself, what is no run, and what is malformed", async (own) => {
  await sample(own);
  const itself = await ask(own, "r1", { dryRun: false }, { "x-run-id": "r1" });
  assertEquals(issuePaths(assertRefused(itself, "VALIDATION_ERROR", "undo_run")), ["X-Run-Id"]);
  for (const run of ["r2", "R1"]) assertRefused(await ask(own, run, {}), "RUN_NOT_FOUND", "undo_run");
  for (const run of ["a b", "%", "x".repeat(200)]) {
    assertRefused(await ask(own, run, {}), "VALIDATION_ERROR", "undo_run");
  }
  const stranger = await files();
  assertRefused(await ask(stranger, "r1", {}), "RUN_NOT_FOUND");
  const tooMany = Array(PROJECT_KEYS_MAX + 1).fill(crypto.randomUUID());
  const bad: readonly (readonly [object, string])[] = [
    [{ dryRun: "no" }, "dryRun"],
    [{ onConflict: "force" }, "onConflict"],
    ...["a", []].map((paths) => [{ paths }, "paths"] as const),
    ...["mine", [], tooMany].map((keys) => [{ keys }, "keys"] as const),
    [{ keys: ["own"] }, "keys.0"],
  ];
  for (const [body, field] of bad) {
    assertEquals(issuePaths(assertRefused(await ask(own, "r1", body), "VALIDATION_ERROR")), [field]);
  }
  assertRefused(await ask(own, "r1", { paths: ["/x"] }), "INVALID_PATH");
});

test("equal means stored pieces and type; what was stored in other pieces counts as changed, without a look at it", async () => {
  const own = await files();
  const put = async (path: string, ...pieces: string[]) => {
    await own.write(path, pieces[0] ?? "");
    for (const piece of pieces.slice(1)) await own.append(path, piece);
  };
  await put("same.txt", "one", "two");
  await put("other-pieces.txt", "one", "two");
  await put("fewer-pieces.txt", "one", "two");
  await put("other-type.txt", "one");
  const paths = ["fewer-pieces.txt", "other-pieces.txt", "other-type.txt"];
  for (const path of [...paths, "same.txt"]) await inRun(own, "r1").write(path, "other");
  await put("same.txt", "one", "two");
  await put("other-pieces.txt", "onet", "wo");
  await put("fewer-pieces.txt", "onetwo");
  await own.write("other-type.txt", "one", { contentType: "text/csv" });
  const calls = await service.proxy.during(async () => {
    const planned = await plan(own, "r1");
    assertEquals([planned.unchanged, planned.conflicts.map(({ path }) => path)], [["same.txt"], paths]);
  });
  assertEquals(calls.map(({ target }) => target), ["database"]);
  const done = await undo(own, "r1", { onConflict: "overwrite" });
  assertEquals([done.unchanged, done.actions.map(({ path }) => path)], [["same.txt"], paths]);
});

test("a repeat with the same Idempotency-Key gives the same answer and makes nothing", async (own) => {
  await sample(own);
  const headers = { "idempotency-key": "once" };
  await own.write("deleted.txt", "there");
  await own.write("created.txt", "by others");
  const body = { dryRun: false, onConflict: "skip" };
  const first = await ask(own, "r1", body, headers);
  assertEquals(dataOf(first, "undo_run", answer).actions.length, 3);
  await own.write("changed.txt", "later");
  await inRun(own, "r1").write("more.txt", "later");
  const before = await service.tables();
  const again = await ask(own, "r1", body, headers);
  assertEquals([again.status, again.body], [200, first.body]);
  assertEquals(again.headers.get("idempotency-replayed"), "true");
  assertEquals(await service.tables(), before);
  const other = await ask(own, "r1", { ...body, onConflict: "overwrite" }, headers);
  assertRefused(other, "IDEMPOTENCY_KEY_REUSED");
});

// Runs of several keys ------------------------------------------------------------------------------------------------

/** Two agents, each with its own key, that write under one run id, and the project's owner. */
async function shared() {
  const account = await owner(service);
  const adminScopes = { scopes: ["read", "write", "admin"] };
  const made = [account.createKey(), account.createKey(), account.createKey(adminScopes)] as const;
  const [ofMine, ofTheirs, ofAdmin] = await Promise.all(made);
  const [mine, theirs] = [new Files(service, ofMine.key), new Files(service, ofTheirs.key)];
  const admin = new Files(service, ofAdmin.key);
  const [myId, theirId] = [ofMine.id, ofTheirs.id];
  const person = new Files(
    { request: (_, method, path, options) => account.request(method, path, options) },
    "",
  );
  for (const path of ["both.txt", "mine.txt", "theirs.txt"]) await mine.write(path, "before");
  await inRun(mine, "r1", "me").write("both.txt", "mine");
  await inRun(theirs, "r1", "they").write("both.txt", "theirs");
  await inRun(mine, "r1", "me").write("mine.txt", "mine");
  await inRun(theirs, "r1", "they").write("theirs.txt", "theirs");
  await inRun(person, "r1").write("person.txt", "typed");
  return { mine, theirs, admin, person, myId, theirId };
}

type Shown = Readonly<{ path: string; own?: boolean | undefined; keyIds?: string[] | undefined }>;
/** Maps each path to `own` and the ids of the keys that wrote it. */
const shownAs = (entries: readonly Shown[]) =>
  Object.fromEntries(
    entries.map(({ path, own, keyIds }) => [path, [own, ...keyIds?.toSorted() ?? ["hidden"]]]),
  );

test("a run and a plan say of each file whether it is one's own, and admins see whose", async () => {
  const { mine, theirs, admin, person, myId, theirId } = await shared();
  const keyIds = z.array(z.string()).optional();
  const file = z.looseObject({ path: z.string(), own: z.boolean(), keyIds });
  const run = z.looseObject({ files: z.array(file) });
  const both = [myId, theirId].toSorted();
  const keysOf = { "both.txt": both, "mine.txt": [myId], "person.txt": [], "theirs.txt": [theirId] };
  const readers = { "mine.txt": mine, "theirs.txt": theirs, "none": admin, "person.txt": person };
  for (const [ownPath, reader] of Object.entries(readers)) {
    const seesKeys = reader === admin || reader === person;
    const expected: Record<string, unknown> = {};
    for (const [path, keys] of Object.entries(keysOf)) {
      expected[path] = [path === ownPath, ...seesKeys ? keys : ["hidden"]];
    }
    const { files } = dataOf(await reader.request("GET", "/runs/r1"), "get_run", run);
    assertEquals(shownAs(files), expected);
    const planned = await plan(reader, "r1");
    assertEquals([shownAs(planned.actions), planned.conflicts], [expected, []]);
  }
});

test("keys: an undo takes back what was made with these keys; what others claim for the run is theirs", async () => {
  const ofBoth = ["both.txt", "mine.txt", "theirs.txt"] as const;
  const cases = [
    { keys: "own", by: "mine", actions: ["mine.txt"], conflicts: ["both.txt 3 false"] },
    { keys: "own", by: "theirs", actions: ["both.txt", "theirs.txt"], conflicts: [] },
    { keys: "own", by: "person", actions: ["person.txt"], conflicts: [] },
    { keys: ["myId"], by: "theirs", actions: ["mine.txt"], conflicts: ["both.txt 3 true"] },
    { keys: ["theirId"], by: "mine", actions: ["both.txt", "theirs.txt"], conflicts: [] },
    { keys: ["myId", "theirId", "nobody"], by: "admin", actions: ofBoth, conflicts: [] },
  ] as const;
  const run = await shared();
  const before = await tree(run.mine);
  const ids = { myId: run.myId, theirId: run.theirId, nobody: crypto.randomUUID() };
  for (const { keys, by, actions, conflicts } of cases) {
    const body = { keys: typeof keys === "string" ? keys : keys.map((name) => ids[name]) };
    const planned = await plan(run[by], "r1", body);
    const named = planned.conflicts.map(({ path, version, own }) => `${path} ${version} ${own}`);
    assertEquals(planned.actions.map(({ path }) => path), actions, JSON.stringify(body));
    assertEquals(named, conflicts, JSON.stringify(body));
    const done = await undo(run[by], "r1", { ...body, onConflict: "skip" });
    assertEquals(done.actions.map(({ path }) => path), actions, "as planned");
    await undo(run[by], done.runId ?? "");
    assertEquals(await tree(run.mine), before, "and back");
  }
  const [conflict] = (await plan(run.person, "r1", { keys: [run.myId] })).conflicts;
  assertEquals([conflict?.keyId, conflict?.own, conflict?.actor], [run.theirId, false, "they"]);
  await inRun(run.mine, "mine-alone").write("f", "1");
  const other = await owner(service);
  const foreign = (await other.createKey()).id;
  const none = [
    ["mine-alone", [run.theirId]],
    ["mine-alone", [crypto.randomUUID(), foreign]],
    ["r1", ["00000000-0000-0000-0000-000000000000"]],
    ["nowhere", "own"],
  ] as const;
  for (const [name, keys] of none) {
    assertRefused(await ask(run.mine, name, { keys }), "RUN_NOT_FOUND", "undo_run");
  }
});

// Restore -------------------------------------------------------------------------------------------------------------

async function restore(own: Files, body: Record<string, unknown>, headers: HeaderFields = {}) {
  return dataOf(await own.request("POST", "/restore", { body, headers }), "restore_folder", answer);
}

test("POST /restore: a folder is what it was, by time and cursor; later versions stay", async (own) => {
  await own.write("d/kept.txt", "kept");
  await own.write("d/changed.txt", "before");
  await own.write("d/deleted.txt", "there");
  await own.write("beside.txt", "1");
  const [last] = (await own.versions("beside.txt")).versions;
  const before = await tree(own);
  await new Promise((resolve) => setTimeout(resolve, 3));
  await own.write("d/changed.txt", "after");
  await own.remove("d/deleted.txt");
  await own.write("d/new/created.txt", "new");
  await own.write("beside.txt", "2");
  await own.write("d/kept.txt", "other");
  await own.write("d/kept.txt", "kept");
  for (const at of [last?.cursor, last?.createdAt]) {
    assertEquals(await restore(own, { directory: "/d/", at }), {
      runId: null,
      undoneRunId: null,
      actions: [
        { path: "d/changed.txt", action: "restore", from: 2, to: 1 },
        { path: "d/deleted.txt", action: "restore", from: 2, to: 1 },
        { path: "d/new/created.txt", action: "delete", from: 1, to: null },
      ],
      unchanged: ["d/kept.txt"],
      conflicts: [],
    });
  }
  const body = { directory: "d", at: last?.cursor, dryRun: false };
  const done = await restore(own, body, { "x-run-id": "back" });
  assertEquals([done.runId, done.actions.map(({ version }) => version)], ["back", [3, 3, 2]]);
  assertEquals(await tree(own), { ...before, "beside.txt": "text/plain 2" });
  const [version] = (await own.versions("d/changed.txt")).versions;
  assertEquals([version?.operation, version?.from], ["restore", { path: "d/changed.txt", version: 1 }]);
  await undo(own, "back");
  assertEquals((await own.read("d/changed.txt")).content, "after", "it is a run that can be undone");
  await restore(own, { directory: "/", at: last?.cursor, dryRun: false });
  assertEquals(await tree(own), before);
});

test("POST /restore: 400 for what is no moment, 403 outside the prefix", async () => {
  const account = await owner(service);
  const own = new Files(service, (await account.createKey()).key);
  await own.write("p/a", "1");
  const at = new Date(Date.now() + 60_000).toISOString();
  const bad: readonly (readonly [object, string])[] = [
    ...[at, "f".repeat(32), "x", undefined].map((at) => [{ directory: "p", at }, "at"] as const),
    [{ at: "2026-01-01" }, "directory"],
    [{ directory: "p", at: "2026-01-01", dryRun: 1 }, "dryRun"],
  ];
  for (const [body, field] of bad) {
    const answer = await own.request("POST", "/restore", { body });
    const details = assertRefused(answer, "VALIDATION_ERROR", "restore_folder");
    assertEquals(issuePaths(details), [field], JSON.stringify(body));
  }
  const narrow = new Files(service, (await account.createKey({ pathPrefix: "p" })).key);
  for (const directory of ["", "q", "pp"]) {
    const answer = await narrow.request("POST", "/restore", { body: { directory, at: "2026-01-01" } });
    assertEquals(assertRefused(answer, "FORBIDDEN_SCOPE"), { pathPrefix: "p" });
  }
  const [only] = (await restore(narrow, { directory: "p", at: "2026-01-01" })).actions;
  assertEquals(only, { path: "p/a", action: "delete", from: 1, to: null });
});
