/** Retention: PATCH /project {retention} sets the rule by which the sweep erases versions. */
import { assert, assertEquals } from "@std/assert";
import { RETENTION_PREVIEW_FILES } from "../../supabase/functions/api/limits.ts";
import { SWEEP_KINDS } from "../../supabase/functions/api/ports/metadata.ts";
import { owner } from "../support/client/accounts.ts";
import { assertRefused, dataOf, issuesOf, previewRecord, projectRecord } from "../support/client/contract.ts";
import { administrator, lengthen, sweepAll, traces } from "../support/client/erasure.ts";
import { Files } from "../support/client/files.ts";
import { assertConsistent } from "../support/postgres/consistency.ts";
import { privateSuite, test } from "../support/stack/suite.ts";

const { service, files } = await privateSuite({});

async function administered() {
  const own = await files();
  return { own, admin: await administrator(service, own.project.id) };
}

const patch = (own: Files, body: unknown) => own.request("PATCH", "/project", { body });
const numbers = async (own: Files, path: string) => {
  const { versions, total } = await own.versions(path, { limit: 100 });
  assertEquals(versions.length, total);
  return versions.map(({ version }) => version);
};
/** Acts as if everything in the project had happened `days` days earlier. */
async function age(projectId: string, days: number): Promise<void> {
  const ago = `- interval '${days} days'`;
  for (const set of ["file_versions set", `files set updated_at = updated_at ${ago},`]) {
    const update = `update filestore.${set} created_at = created_at ${ago} where project_id = $1`;
    await service.sql(update, [projectId]);
  }
}

const slice = async () => {
  for (const kind of SWEEP_KINDS) await service.sql("select public.filestore_sweep_erasures($1)", [kind]);
};

test("PATCH /project takes a rule, replaces it whole and takes it away; other fields stay; GET shows it", async () => {
  const { own, admin } = await administered();
  const shown = async () => dataOf(await admin.request("GET", "/project"), "get_project", projectRecord);
  assertEquals((await shown()).retention, null);
  const { name } = await shown();
  await patch(admin, { retention: { keepVersions: 3, keepDays: null } });
  assertEquals([(await shown()).retention, (await shown()).name], [{ keepVersions: 3 }, name]);
  await patch(admin, { retention: { deletedDays: 30 } });
  await patch(admin, { name: `${name} 2` });
  assertEquals([(await shown()).retention, (await shown()).name], [{ deletedDays: 30 }, `${name} 2`]);
  assertEquals((await patch(admin, {})).status, 200);
  await patch(admin, { retention: null });
  assertEquals((await shown()).retention, null);
  const beyond = [{ keepVersions: 0 }, { keepVersions: 10_001 }, { keepDays: 3651 }, { deletedDays: 0 }];
  for (const rule of [...beyond, 5]) {
    assertRefused(await patch(admin, { retention: rule }), "VALIDATION_ERROR", "update_project");
  }
  for (const rule of [{}, { keepDays: null }]) {
    const answer = await patch(admin, { retention: rule });
    const reason = "must have one of keepVersions, keepDays, deletedDays; null removes the rule";
    const empty = assertRefused(answer, "VALIDATION_ERROR", "update_project");
    assertEquals(issuesOf(empty), [{ path: "retention", reason }]);
  }
  assertRefused(await patch(own, { retention: null }), "FORBIDDEN_SCOPE", "update_project");
  const account = await owner(service);
  const set = await account.request("PATCH", "/project", { body: { retention: { keepDays: 7 } } });
  assertEquals(dataOf(set, "update_project", projectRecord).retention, { keepDays: 7 });
});

test("keepVersions: older versions go, 404 with trimmed; the rest, copies and restores stay whole", async () => {
  const { own, admin } = await administered();
  await own.write("log", "0\n");
  for (let n = 1; n < 20; n++) await own.append("log", `${n}\n`);
  await own.copy("log", "copy");
  await own.write("log", "new");
  await own.put("restore", "log", { version: 5 });
  await own.write("deleted", "x");
  await own.write("deleted", "y");
  await own.remove("deleted");
  const middle = (await own.versions("log", { limit: 100 })).versions[12]?.cursor ?? "";
  await patch(admin, { retention: { keepVersions: 2 } });
  await sweepAll(service);
  assertEquals(await numbers(own, "log"), [22, 21]);
  assertEquals(await numbers(own, "copy"), [1]);
  assertEquals(await numbers(own, "deleted"), [3, 2, 1], "what is deleted is another rule's");
  assertEquals((await own.read("log")).content, "0\n1\n2\n3\n4\n");
  assertEquals((await own.read("log", { version: 21 })).content, "new");
  assertEquals((await own.read("copy")).content.split("\n").length, 21);
  const gone = await own.request("GET", "/files/log?version=20");
  assertEquals(assertRefused(gone, "VERSION_NOT_FOUND"), { latestVersion: 22, trimmed: true });
  const beyond = await own.request("GET", "/files/log?version=23");
  assertEquals(assertRefused(beyond, "VERSION_NOT_FOUND"), { latestVersion: 22 });
  assertEquals(assertRefused(await own.request("GET", `/files/log?at=${middle}`), "FILE_NOT_FOUND"), {
    trimmed: true,
  });
  assertRefused(await own.put("restore", "log", { version: 1 }), "VERSION_NOT_FOUND");
  assertRefused(await own.tryDiff("log", { from: 1, to: 22 }), "VERSION_NOT_FOUND");
  // Versions written since are left to the next sweep.
  await own.append("log", "5\n");
  await sweepAll(service);
  assertEquals(await numbers(own, "log"), [23, 22]);
  await assertConsistent((statement) => service.sql(statement));
});

test("keepDays: a version goes so long after the next one took its place, and with keepVersions only if both let it", async () => {
  const { own, admin } = await administered();
  await own.write("a", "1");
  await own.write("a", "2");
  await age(own.project.id, 10);
  await own.write("a", "3");
  await age(own.project.id, 5);
  await own.write("a", "4");
  await patch(admin, { retention: { keepVersions: 4, keepDays: 3 } });
  await sweepAll(service);
  assertEquals(await numbers(own, "a"), [4, 3, 2, 1]);
  await patch(admin, { retention: { keepDays: 12 } });
  await sweepAll(service);
  assertEquals(await numbers(own, "a"), [4, 3, 2], "the second one took its place 15 days ago");
  await patch(admin, { retention: { keepDays: 3 } });
  await sweepAll(service);
  assertEquals(await numbers(own, "a"), [4, 3], "the third one only just went out of date");
  await age(own.project.id, 100);
  await patch(admin, { retention: { keepDays: 3 } });
  await sweepAll(service);
  assertEquals(await numbers(own, "a"), [4], "the latest never goes");
});

test("deletedDays: a deleted file goes whole, with a receipt and without a trace", async () => {
  const { own, admin } = await administered();
  const canary = crypto.getRandomValues(new Uint8Array(32)).toHex();
  await own.write(`dir-${canary}/a`, canary);
  await own.remove(`dir-${canary}/a`);
  await own.write("live", "x");
  await patch(admin, { retention: { deletedDays: 2 } });
  await sweepAll(service);
  assertEquals(await numbers(own, `dir-${canary}/a`), [2, 1]);
  await age(own.project.id, 3);
  await patch(admin, { retention: { deletedDays: 2 } });
  await sweepAll(service);
  assertEquals(await traces(service, canary), []);
  assertEquals((await own.read("live")).content, "x");
  const { text } = await own.request("GET", "/changes");
  assert(text.includes('"operation":"purge"') && !text.includes(canary), text);
  await assertConsistent((statement) => service.sql(statement));
});

test("a long history is trimmed in slices, each of which is bounded and can be repeated", async () => {
  const { own, admin } = await administered();
  await own.write("a", "first");
  await lengthen(service, own.project.id, "a", 3500);
  await patch(admin, { retention: { keepVersions: 600 } });
  const count = async () =>
    (await service.sql("select from filestore.file_versions where project_id = $1", [own.project.id])).length;
  let before = await count();
  for (let slices = 0; before > 600; slices++) {
    await slice();
    const left = await count();
    assert(before - left <= 1000 && slices < 50, `${before} to ${left}`);
    before = left;
  }
  await sweepAll(service);
  assertEquals([await count(), (await own.read("a")).content], [600, "first"]);
  await assertConsistent((statement) => service.sql(statement));
});

for (const rule of [null, { keepVersions: 10_000 }]) {
  test(`what a pass has trimmed goes for good where its rule gives way to ${JSON.stringify(rule)} half-way`, async () => {
    const { own, admin } = await administered();
    const canary = crypto.getRandomValues(new Uint8Array(32)).toHex();
    await own.write("a", canary);
    await own.write("a", "stays");
    await lengthen(service, own.project.id, "a", 3500);
    await patch(admin, { retention: { keepVersions: 600 } });
    const passes = "select from filestore.retention_passes where project_id = $1 and after_file is not null";
    const isUnderWay = async () => (await service.sql(passes, [own.project.id])).length > 0;
    while (!await isUnderWay()) await slice();
    await patch(admin, { retention: rule });
    await sweepAll(service);
    const left = (await own.versions("a")).total;
    assert(left > 600 && left < 3500, `the first rule was applied to some of the versions: ${left} are left`);
    assertEquals(await traces(service, canary), []);
    assertEquals((await own.read("a")).content, "stays");
    await assertConsistent((statement) => service.sql(statement));
  });
}

test("slices with `begun` apply each rule once, so that they come to an end while others write", async () => {
  const { own, admin } = await administered();
  await own.write("a", "1");
  await own.write("a", "2");
  await patch(admin, { retention: { keepVersions: 1 } });
  const begun = new Date().toISOString();
  const hasMore = async (since: string | null) => {
    let isAny = false;
    for (const kind of SWEEP_KINDS) {
      const sweep = "select public.filestore_sweep_erasures($1, $2) as more";
      const [row] = await service.sql<{ more: boolean }>(sweep, [kind, since]);
      isAny ||= row?.more === true;
    }
    return isAny;
  };
  // Without `begun` this would not end, since each slice would find a new version and begin another pass.
  for (let number = 3; await hasMore(begun); number++) {
    assert(number < 200, "it comes to an end");
    await own.overwrite("a", String(number));
  }
  assertEquals(await hasMore(null), true, "the next one finds what was written meanwhile");
  const sweep = async (query: string) => {
    const headers = { authorization: `Bearer ${service.stack.secretKey}` };
    const answer = await fetch(`${service.baseUrl}/sweep?begun=${query}`, { method: "POST", headers });
    await answer.body?.cancel();
    return answer.status;
  };
  assertEquals([await sweep(begun), await sweep("soon")], [200, 400]);
  await sweepAll(service);
  assertEquals((await numbers(own, "a")).length, 1);
});

test("dryRun tells what a rule would let go, which is what goes, and changes nothing", async () => {
  const { own, admin } = await administered();
  const preview = async (body: Record<string, unknown>) =>
    dataOf(await patch(admin, { ...body, dryRun: true }), "update_project", previewRecord).wouldRemove;
  for (let n = 1; n <= 5; n++) await own.write("log", `${n}`);
  await own.write("once", "x");
  for (let n = 1; n <= 2; n++) await own.write("deleted", `${n}`);
  await own.remove("deleted");
  await age(own.project.id, 10);
  await own.write("log", "6");
  const before = await service.tables();
  const rule = { keepVersions: 2, deletedDays: 5 };
  const whole = { path: "deleted", versions: 3, whole: true };
  const trimmed = { path: "log", versions: 4, whole: false };
  const found = await preview({ retention: rule, name: "another name" });
  assertEquals(found.examples, [trimmed, whole], "those that lose most first");
  assertEquals([found.versions, found.files, found.lookedAt, found.isComplete], [7, 1, 3, true]);
  assertEquals((await preview({ retention: { keepDays: 5 } })).versions, 4);
  assertEquals((await preview({ retention: { keepVersions: 5 } })).versions, 1);
  const both = { keepVersions: 3, keepDays: 5 };
  assertEquals((await preview({ retention: both })).examples, [{ ...trimmed, versions: 3 }]);
  assertEquals((await preview({ retention: { keepDays: 11, deletedDays: 11 } })).versions, 0);
  assertEquals((await preview({ retention: null })).versions, 0);
  assertEquals((await preview({})).versions, 0, "the present rule: there is none");
  assertRefused(await patch(admin, { dryRun: true, name: "" }), "VALIDATION_ERROR", "update_project");
  assertRefused(await patch(own, { dryRun: true }), "FORBIDDEN_SCOPE", "update_project");
  assertEquals(await service.tables(), before);
  await patch(admin, { retention: rule });
  assertEquals((await preview({})).versions, 7);
  const total = async () =>
    dataOf(await admin.request("GET", "/project"), "get_project", projectRecord).usage.versions;
  const versions = await total();
  await sweepAll(service);
  // A file that is erased as a whole leaves a receipt.
  assertEquals(versions - await total(), 7 - 1);
  assertEquals((await preview({})).versions, 0);
});

test("a preview looks at a bounded number of files, and says so", async () => {
  const { own, admin } = await administered();
  await own.write("f", "1");
  await service.sql(
    `insert into filestore.files (project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
     select $1, 'many/' || n, 1, 'application/zip', 0, '{}', now(), now() from generate_series(1, $2::integer) n`,
    [own.project.id, RETENTION_PREVIEW_FILES],
  );
  // No other test waits until these are indexed.
  await service.sql("delete from filestore.search_queue where project_id = $1", [own.project.id]);
  const answer = await patch(admin, { retention: { keepDays: 1 }, dryRun: true });
  const { lookedAt, isComplete } = dataOf(answer, "update_project", previewRecord).wouldRemove;
  assertEquals([lookedAt, isComplete], [RETENTION_PREVIEW_FILES, false]);
});

test("no rule that the sweep cannot apply is stored, also not by a direct call; a step that fails stops no other project", async () => {
  const account = await owner(service);
  const store = (retention: unknown) =>
    account.callDatabase("filestore_account_administer", {
      p_project_id: account.projectId,
      p_action: "rename",
      p_parameters: { retention },
    });
  const bad = [{ keepDays: "x" }, { keepDays: "5" }, { keepDays: [5] }, { keepDays: null }, { keepDays: 0 }, {
    keepDays: 1.5,
  }];
  for (const rule of [...bad, { keepVersions: 10_001 }, { deletedDays: 3651 }, { other: 1 }, [], "x"]) {
    const answer = await store(rule);
    assertEquals([answer.ok, (await answer.text()).includes("projects_retention_check")], [false, true]);
  }
  assertEquals((await store({ keepVersions: 10_000, keepDays: 3650, deletedDays: 1 })).status, 200);
  const { key } = await account.createKey();
  await new Files(service, key).write("a", "a");

  // A defect that makes a step fail.
  await service.sql("alter table filestore.projects drop constraint projects_retention_check");
  await service.sql(`update filestore.projects set retention = '{"keepDays":"x"}' where id = $1`, [
    account.projectId,
  ]);
  const { own, admin } = await administered();
  await own.write("log", "");
  for (let n = 0; n < 5; n++) await own.append("log", `${n}\n`);
  await patch(admin, { retention: { keepVersions: 2 } });
  const begun = new Date().toISOString();
  const sweep = async (): Promise<{ isDone: boolean }> =>
    (await fetch(`${service.baseUrl}/sweep?begun=${begun}`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.stack.secretKey}` },
    }).then((answer) => answer.json())).data;
  for (let slices = 0; !(await sweep()).isDone; slices++) assert(slices < 100, "the sweep does not end");
  assertEquals((await own.versions("log")).versions.length, 2);
  await service.sql("update filestore.projects set retention = null where id = $1", [account.projectId]);
  await service.sql(
    "alter table filestore.projects add constraint projects_retention_check check (filestore.is_retention(retention))",
  );
});
