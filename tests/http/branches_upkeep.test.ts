/** Branches beside the rest of the service: erasure, retention, links, the memory tool, agents, and requests that end. */
import { assert, assertEquals } from "@std/assert";
import { Branches, confinedTo } from "../support/client/branches.ts";
import { assertRefused } from "../support/client/contract.ts";
import { administrator, purge, redact, sweepAll } from "../support/client/erasure.ts";
import { Files } from "../support/client/files.ts";
import { Agent } from "../support/client/mcp.ts";
import { suite } from "../support/stack/suite.ts";

const { service, test } = await suite();

test("a purge names the copies that branches have, and its base is then gone: a conflict", async (own) => {
  await own.write("a.md", "secret");
  await own.write("b.md", "b");
  const branches = new Branches(own);
  await branches.create("one");
  await branches.create("two");
  await own.write(".branches/one/a.md", "changed");
  const admin = await administrator(service, own.project.id);
  assertEquals((await purge(admin, "a.md")).copies, [".branches/one/a.md", ".branches/two/a.md"]);
  assertEquals((await own.read(".branches/two/a.md")).content, "secret");
  const conflict = { path: "a.md", kind: "baseGone", base: null, branch: 2, current: null } as const;
  assertEquals((await branches.merge("one", { dryRun: true })).conflicts, [conflict]);
  await own.write("a.md", "begins at version 1 again");
  assertEquals((await branches.merge("one", { dryRun: true })).conflicts, [{ ...conflict, current: 1 }]);
  assertEquals((await branches.get("two")).changes, []);
  assertEquals((await purge(admin, ".branches/two/a.md")).copies, undefined);
  await own.write(".branches/two/a.md", "new at the path of a purged file");
  assertEquals((await branches.get("two")).changes.map(({ path, change }) => [path, change]), [[
    "a.md",
    "added",
  ]]);
  const feed = await own.request("GET", "/changes");
  assertEquals(
    feed.text.match(/"operation":"purge"/g)?.length,
    1,
    "the receipt of a purge in a branch is not shown",
  );
});

test("a base that was redacted is gone", async (own) => {
  await own.write("a.md", "secret");
  const branches = new Branches(own);
  await branches.create("one");
  await own.write("a.md", "public");
  await own.write(".branches/one/a.md", "changed");
  await redact(await administrator(service, own.project.id), "a.md", [1]);
  assertEquals((await branches.merge("one", { dryRun: true })).conflicts.map(({ kind }) => kind), [
    "baseGone",
  ]);
});

test("retention keeps the versions that an open branch is based on, and has merged", async (own) => {
  const versions = async (path: string) => (await own.versions(path)).versions.map(({ version }) => version);
  await own.write("a.md", "1");
  await own.write("b.md", "1");
  await own.write("a.md", "2");
  const branches = new Branches(own);
  await branches.create("one");
  await own.write("a.md", "3");
  await own.write("a.md", "4");
  await own.write(".branches/one/b.md", "2");
  await own.write(".branches/one/c.md", "");
  await own.write("b.md", "the folder's");
  await branches.merge("one", { paths: ["b.md"], onConflict: "current" });
  await own.write(".branches/one/b.md", "3");
  await own.write(".branches/one/b.md", "4");
  await service.sql(
    `update filestore.projects set (retention, retention_set_at) = ('{"keepVersions": 1}', now()) where id = $1`,
    [own.project.id],
  );
  await sweepAll(service);
  assertEquals(await versions("a.md"), [4, 3, 2]);
  assertEquals(await versions(".branches/one/b.md"), [4, 3, 2]);
  await branches.change("one", { state: "closed" });
  await service.sql("update filestore.projects set retention_set_at = now() where id = $1", [own.project.id]);
  await sweepAll(service);
  assertEquals(await versions("a.md"), [4]);
});

test("retention purges no file that is deleted in an open branch, or deleted above as a base: the deletion is merged", async (own) => {
  await own.write("a.md", "a");
  await own.write("b.md", "b");
  const branches = new Branches(own);
  await branches.create("one");
  await own.remove("b.md");
  await own.request("POST", "/branches/one/update", { body: { dryRun: false } });
  await own.remove(".branches/one/a.md");
  const sweep = async () => {
    await service.sql(
      `update filestore.projects set (retention, retention_set_at) = ('{"deletedDays": 1}', now()) where id = $1`,
      [own.project.id],
    );
    await service.sql(
      "update filestore.files set updated_at = updated_at - interval '2 days' where project_id = $1",
      [
        own.project.id,
      ],
    );
    await sweepAll(service);
  };
  await sweep();
  const changes = async () => (await branches.get("one")).changes.map(({ path, change }) => [path, change]);
  assertEquals(await changes(), [["a.md", "deleted"]]);
  await own.write(".branches/one/b.md", "again");
  assertEquals((await branches.merge("one", { dryRun: true })).conflicts, [], "the base of b.md is not gone");
  const merged = await branches.merge("one");
  assertEquals(merged.actions.map(({ path, action }) => [path, action]), [["a.md", "delete"], [
    "b.md",
    "write",
  ]]);
  await sweep();
  assertRefused(await own.request("GET", "/files/a.md/versions"), "FILE_NOT_FOUND");
});

test("a redaction names the copies that branches have", async (own) => {
  await own.write("a.md", "secret");
  await new Branches(own).create("one");
  await own.overwrite("a.md", "public");
  const { remaining } = await redact(await administrator(service, own.project.id), "a.md", [1]);
  assertEquals(remaining, [{ path: ".branches/one/a.md", version: 1 }]);
});

test("links and the memory tool work in a branch", async (own) => {
  await own.write("a.md", "a");
  await new Branches(own).create("one");
  const link = await own.request("POST", "/links", { body: { path: ".branches/one/a.md", for: "read" } });
  const url = /"url":"([^"]+)"/.exec(link.text)?.[1] ?? "";
  assertEquals(await (await fetch(url)).text(), "a");
  const agent = await confinedTo(service, own.project.id, ".branches/one");
  const command = { command: "create", path: "/memories/notes.md", file_text: "remember" };
  const made = await agent.request("POST", "/memory", { body: command });
  assertEquals(made.status, 200, made.text);
  assertEquals(await own.paths({ recursive: true }), ["a.md"]);
  assert((await own.paths({ directory: ".branches/one", recursive: true })).length === 2);
});

test("MCP: an agent confined to a branch is told so, changes it and finishes it; merging is no tool", async (own) => {
  await own.write("a.md", "a");
  const toolsOf = (files: Files) => new Agent(service, files.key);
  const created = await toolsOf(own).call("create_branch", { name: "one", title: "Try" });
  assertEquals(created, "Copied 1 file of all files to .branches/one/. Work there, then call finish_branch.");
  const agent = await confinedTo(service, own.project.id, ".branches/one");
  const names = async (files: Files) =>
    (await toolsOf(files).tools()).map(({ name }) => name).filter((name) => name.endsWith("_branch"));
  assertEquals(await names(own), ["create_branch", "finish_branch"]);
  assertEquals(await names(agent), ["finish_branch"]);
  for (const folder of ["folder", ".branches/one/folder"]) {
    assertEquals(await names(await confinedTo(service, own.project.id, folder)), []);
  }
  await agent.write(".branches/one/b.md", "b");
  assertEquals(
    await toolsOf(agent).call("finish_branch", { name: "one" }),
    "The branch one is ready: 1 added, 0 modified, 0 deleted.\nadded .branches/one/b.md",
  );
  assertEquals((await new Branches(own).list({ state: "ready" })).branches.map(({ title }) => title), [
    "Try",
  ]);
});

test("a creation that was cut off goes on, from the same moment; nobody sees the branch before", async (own) => {
  await own.write("a.md", "a");
  const branches = new Branches(own);
  await branches.create("one");
  await service.sql(
    "update filestore.branches set (state, copied_to) = ('new', 'a.md') where project_id = $1",
    [own.project.id],
  );
  await own.write("b.md", "came later");
  assertRefused(await branches.tryGet("one"), "BRANCH_NOT_FOUND");
  assertRefused(await own.post({ path: ".branches/one/a.md", content: "x" }), "BRANCH_NOT_FOUND");
  assertEquals((await branches.list()).branches, []);
  assertEquals((await branches.create("one")).fileCount, 1);
  assertEquals(await own.paths({ directory: ".branches/one", recursive: true }), [".branches/one/a.md"]);
});

test("400: a key's prefix cannot be `.branches` alone", async (own) => {
  const admin = await administrator(service, own.project.id);
  const answer = await admin.request("POST", "/project/apikeys", { body: { pathPrefix: ".branches" } });
  assertRefused(answer, "VALIDATION_ERROR");
});
