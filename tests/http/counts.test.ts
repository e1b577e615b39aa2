/** The cost of each operation, counted on the wire between function and Supabase. */
import { assert, assertEquals } from "@std/assert";
import { UNAUTHORIZED_BODY_BYTES_MAX } from "../../supabase/functions/api/limits.ts";
import { assertRefused } from "../support/client/contract.ts";
import type { Files } from "../support/client/files.ts";
import type { BackendCall } from "../support/stack/proxy.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

/** The back ends that are called meanwhile, in order. */
async function targets(work: () => Promise<unknown>): Promise<string[]> {
  return (await service.proxy.during(work)).map(({ target }) => target);
}

const bytesOf = (calls: readonly BackendCall[]) =>
  calls.reduce((sum, { requestBytes, responseBytes }) => sum + requestBytes + responseBytes, 0);

/** A project whose key is cached in this process. */
async function known(): Promise<Files> {
  const own = await files("pro");
  await own.write("f.txt", "some text");
  return own;
}

test("one call more, and that first: a body over 64 KB, a body of unknown length, a key not seen before", async () => {
  const own = await known();
  const expected = ["database", "storage", "database"];
  const large = "x".repeat(UNAUTHORIZED_BODY_BYTES_MAX + 1);
  assertEquals(UNAUTHORIZED_BODY_BYTES_MAX, 65_536);
  for (const name of ["write", "append", "overwrite"] as const) {
    assertEquals(await targets(() => own[name]("f.txt", large)), expected, `${name}, large`);
    await service.restartFunction();
    assertEquals(await targets(() => own[name]("f.txt", "x")), expected, `${name}, unseen`);
    assertEquals(await targets(() => own[name]("f.txt", "x")), expected.slice(1), `${name}, seen`);
  }
  const body = new Blob(['{"path":"f.txt","content":"x"}']).stream();
  assertEquals(await targets(() => own.request("POST", "/files", { body })), expected, "unknown length");
});

test("what is refused by its own data makes 1 call, which counts it; a missing file stores nothing", async () => {
  const own = await known();
  const rows = [
    ["GET", "/files?limit=0", undefined],
    ["GET", "/files/none", undefined],
    ["GET", "/files/a%2F..", undefined],
    ["GET", "/files/f.txt?version=9", undefined],
    ["POST", "/files", "{"],
    ["POST", "/files", { path: "f.txt" }],
    ["PUT", "/files/edit/f.txt", { oldString: "", newString: "x" }],
  ] as const;
  for (const [method, path, body] of rows) {
    assertEquals(await targets(() => own.request(method, path, { body })), ["database"], path);
  }
});

test("an error of a request that no key or token identifies makes no call", async () => {
  const rows = [
    ["GET", "/health?deep=x", null, "VALIDATION_ERROR"],
    ["GET", "/files?limit=0", null, "INVALID_API_KEY"],
    ["GET", "/project/activity?limit=0", null, "INVALID_SESSION"],
    ["GET", "/nothing", null, "ROUTE_NOT_FOUND"],
  ] as const;
  for (const [method, path, key, code] of rows) {
    const calls = await targets(async () => assertRefused(await service.request(key, method, path), code));
    assertEquals(calls, [], path);
  }
  // The sweep is for the operator, and not part of the contract that `service.request` checks.
  const sweep = await targets(async () => {
    const answer = await fetch(`${service.baseUrl}/sweep`, { method: "POST" });
    assertEquals(answer.status, 401);
    await answer.body?.cancel();
  });
  assertEquals(sweep, []);
});

test("appending 100 bytes to a file of 10 MB moves less than 2 KB of content, and so does its metadata", async () => {
  const own = await known();
  await own.write("large.txt", "0123456789abcdef".repeat(655_360));
  assertEquals((await own.record("large.txt")).size, 10_485_760);
  await service.restartFunction();
  for (let count = 0; count < 2; count++) {
    const calls = await service.proxy.during(() => own.append("large.txt", "x".repeat(100)));
    const storage = calls.filter(({ target }) => target === "storage");
    assertEquals(storage.length, 1);
    const [moved, all] = [bytesOf(storage), bytesOf(calls)];
    assert(moved >= 100 && moved < 2048, `${moved} bytes`);
    assert(all < 8192, `${all} bytes with metadata`);
  }
  assertEquals((await own.record("large.txt")).size, 10_485_960);
});

test("reading 10 MB fetches each segment once", async () => {
  const own = await known();
  await own.write("large.txt", "0123456789abcdef".repeat(655_360));
  await service.restartFunction();
  const calls = await service.proxy.during(() => own.read("large.txt"));
  const [database, ...storage] = calls;
  assertEquals(database?.target, "database");
  assertEquals(new Set(storage.map(({ path }) => path)).size, storage.length);
  assertEquals(storage.reduce((sum, { responseBytes }) => sum + responseBytes, 0), 10_485_760);
  assert(storage.length <= 11, `${storage.length} segments`);
});

test("a lost answer of the database is asked for again, makes one version and is counted once", async () => {
  const own = await files("pro");
  await own.write("f.txt", "x");
  await service.freezeWindow(own.project.id);
  const appended = await service.proxy.losing("filestore_commit", () => own.append("f.txt", "y"));
  assertEquals(appended.version, 2);
  assertEquals((await own.read("f.txt")).content, "xy");
  const [row] = await service.sql(
    "select sum(request_count)::integer as request_count from filestore.rate_windows where project_id = $1",
    [own.project.id],
  );
  assertEquals(row, { request_count: 2 });
});
