/** GET /changes lists changes in an order that clients can follow. Also GET /runs and GET /runs/{runId}. */
import { assert, assertEquals } from "@std/assert";
import {
  CHANGES_POLL_MILLISECONDS,
  CHANGES_WAIT_SECONDS_MAX,
  FREE_FOLLOWS_PER_MINUTE,
} from "../../supabase/functions/api/limits.ts";
import { owner } from "../support/client/accounts.ts";
import {
  assertRefused,
  type ChangePage,
  changePage,
  dataOf,
  issuePaths,
  ownersChangePage,
  runDetails,
  runPage,
} from "../support/client/contract.ts";
import { Files, type ProjectFiles } from "../support/client/files.ts";
import { eventually } from "../support/eventually.ts";
import { inParallel } from "../support/in_parallel.ts";
import { suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

type Query = Readonly<Record<string, string | number>>;

async function changes(own: Files, query: Query = {}): Promise<ChangePage> {
  return dataOf(await own.request("GET", "/changes", { query }), "list_changes", changePage);
}

/** All changes, read page by page as a follower does. */
async function follow(own: Files, query: Query = {}): Promise<ChangePage["changes"]> {
  const all: ChangePage["changes"] = [];
  let page = await changes(own, query);
  while (page.changes.length > 0 || page.hasMore) {
    all.push(...page.changes);
    page = await changes(own, { ...query, after: page.cursor });
  }
  return all;
}

const shown = (list: ChangePage["changes"]) => list.map(({ path, version }) => `${path} ${version}`);

async function runs(own: Files, query: Query = {}) {
  return dataOf(await own.request("GET", "/runs", { query }), "list_runs", runPage);
}

async function run(own: Files, runId: string, query: Query = {}) {
  const answer = await own.request("GET", `/runs/${encodeURIComponent(runId)}`, { query });
  return dataOf(answer, "get_run", runDetails);
}

/** Waits until the request just sent is waiting: it has read the feed, and the function polls the database. */
async function isWaiting(): Promise<void> {
  service.proxy.reset();
  await eventually("the function asks for changes", () => {
    const names = service.proxy.calls.map(({ path }) => path.replace(/^.*\//, ""));
    const read = names.indexOf("filestore_changes");
    return read >= 0 && names.includes("filestore_newest_change", read);
  });
}

test("an entry tells of its version what the version list tells, of its file when it was created, and the versions of a move share a commit", async () => {
  const own = await files();
  const said = { "x-run-id": "r.1", "x-actor": "a b", "x-change-note": "why%3F" };
  await own.post({ path: "a.md", content: "one" }, said);
  await own.move("a.md", "b.md");
  const { changes: found, cursor, hasMore } = await changes(own);
  assertEquals(
    found.map(({ path, version, operation, deleted, size }) => [path, version, operation, deleted, size]),
    [["a.md", 1, "write", undefined, 3], ["a.md", 2, "move", true, 0], ["b.md", 1, "move", undefined, 3]],
  );
  const [first, left, target] = found;
  if (!first || !left || !target) throw new Error("entries are missing");
  assertEquals([first.runId, first.actor, first.note], ["r.1", "a b", "why?"]);
  assertEquals(first.mimeType, "text/markdown");
  assertEquals([left.commitId, left.createdAt], [target.commitId, target.createdAt]);
  assert(first.commitId !== left.commitId);
  assertEquals([left.from, target.from], [undefined, { path: "a.md", version: 1 }]);
  assertEquals([cursor, hasMore], [target.cursor, false]);
  for (const { path = "", ...entry } of found) {
    const { versions: list } = await own.versions(path);
    const version = list.find(({ version }) => version === entry.version);
    assertEquals(version?.cursor, entry.cursor);
    assertEquals(entry.fileCreatedAt, list.find(({ version }) => version === 1)?.createdAt);
    const { operation, from, createdAt } = entry;
    assertEquals([version?.operation, version?.from, version?.createdAt], [operation, from, createdAt]);
  }
});

test("pages: limit, the cursor, the beginning, now, and every cursor of an entry", async (own) => {
  const { cursor: beginning } = await changes(own, { after: "now" });
  assertEquals(await changes(own), { changes: [], cursor: beginning, hasMore: false });
  for (let n = 1; n <= 5; n++) await own.write("log.txt", `${n}`);
  const first = await changes(own, { limit: 2 });
  assertEquals([shown(first.changes), first.hasMore], [["log.txt 1", "log.txt 2"], true]);
  assertEquals((await changes(own, { limit: 2, after: beginning })).changes, first.changes);
  const all = await follow(own, { limit: 2 });
  assertEquals(all.map(({ version }) => version), [1, 2, 3, 4, 5]);
  for (const [index, { cursor }] of all.entries()) {
    assertEquals((await changes(own, { after: cursor })).changes.length, 4 - index);
  }
  const now = await changes(own, { after: "now" });
  assertEquals([now.changes, now.cursor, now.hasMore], [[], all.at(-1)?.cursor, false]);
  assertEquals((await changes(own, { after: now.cursor })).changes, []);
});

test("what is wrong with the query is 400 and names the parameter, a cursor of another project too", async () => {
  const [own, other] = [await files(), await files()];
  await other.write("a.txt", "x");
  const { cursor } = await changes(other);
  const bad: readonly (readonly [string, string, readonly string[]])[] = [
    ["/changes", "after", [cursor, "0".repeat(32), "", cursor.slice(1)]],
    ["/changes", "before", [cursor, "0".repeat(32), "yesterday", "2026-11-31"]],
    ["/changes", "limit", ["0", "1001"]],
    ["/changes", "wait", ["-1", `${CHANGES_WAIT_SECONDS_MAX + 1}`]],
    ["/changes", "run", ["a b", ""]],
    ["/changes", "actor", ["ä"]],
    ["/changes", "keyId", ["none"]],
    ["/changes", "operation", ["read"]],
    ["/runs", "after", [cursor]],
    ["/runs", "limit", ["101"]],
    ["/runs/r", "after", [cursor]],
    ["/runs/r", "limit", ["1001"]],
  ];
  const queries = bad.flatMap(([path, name, values]) =>
    values.map((value) => [path, name, { [name]: value }] as const)
  );
  const runs = ["a%20b", "%ff", "a".repeat(129)].map((run) => [`/runs/${run}`, "runId", {}] as const);
  for (const [path, name, query] of [...queries, ...runs]) {
    const answer = await own.request("GET", path, { query });
    const details = assertRefused(answer, "VALIDATION_ERROR");
    assertEquals(issuePaths(details), [name], `${path} ${JSON.stringify(query)}`);
  }
  for (const query of [{ path: "a//b" }, { directory: "../x" }]) {
    assertRefused(await own.request("GET", "/changes", { query }), "INVALID_PATH", "list_changes");
  }
  assertRefused(await own.request("GET", "/changes?run=a&run=b"), "VALIDATION_ERROR");
  for (const [name, value] of [["after", "now"], ["wait", 1]] as const) {
    const answer = await own.request("GET", "/changes", { query: { before: "now", [name]: value } });
    assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR")), [name]);
  }
});

test("filters: run, actor, path, directory, operation, alone and together", async (own) => {
  const write = (path: string, runId: string, actor: string) =>
    own.post({ path, content: "x" }, { "x-run-id": runId, "x-actor": actor });
  await write("a.txt", "one", "ada");
  await write("notes/b.txt", "one", "bob");
  await write("notes/deep/c.txt", "two", "ada");
  await write("notes.txt", "two", "bob");
  await own.remove("notes/b.txt");
  const expected: [Query, string[]][] = [
    [{ run: "one" }, ["a.txt 1", "notes/b.txt 1"]],
    [{ actor: "ada" }, ["a.txt 1", "notes/deep/c.txt 1"]],
    [{ run: "two", actor: "ada" }, ["notes/deep/c.txt 1"]],
    [{ path: "notes/b.txt" }, ["notes/b.txt 1", "notes/b.txt 2"]],
    [{ directory: "notes" }, ["notes/b.txt 1", "notes/deep/c.txt 1", "notes/b.txt 2"]],
    [{ directory: "/notes/" }, ["notes/b.txt 1", "notes/deep/c.txt 1", "notes/b.txt 2"]],
    [{ directory: "" }, ["a.txt 1", "notes/b.txt 1", "notes/deep/c.txt 1", "notes.txt 1", "notes/b.txt 2"]],
    [{ operation: "delete" }, ["notes/b.txt 2"]],
    [{ directory: "notes", operation: "write", limit: 1 }, ["notes/b.txt 1", "notes/deep/c.txt 1"]],
    [{ run: "none" }, []],
  ];
  for (const [query, found] of expected) {
    assertEquals(shown(await follow(own, query)), found, JSON.stringify(query));
  }
  const [looked, now] = [await changes(own, { run: "none" }), await changes(own, { after: "now" })];
  assertEquals(looked.cursor, now.cursor, "what was looked at is not looked at again");
});

test("a key with a prefix sees what lies below it alone, in the feed, in where content is from, and in runs", async () => {
  const account = await owner(service);
  const whole = new Files(service, (await account.createKey()).key);
  const inside = new Files(service, (await account.createKey({ pathPrefix: "in" })).key);
  const headers = { "x-run-id": "both", "x-actor": "ada" };
  await whole.post({ path: "out/a.txt", content: "secret" }, headers);
  await whole.put("copy", "out/a.txt", { destination: "in/b.txt" }, { ...headers, "x-actor": "bob" });
  await whole.put("copy", "in/b.txt", { destination: "in/c.txt" }, headers);
  await whole.post({ path: "inside.txt", content: "x" }, { "x-run-id": "outside" });
  const found = (await changes(inside)).changes;
  const origin = { path: "in/b.txt", version: 1 };
  assertEquals(found.map(({ path, from }) => [path, from]), [["in/b.txt", undefined], ["in/c.txt", origin]]);
  assertEquals((await changes(whole)).changes[1]?.from, { path: "out/a.txt", version: 1 });
  assertEquals(await changes(inside, { path: "out/a.txt" }), await changes(inside, { path: "out/none.txt" }));
  const { runs: seen } = await runs(inside);
  const [{ firstAt: _, lastAt: __, ...both } = {}, ...others] = seen;
  assertEquals([both, others], [
    { runId: "both", actors: ["ada", "bob"], fileCount: 2, versionCount: 2 },
    [],
  ]);
  assertEquals((await run(inside, "both")).files.map(({ path }) => path).sort(), ["in/b.txt", "in/c.txt"]);
  const hidden = await inside.request("GET", "/runs/outside");
  assertRefused(hidden, "RUN_NOT_FOUND", "get_run");
  assertEquals(hidden.text, (await inside.request("GET", "/runs/never")).text);
  assertEquals((await runs(whole)).runs.map(({ runId }) => runId), ["outside", "both"]);
});

test("the key of an entry is for the owner and keys with the scope admin, and so is the filter", async () => {
  const account = await owner(service);
  const writer = await account.createKey();
  const admin = await account.createKey({ scopes: ["read", "admin"] });
  await new Files(service, writer.key).write("a.txt", "x");
  await account.request("POST", "/files", { body: { path: "b.txt", content: "x" } });
  assertEquals((await changes(new Files(service, writer.key))).changes.length, 2);
  for (const by of [account, new Files(service, admin.key)]) {
    const ask = async (query: Query) =>
      dataOf(await by.request("GET", "/changes", { query }), "list_changes", ownersChangePage);
    const { changes: all } = await ask({});
    assertEquals(all.map(({ path, keyId }) => [path, keyId]), [["a.txt", writer.id], ["b.txt", undefined]]);
    const { changes: its } = await ask({ keyId: writer.id });
    assertEquals(its.map(({ path }) => path), ["a.txt"]);
  }
  const refused = await service.request(writer.key, "GET", "/changes", { query: { keyId: writer.id } });
  assertEquals(assertRefused(refused, "FORBIDDEN_SCOPE", "list_changes"), { scope: "admin" });
});

test("wait: answered as soon as something comes that the filters let through, and counted once", async () => {
  const own = await files("free");
  const { cursor } = await changes(own, { after: "now" });
  await service.freezeWindow(own.project.id, 0);
  const waiting = own.request("GET", "/changes", { query: { after: cursor, wait: 25, path: "wanted.txt" } });
  await isWaiting();
  await own.write("other.txt", "x");
  await own.write("wanted.txt", "x");
  const answer = await waiting;
  assertEquals(shown(dataOf(answer, "list_changes", changePage).changes), ["wanted.txt 1"]);
  assertEquals(answer.headers.get("x-ratelimit-remaining"), "97", "this request, and two writes");
});

test("wait: from the beginning of an empty project too; now never waits, nor does a page with something on it", async () => {
  const own = await files();
  const waiting = changes(own, { wait: 25 });
  await isWaiting();
  await own.write("a.txt", "x");
  assertEquals(shown((await waiting).changes), ["a.txt 1"]);
  const calls = await service.proxy.during(async () => {
    await changes(own, { after: "now", wait: 25 });
    await changes(own, { wait: 25 });
  });
  const names = calls.map(({ path }) => path.replace(/^.*\//, ""));
  assertEquals(names, ["filestore_changes", "filestore_changes"]);
});

test("wait: a key that is revoked meanwhile is refused at its next page", async (own) => {
  const other = new Files(service, (await service.key(own.project.id)).key);
  const { cursor } = await changes(own, { after: "now" });
  await service.withBareFunction(async (origin) => {
    // Other tests fail to authenticate, too, and use up the failures allowed to their address. The gateway ignores a
    // client's own header.
    const headers = { "x-api-key": own.key, "cf-connecting-ip": "203.0.113.72" };
    const waiting = fetch(`${origin}/api/changes?after=${cursor}&wait=25`, { headers });
    await isWaiting();
    await service.revokeKey(own.project.keyId);
    await other.write("a.txt", "x");
    const refused = await waiting;
    assertEquals([refused.status, (await refused.json()).error.code], [401, "INVALID_API_KEY"]);
  });
});

test("wait: a client that goes away leaves, and the database is asked no more", async (own) => {
  // A proxy in front of the function would decide what happens to a closed connection; here there is none.
  await service.withBareFunction(async (origin) => {
    const leaving = new AbortController();
    const waiting = fetch(`${origin}/api/changes?wait=25`, {
      headers: { "x-api-key": own.key },
      signal: leaving.signal,
    }).catch(() => {});
    await isWaiting();
    leaving.abort();
    await waiting;
    const asked = () =>
      service.proxy.calls.filter(({ path }) => path.endsWith("filestore_newest_change")).length;
    let before = -1;
    await eventually("nothing is asked for as long as several questions take", async () => {
      const isQuiet = asked() === before;
      before = asked();
      if (!isQuiet) await new Promise((resolve) => setTimeout(resolve, 4 * CHANGES_POLL_MILLISECONDS));
      return isQuiet;
    });
    const { status } = await service.requestAt(`${origin}/api/changes`, "GET", { "x-api-key": own.key });
    assertEquals(status, 200);
  });
});

test("the owner follows in the console outside the window; what does not wait is counted", async () => {
  const account = await owner(service);
  await service.setTier(account.projectId, "free");
  const beginning = await account.request("GET", "/changes", { query: { after: "now" } });
  const { cursor: after } = dataOf(beginning, "list_changes", ownersChangePage);
  await account.request("POST", "/files", { body: { path: "a.txt", content: "x" } });
  await service.freezeWindow(account.projectId, 100);
  const follow = (query: Query) => account.request("GET", "/changes", { query });
  for (let count = 0; count < 2; count++) {
    // The second time, this isolate has cached that the window is used up.
    const { changes } = dataOf(await follow({ after, wait: 25 }), "list_changes", ownersChangePage);
    assertEquals(shown(changes), ["a.txt 1"]);
    const filtered = { wait: 25, after, directory: "notes" };
    const fromNow = [{ after: "now", wait: 25 }, { before: "now" }];
    for (const query of [{ after }, { after, wait: 0 }, { wait: 25 }, ...fromNow, filtered]) {
      assertRefused(await follow(query), "RATE_LIMIT_EXCEEDED", "list_changes");
    }
  }
  const { key } = await service.key(account.projectId);
  const byKey = await service.request(key, "GET", "/changes", { query: { after, wait: 25 } });
  assertRefused(byKey, "RATE_LIMIT_EXCEEDED", "list_changes");
});

test("the owner's following has a window of its own, over all projects of the account, and then spends the project's", async () => {
  const account = await owner(service);
  const { id } = await account.createProject("second");
  const [one, other] = [account, account.about(id)];
  const cursors: string[] = [];
  for (const own of [one, other]) {
    const beginning = await own.request("GET", "/changes", { query: { after: "now" } });
    cursors.push(dataOf(beginning, "list_changes", ownersChangePage).cursor);
    await own.request("POST", "/files", { body: { path: "a.txt", content: "x" } });
  }
  await service.setTier(account.projectId, "free");
  await service.freezeWindow(account.projectId, 100);
  await service.freezeWindow(id, 100);
  // More than two windows allow, since a minute may end meanwhile.
  const answers = await inParallel(
    Array.from({ length: 2 * FREE_FOLLOWS_PER_MINUTE + 10 }, (_, index) => index % 2),
    64,
    (index) => {
      const query = { after: cursors[index] ?? "", wait: 25 };
      return (index === 0 ? one : other).request("GET", "/changes", { query });
    },
  );
  const admitted = answers.filter(({ status }) => status === 200).length;
  assert(admitted >= FREE_FOLLOWS_PER_MINUTE && admitted <= 2 * FREE_FOLLOWS_PER_MINUTE, `${admitted}`);
  for (const answer of answers) {
    if (answer.status !== 200) assertRefused(answer, "RATE_LIMIT_EXCEEDED", "list_changes");
  }
});

test("runs: the newest first, summed up, page by page; one of them with its files", async (own) => {
  const by = (runId: string, actor: string) => ({ "x-run-id": runId, "x-actor": actor });
  await own.post({ path: "a.txt", content: "1" }, by("first", "ada"));
  await own.post({ path: "a.txt", content: "2" }, by("second", "bob"));
  await own.post({ path: "a.txt", content: "3" }, by("first", "ada"));
  await own.post({ path: "b.txt", content: "1" }, by("first", "cyd"));
  await own.put("append", "a.txt", { content: "4" }, by("first", "ada"));
  await own.write("c.txt", "in no run");
  const { runs: all, hasMore } = await runs(own);
  assertEquals(all.map(({ firstAt: _, lastAt: __, ...rest }) => rest), [
    { runId: "second", actors: ["bob"], fileCount: 1, versionCount: 1 },
    { runId: "first", actors: ["ada", "cyd"], fileCount: 2, versionCount: 4 },
  ]);
  assertEquals(hasMore, false);
  const page = await runs(own, { limit: 1 });
  assertEquals([page.runs[0]?.runId, page.hasMore], ["second", true]);
  const next = await runs(own, { limit: 1, after: page.cursor });
  assertEquals([next.runs[0]?.runId, next.hasMore], ["first", false]);

  const first = await run(own, "first");
  const { versions: ofA } = await own.versions("a.txt");
  assertEquals([first.firstAt, first.lastAt], [ofA[3]?.createdAt, ofA[0]?.createdAt]);
  const found = first.files.map(({ fileId: _, ...rest }) => rest).sort((x, y) => x.path < y.path ? -1 : 1);
  assertEquals(found, [
    { path: "a.txt", firstVersion: 1, lastVersion: 4, operation: "append", own: true },
    { path: "b.txt", firstVersion: 1, lastVersion: 1, operation: "write", own: true },
  ]);
  const one = await run(own, "first", { limit: 1 });
  assertEquals([one.files.length, one.fileCount, one.hasMore], [1, 2, true]);
  const rest = await run(own, "first", { limit: 1, after: one.files[0]?.fileId ?? "" });
  assertEquals([rest.files.length, rest.hasMore], [1, false]);
  assertEquals(new Set([...one.files, ...rest.files].map(({ path }) => path)).size, 2);
  assertRefused(await own.request("GET", "/runs/third"), "RUN_NOT_FOUND", "get_run");
  const stranger: ProjectFiles = await files();
  assertRefused(await stranger.request("GET", "/runs/first"), "RUN_NOT_FOUND", "get_run");
  assertEquals((await runs(stranger)).runs, []);
});

test("backwards: the newest first, page by page to the beginning, from a cursor, now or a time", async () => {
  const own = await files();
  for (let n = 1; n <= 5; n++) await own.write("log.txt", `${n}`);
  const forwards = await follow(own);
  const newest = await changes(own, { before: "now", limit: 2 });
  assertEquals([shown(newest.changes), newest.hasMore], [["log.txt 5", "log.txt 4"], true]);
  const middle = await changes(own, { before: newest.cursor, limit: 2 });
  assertEquals([shown(middle.changes), middle.hasMore], [["log.txt 3", "log.txt 2"], true]);
  const oldest = await changes(own, { before: middle.cursor, limit: 2 });
  assertEquals([shown(oldest.changes), oldest.hasMore], [["log.txt 1"], false]);
  const nothing = await changes(own, { before: oldest.cursor });
  assertEquals([nothing.changes, nothing.hasMore], [[], false]);
  assertEquals([...newest.changes, ...middle.changes, ...oldest.changes], forwards.toReversed());
  // A follower may begin at the cursor at the end of a page.
  assertEquals(shown((await changes(own, { after: newest.cursor })).changes), ["log.txt 5"]);
});

test("backwards: a time is exact, whatever filters hold", async (own) => {
  for (let n = 1; n <= 6; n++) {
    await own.post({ path: `${n}.txt`, content: "x" }, { "x-actor": n % 2 === 0 ? "even" : "odd" });
  }
  const all = await follow(own);
  for (const { createdAt } of all) {
    const earlier = all.filter((change) => change.createdAt < createdAt).toReversed();
    assertEquals((await changes(own, { before: createdAt })).changes, earlier);
    const odd = earlier.filter(({ actor }) => actor === "odd");
    assertEquals((await changes(own, { before: createdAt, actor: "odd" })).changes, odd);
  }
  assertEquals((await changes(own, { before: "2001-01-01" })).changes, []);
  assertEquals((await changes(own, { before: "2101-01-01T00:00:00+02:00" })).changes, all.toReversed());
});
