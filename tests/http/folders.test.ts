/** Folders are copied, moved and deleted as one commit, without copying a byte. */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { PLAN_REQUESTS_MAX } from "../../supabase/functions/api/limits.ts";
import { owner } from "../support/client/accounts.ts";
import { assertRefused, dataOf, issuePaths } from "../support/client/contract.ts";
import { encodePath, Files } from "../support/client/files.ts";
import { suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

const file = z.strictObject({ path: z.string(), version: z.int().min(1) });
const answer = z.strictObject({ count: z.int(), files: z.array(file) });

const post = (own: Files, route: "copy" | "move", body: unknown, headers: Record<string, string> = {}) =>
  own.request("POST", `/folders/${route}`, { body, headers });

async function folder(own: Files, route: "copy" | "move", body: unknown) {
  return dataOf(await post(own, route, body), `${route}_folder`, answer);
}

async function removeFolder(own: Files, path: string) {
  return dataOf(await own.request("DELETE", `/folders/${encodePath(path)}`), "delete_folder", answer);
}

/** Paths and contents. */
async function tree(own: Files): Promise<Record<string, string>> {
  const paths = await own.paths({ recursive: true, limit: 100 });
  const entries = paths.map(async (path) => [path, (await own.read(path)).content] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function sample(own: Files) {
  await own.write("a/x.txt", "x");
  await own.write("a/b/y.txt", "y");
  await own.write("a/gone.txt", "gone");
  await own.remove("a/gone.txt");
  await own.write("ab.txt", "beside");
}

test("200 copy: every live file below, with type and origin, and nothing else", async (own) => {
  await sample(own);
  await own.write("a/x.txt", "{}", { contentType: "application/json" });
  assertEquals(await folder(own, "copy", { path: "a", destination: "c/d" }), {
    count: 2,
    files: [{ path: "c/d/b/y.txt", version: 1 }, { path: "c/d/x.txt", version: 1 }],
  });
  const copied = { "c/d/b/y.txt": "y", "c/d/x.txt": "{}" };
  assertEquals(await tree(own), { "a/b/y.txt": "y", "a/x.txt": "{}", "ab.txt": "beside", ...copied });
  assertEquals((await own.record("c/d/x.txt")).mimeType, "application/json");
  const [version] = (await own.versions("c/d/x.txt")).versions;
  assertEquals([version?.operation, version?.from], ["copy", { path: "a/x.txt", version: 2 }]);
});

test("200 move: tombstones there, the content here, one commit", async (own) => {
  await sample(own);
  assertEquals((await folder(own, "move", { path: "/a/", destination: "/n/" })).count, 2);
  assertEquals(await tree(own), { "ab.txt": "beside", "n/b/y.txt": "y", "n/x.txt": "x" });
  const left = (await own.versions("a/x.txt")).versions[0];
  const made = (await own.versions("n/x.txt")).versions[0];
  assertEquals([left?.operation, left?.deleted, made?.operation], ["move", true, "move"]);
  assertEquals(left?.createdAt, made?.createdAt);
  assertEquals(await own.paths({ directory: "a" }), []);
});

test("200 move up into the folder above: a file takes the place of one that moves away itself", async () => {
  const own = await files();
  await own.write("a/b/x", "1");
  await own.write("a/b/b/x", "2");
  assertEquals((await folder(own, "move", { path: "a/b", destination: "a" })).count, 2);
  assertEquals(await tree(own), { "a/b/x": "2", "a/x": "1" });
});

test("200 delete: tombstones for every file below; a file of the folder's name stays", async (own) => {
  await sample(own);
  await own.write("a", "a file");
  assertEquals(await removeFolder(own, "a"), {
    count: 2,
    files: [{ path: "a/b/y.txt", version: 2 }, { path: "a/x.txt", version: 2 }],
  });
  assertEquals(await tree(own), { a: "a file", "ab.txt": "beside" });
  assertEquals((await own.list({})).directories, []);
});

test("200 copy at: the folder as it was, also of files that are gone", async (own) => {
  await own.write("a/x", "old");
  await own.write("a/y", "y");
  const at = (await own.versions("a/y")).versions[0]?.cursor ?? "";
  await own.write("a/x", "new");
  await removeFolder(own, "a");
  await own.write("a/z", "later");
  const body = { path: "a", destination: "b" };
  const copied = await own.request("POST", "/folders/copy", { query: { at }, body });
  assertEquals(dataOf(copied, "copy_folder", answer).count, 2);
  assertEquals(await tree(own), { "a/z": "later", "b/x": "old", "b/y": "y" });
});

test("400 copy at: the future, a cursor of another project, and what is no moment", async () => {
  const [own, other] = [await files(), await files()];
  await own.write("a/f", "x");
  await other.write("f", "x");
  const foreign = (await other.versions("f")).versions[0]?.cursor;
  const body = { path: "a", destination: "b" };
  for (const at of ["2999-01-01", foreign, "soon"]) {
    const answer = await own.request("POST", `/folders/copy?at=${at}`, { body });
    assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR", "copy_folder")), ["at"]);
  }
  assertEquals((await own.list({ directory: "b" })).total, 0);
});

test("409 FILE_ALREADY_EXISTS names up to 20 paths; with overwrite they get a version", async (own) => {
  for (let number = 10; number < 32; number++) {
    await own.write(`a/${number}`, "new");
    await own.write(`b/${number}`, "old");
  }
  for (const route of ["copy", "move"] as const) {
    const before = await service.tables();
    const refused = await post(own, route, { path: "a", destination: "b" });
    const details = assertRefused(refused, "FILE_ALREADY_EXISTS");
    assertEquals(details["paths"], Array.from({ length: 20 }, (_, index) => `b/${index + 10}`));
    assertEquals(await service.tables(), before, "nothing is done");
  }
  const copied = await folder(own, "copy", { path: "a", destination: "b", overwrite: true });
  assertEquals(new Set(copied.files.map(({ version }) => version)), new Set([2]));
});

test("400: the root, a destination that is the folder or inside it, a path that would be too long", async () => {
  const own = await files();
  await own.write("a/x", "1");
  const bad = [
    ...["/", ""].map((path) => [{ path, destination: "b" }, "path"] as const),
    ...["a", "/a/", "a/b", "/"].map((destination) => [{ path: "a", destination }, "destination"] as const),
    [{ path: "a" }, "destination"] as const,
    [{ destination: "a" }, "path"] as const,
  ];
  for (const [body, field] of bad) {
    for (const route of ["copy", "move"] as const) {
      const details = assertRefused(await post(own, route, body), "VALIDATION_ERROR", `${route}_folder`);
      assertEquals(issuePaths(details), [field], JSON.stringify(body));
    }
  }
  const tooLong = await post(own, "copy", { path: "a", destination: `${"d".repeat(1022)}/x` });
  assertEquals(assertRefused(tooLong, "INVALID_PATH")["rule"], "too_long");
  await own.write("a/b/c", "1");
  const deep = Array.from({ length: 31 }, () => "d").join("/");
  const tooDeep = assertRefused(await post(own, "copy", { path: "a", destination: deep }), "INVALID_PATH");
  assertEquals(tooDeep, { rule: "too_many_segments", path: "a/b/c" });
  assertRefused(await own.request("DELETE", "/folders/"), "INVALID_PATH");
});

test("404: nothing below", async (own) => {
  await own.write("a", "a file");
  await own.write("b/x", "1");
  await own.remove("b/x");
  for (const path of ["a", "b", "none"]) {
    for (const route of ["copy", "move"] as const) {
      assertRefused(await post(own, route, { path, destination: "c" }), "FILE_NOT_FOUND", `${route}_folder`);
    }
    assertRefused(await own.request("DELETE", `/folders/${path}`), "FILE_NOT_FOUND", "delete_folder");
  }
});

test("403: a key with a prefix writes only below it, and copies what it sees", async () => {
  const account = await owner(service);
  const own = new Files(service, (await account.createKey()).key);
  for (const path of ["p/a/x", "p/y", "q/z"]) await own.write(path, path);
  const narrow = new Files(service, (await account.createKey({ pathPrefix: "p" })).key);
  for (const body of [{ path: "p/a", destination: "q" }, { path: "p/a", destination: "pp" }]) {
    for (const route of ["copy", "move"] as const) {
      assertEquals(assertRefused(await post(narrow, route, body), "FORBIDDEN_SCOPE"), { pathPrefix: "p" });
    }
  }
  assertRefused(await post(narrow, "move", { path: "q", destination: "p/q" }), "FORBIDDEN_SCOPE");
  assertRefused(await post(narrow, "copy", { path: "q", destination: "p/q" }), "FILE_NOT_FOUND");
  assertRefused(await narrow.request("DELETE", "/folders/q"), "FORBIDDEN_SCOPE");
  assertEquals((await folder(narrow, "copy", { path: "p/a", destination: "p/b" })).count, 1);
  assertEquals((await removeFolder(narrow, "p")).count, 3);
  assertEquals(await own.paths({ recursive: true }), ["q/z"]);
});

test("a repeat with the same Idempotency-Key gives the same answer and makes nothing", async (own) => {
  await sample(own);
  const headers = { "idempotency-key": "once" };
  const body = { path: "a", destination: "n" };
  const first = await post(own, "move", body, headers);
  const before = await service.tables();
  const again = await post(own, "move", body, headers);
  assertEquals([again.status, again.body], [200, first.body]);
  assertEquals(again.headers.get("idempotency-replayed"), "true");
  assertEquals(await service.tables(), before);
  assertRefused(await post(own, "move", { ...body, overwrite: true }, headers), "IDEMPOTENCY_KEY_REUSED");
});

/** Operations of a batch that write the files from one number to another below `a`. */
const writes = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({ op: "write", path: `a/${from + index}`, content: "x" }));
const remaining = (headers: Headers) => Number(headers.get("x-ratelimit-remaining"));

test("counts one request for each ten files begun; 429 counts nothing and does nothing", async () => {
  const own = await files("enterprise", { requestsPerMinute: 60 });
  await own.request("POST", "/batch", { body: { operations: writes(0, 25) } });
  await service.freezeWindow(own.project.id, 50);
  const copied = await post(own, "copy", { path: "a", destination: "b" });
  assertEquals([copied.status, remaining(copied.headers)], [200, 7]);
  await service.freezeWindow(own.project.id, 50);
  const moved = await post(own, "move", { path: "b", destination: "d" });
  assertEquals([moved.status, remaining(moved.headers)], [200, 7], "a file that is moved counts once");
  await service.freezeWindow(own.project.id, 58);
  const body = { directory: "a", at: "2026-01-01", dryRun: false };
  const refusals = [
    await post(own, "move", { path: "a", destination: "c" }),
    await own.request("DELETE", "/folders/a"),
    await own.request("POST", "/restore", { body }),
  ];
  for (const refused of refusals) {
    assertRefused(refused, "RATE_LIMIT_EXCEEDED");
    assertEquals(remaining(refused.headers), 2);
  }
  assertEquals((await own.list({ directory: "a" })).total, 25);
});

test("a plan counts one request for each ten files begun, ten at most; 429 counts one", async () => {
  const own = await files("enterprise", { requestsPerMinute: 60 });
  let written = 0;
  const grow = async (count: number) => {
    await service.freezeWindow(own.project.id, 0);
    const request = { body: { operations: writes(written, count) }, headers: { "x-run-id": "r" } };
    assertEquals((await own.request("POST", "/batch", request)).status, 200);
    written = count;
  };
  const plans = {
    undo: () => own.request("POST", "/runs/r/undo"),
    restore: () => own.request("POST", "/restore", { body: { directory: "a", at: "2026-01-01" } }),
  };
  for (const [count, requests] of [[1, 1], [10, 1], [11, 2], [100, 10], [150, PLAN_REQUESTS_MAX]] as const) {
    await grow(count);
    for (const [name, plan] of Object.entries(plans)) {
      await service.freezeWindow(own.project.id, 40);
      const planned = await plan();
      assertEquals([planned.status, remaining(planned.headers)], [200, 20 - requests], `${name} of ${count}`);
    }
  }
  for (const plan of Object.values(plans)) {
    await service.freezeWindow(own.project.id, 60 - PLAN_REQUESTS_MAX + 1);
    const refused = await plan();
    assertRefused(refused, "RATE_LIMIT_EXCEEDED");
    assertEquals(remaining(refused.headers), PLAN_REQUESTS_MAX - 2);
  }
});
