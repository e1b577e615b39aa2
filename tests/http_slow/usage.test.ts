/** GET /project/usage: requests, versions and bytes of a project, by day and by key. */
import { assert, assertEquals } from "@std/assert";
import { USAGE_DAYS_MAX, USAGE_KEPT_DAYS } from "../../supabase/functions/api/limits.ts";
import type { RequestOptions } from "../support/client/api.ts";
import { owner } from "../support/client/accounts.ts";
import {
  type Answer,
  assertRefused,
  dataOf,
  issuesOf,
  projectRecord,
  usageRecord,
} from "../support/client/contract.ts";
import { administrator, purge, sweepAll } from "../support/client/erasure.ts";
import { Files } from "../support/client/files.ts";
import { eventually } from "../support/eventually.ts";
import { privateSuite, test } from "../support/stack/suite.ts";

const { service, files } = await privateSuite({});

interface Asker {
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
}

async function usageOf(asker: Asker, query = "") {
  return dataOf(await asker.request("GET", `/project/usage${query}`), "get_usage", usageRecord);
}

/** The days with any use. */
async function busyDays(asker: Asker, query = "") {
  const { days } = await usageOf(asker, query);
  return days.filter(({ requests, versions }) => requests + versions > 0);
}

/** The UTC date that many days before today. A test that runs past midnight asks for both days. */
function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

/** Acts as if the project's versions had been written `days` days earlier. */
async function age(projectId: string, days: number): Promise<void> {
  await service.sql(
    `update filestore.file_versions set created_at = created_at - interval '${days} days' where project_id = $1`,
    [projectId],
  );
}

test("each request counts once for its key or the console, a batch and refusals too, one over the window not", async () => {
  const account = await owner(service);
  const { key, id } = await account.createKey({ name: "agent", scopes: ["read", "write"] });
  const own = new Files(service, key);
  await own.write("a.txt", "a");
  const operations = Array.from({ length: 25 }, (_, n) => ({ op: "write", path: `${n}.txt`, content: "x" }));
  await own.request("POST", "/batch", { body: { operations } });
  assertRefused(await own.request("GET", "/files/nothing"), "FILE_NOT_FOUND");
  assertRefused(await own.request("GET", "/files?limit=0"), "VALIDATION_ERROR");
  await account.request("GET", "/files");
  await account.request("GET", "/files/a.txt");
  await service.setTier(account.projectId, "enterprise", { requestsPerMinute: 5 });
  await service.freezeWindow(account.projectId, 5);
  assertRefused(await own.request("GET", "/files"), "RATE_LIMIT_EXCEEDED");
  await eventually("all are handed in", async () => {
    const { keys } = await usageOf(account);
    return keys.reduce((sum, { requests }) => sum + requests, 0) >= 6;
  });
  const { keys, keyCount } = await usageOf(account);
  assertEquals(keyCount, 2);
  assertEquals(keys.map(({ keyId, name, requests, versions }) => [keyId, name, requests, versions]), [
    [id, "agent", 4, 26],
    [null, null, 2, 0],
  ]);
  // Requests about the project use the account's credentials, and count in no project.
  assertEquals((await usageOf(account)).keys, keys);
});

test("versions and what they brought are counted by day and key; what is stored is that of GET /project", async () => {
  const account = await owner(service);
  const one = new Files(service, (await account.createKey({ name: "one" })).key);
  const { id, key } = await account.createKey({ name: "two" });
  const two = new Files(service, key);
  const from = `?from=${daysAgo(1)}`;
  await one.write("log", "12345");
  await two.append("log", "678");
  await two.put("edit", "log", { oldString: "8", newString: "80" });
  await two.copy("log", "copy");
  await two.put("restore", "log", { version: 1 });
  await two.remove("log");
  const { days, keys } = await usageOf(account, from);
  const project = dataOf(await account.request("GET", "/project"), "get_project", projectRecord);
  const last = days.at(-1);
  assertEquals([last?.bytes, last?.databaseBytes], [project.usage.bytes, project.usage.databaseBytes]);
  assert(project.usage.bytes > 0);
  const done = new Map(keys.map(({ name, versions, bytesWritten }) => [name, [versions, bytesWritten]]));
  assertEquals(done, new Map([["one", [1, 5]], ["two", [5, 3 + 9]]]));
  const of = async (keyId: string) => {
    const found = await usageOf(account, `${from}&keyId=${keyId}`);
    assertEquals(found.days.at(-1)?.bytes, last?.bytes, "what is stored belongs to no key");
    return found.days.reduce((sum, { versions }) => sum + versions, 0);
  };
  assertEquals([await of(id), await of("console"), await of(crypto.randomUUID())], [5, 0, 0]);
  // Each version counts once, even if usage is read repeatedly.
  assertEquals((await usageOf(account, from)).keys.map(({ versions }) => versions).sort(), [1, 5]);
});

test("versions count on the day they were made; a purge takes nothing back, and its receipt is no version", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  await own.write("old.txt", "123");
  await age(own.project.id, 3);
  const [old, ...others] = await busyDays(admin, `?to=${daysAgo(2)}`);
  assertEquals([old?.versions, old?.bytesWritten, others.length], [1, 3, 0]);
  assert([daysAgo(3), daysAgo(4)].includes(old?.day ?? ""));
  await purge(admin, "old.txt");
  await own.write("new.txt", "1");
  const days = await busyDays(admin);
  assertEquals(days.map(({ versions }) => versions).filter((versions) => versions > 0), [1, 1]);
});

test("the sweep counts where nobody asks, and forgets days that are kept no longer", async () => {
  const own = await files();
  const projectId = own.project.id;
  const rows = () =>
    service.sql<{ table: string; day: string }>(
      `select 'days' as table, day::text from filestore.usage_days where project_id = $1 and versions > 0
       union all select 'levels', day::text from filestore.usage_levels where project_id = $1 order by 1, 2`,
      [projectId],
    );
  await own.write("f.txt", "x");
  assertEquals(await rows(), []);
  await sweepAll(service);
  assertEquals((await rows()).map(({ table }) => table), ["days", "levels"]);
  for (const table of ["usage_days", "usage_levels"]) {
    const update = `update filestore.${table} set day = day - $2::integer where project_id = $1`;
    await service.sql(update, [projectId, USAGE_KEPT_DAYS + 2]);
  }
  const update = "update filestore.usage_folds set folded_at = '-infinity' where project_id = $1";
  await service.sql(update, [projectId]);
  // The stored bytes have not changed since that day, so its row still applies to all later days.
  await sweepAll(service);
  assertEquals((await rows()).map(({ table }) => table), ["levels"]);
  const { days } = await usageOf(own);
  assertEquals(new Set(days.map(({ bytes }) => bytes)), new Set([1]));
});

test("a day that nobody looked at holds what the day before held; before the first look it is not known", async () => {
  const own = await files();
  await usageOf(own);
  await service.sql("delete from filestore.usage_levels where project_id = $1", [own.project.id]);
  await service.sql(
    "insert into filestore.usage_levels values ($1, $2::date, 10, 20), ($1, $3::date, 5, 6)",
    [own.project.id, daysAgo(5), daysAgo(3)],
  );
  const { days } = await usageOf(own, `?from=${daysAgo(7)}&to=${daysAgo(2)}`);
  assertEquals(days.map(({ bytes }) => bytes), [null, null, 10, 10, 5, 5]);
});

test("a key without admin sees of the keys itself alone, and nobody another project's", async () => {
  const account = await owner(service);
  const own = new Files(service, (await account.createKey({ name: "own" })).key);
  const other = await account.createKey({ name: "other", scopes: ["read", "write"] });
  const others = new Files(service, other.key);
  await own.write("a", "1");
  await others.write("b", "22");
  const all = await usageOf(account);
  assertEquals(all.keys.map(({ name }) => name).sort(), ["other", "own"]);
  const seen = await usageOf(own);
  assertEquals([seen.keys.map(({ name }) => name), seen.keyCount], [["own"], 1]);
  const versions = async (asker: Asker, query = "") =>
    (await usageOf(asker, query)).days.reduce((sum, day) => sum + day.versions, 0);
  assertEquals([await versions(own), await versions(own, `?keyId=${other.id}`)], [2, 0]);
  assertEquals(await versions(account, `?keyId=${other.id}`), 1);
  const stranger = await owner(service);
  assertEquals(await versions(stranger, `?keyId=${other.id}`), 0);
  assertEquals((await usageOf(stranger)).keys, []);
  const asked = await stranger.about(account.projectId).request("GET", "/project/usage");
  assertRefused(asked, "PROJECT_NOT_FOUND");
});

test("what a forgotten key did stays, without its name", async () => {
  const account = await owner(service);
  const { id, key } = await account.createKey({ name: "gone" });
  await new Files(service, key).list();
  await eventually("the request is handed in", async () => (await usageOf(account)).keyCount === 1);
  await service.sql("delete from filestore.api_keys where id = $1", [id]);
  const [found] = (await usageOf(account)).keys;
  assertEquals([found?.keyId, found?.name, found?.prefix, found?.requests], [id, null, null, 1]);
});

test("a period has 1 to 366 days, ends with today at the latest, and is the last 30 days by default", async () => {
  const own = await files();
  assertEquals((await usageOf(own)).days.length, 30);
  const [from, to] = ["2024-03-01", "2025-03-01"];
  const year = await usageOf(own, `?from=${from}&to=${to}`);
  assertEquals([year.from, year.to, year.days.length], [from, to, USAGE_DAYS_MAX]);
  assertEquals((await usageOf(own, "?from=2100-01-01&to=2100-02-01")).days, []);
  const queries = [
    ..."from=2024-02-29&to=2025-03-01 from=2025-01-02&to=2025-01-01 from=2025-01-01&from=2025-01-02".split(
      " ",
    ),
    ..."from=2025-02-29&to=2025-03-01 from=yesterday to=2025-01-01T00:00:00Z keyId=x".split(" "),
  ];
  for (const query of queries) {
    const refused = await own.request("GET", `/project/usage?${query}`);
    assert(issuesOf(assertRefused(refused, "VALIDATION_ERROR", "get_usage")).length > 0, query);
  }
});
