/**
 * Which accounts may create projects, and the limits of an account's projects together: the operator's settings for all
 * accounts, and what GET /account tells each account.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { Administration, type Settings } from "../../supabase/local/admin/administration.ts";
import { ACCOUNT_PROJECTS_MAX } from "../../supabase/functions/api/limits.ts";
import { type Account, claimsOf, signUp } from "../support/client/accounts.ts";
import { accountRecord, assertRefused, dataOf, rateOf } from "../support/client/contract.ts";
import { Files } from "../support/client/files.ts";
import { costOf, TARIFF_SEGMENT_BYTES } from "../support/client/tariff.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();
const OCTETS = { "content-type": "application/octet-stream" };
const administration = new Administration(service.stack.backendUrl, service.stack.secretKey);

async function withSettings(changes: Partial<Settings>, work: () => Promise<void>): Promise<void> {
  const before = await administration.settings();
  await administration.settings(changes);
  try {
    await work();
  } finally {
    await administration.settings(before);
  }
}

const idOf = (account: Account): string => String(claimsOf(account.token)["sub"]);

const emailOf = (account: Account): string => String(claimsOf(account.token)["email"]);

const unconfirm = (account: Account) =>
  service.sql("update auth.users set email_confirmed_at = null where id = $1", [idOf(account)]);

async function assertMakesNone(account: Account): Promise<void> {
  assertEquals(await account.projects(), []);
  const refused = await account.request("POST", "/projects", { body: { name: "Mine" } });
  assertEquals(assertRefused(refused, "PROJECT_LIMIT_REACHED", "create_project"), { limit: 0 });
  assertStringIncludes(refused.text, "This account may not create projects.");
  assertEquals(await account.projects(), []);
}

test("422 PROJECT_LIMIT_REACHED where the operator alone makes projects", async () => {
  for (const projectMakers of [[], null]) {
    const account = await signUp(service);
    await withSettings({ projectMakers }, () => assertMakesNone(account));
    await account.createProject("Mine");
  }
});

test("a project that the operator gives to an account that may make none is its own", async () => {
  const account = await signUp(service);
  await withSettings({ projectMakers: [] }, async () => {
    const { id } = await administration.createProject(`given ${crypto.randomUUID()}`, "free");
    await administration.updateProject(id, { owner: idOf(account) });
    assertEquals((await account.projects()).map((project) => project.id), [id]);
  });
});

test("listed addresses and domains may make projects, in any case, once they are confirmed", async () => {
  const [listed, ofDomain, other] = [await signUp(service), await signUp(service), await signUp(service)];
  const email = emailOf(listed);
  await withSettings({ projectMakers: [email.toUpperCase()] }, async () => {
    await listed.createProject("Mine");
    await assertMakesNone(ofDomain);
  });
  await withSettings({ projectMakers: ["@example.org"] }, async () => {
    await unconfirm(other);
    await assertMakesNone(other);
    await ofDomain.createProject("Mine");
  });
  await withSettings({ projectMakers: ["@ample.org", "@org"] }, () => assertMakesNone(other));
});

/** For example `nobody false operator_only`: what the account is shown, which the next request must confirm. */
async function toldAs(account: Account): Promise<string> {
  const before = await account.describe();
  const { projectMakers, mayCreateProjects, reason } = before;
  const answer = await account.request("POST", "/projects", { body: { name: crypto.randomUUID() } });
  assertEquals(answer.status, mayCreateProjects ? 200 : 422);
  if (!mayCreateProjects) assertRefused(answer, "PROJECT_LIMIT_REACHED", "create_project");
  assertEquals((await account.describe()).usage.projects, before.usage.projects + Number(mayCreateProjects));
  return [projectMakers, mayCreateProjects, reason].filter((part) => part !== null).join(" ");
}

test("GET /account says whether POST /projects would be refused, and why, under every setting of the operator", async () => {
  const account = await signUp(service);
  const email = emailOf(account);
  const cases: [string[] | null, string][] = [
    [null, "nobody false operator_only"],
    [[], "nobody false operator_only"],
    [["anyone"], "anyone true"],
    [[email.toUpperCase()], "listed true"],
    [["@example.org"], "listed true"],
    [[`x${email}`], "listed false not_listed"],
    [["@ample.org", "@org"], "listed false not_listed"],
  ];
  for (const [projectMakers, told] of cases) {
    await withSettings(
      { projectMakers },
      async () => assertEquals(await toldAs(account), told, `${projectMakers}`),
    );
  }
});

test("GET /account tells nobody whom the operator has listed, also an address that is not confirmed", async () => {
  const account = await signUp(service);
  const email = emailOf(account);
  await unconfirm(account);
  const answers = new Set<string>();
  for (const projectMakers of [[email, "secret@example.com"], ["secret@example.com", "@example.net"]]) {
    await withSettings({ projectMakers }, async () => {
      assertEquals(await toldAs(account), "listed false address_unconfirmed");
      const { usage: _, ...answer } = await account.describe();
      answers.add(JSON.stringify(answer));
    });
  }
  assertEquals(answers.size, 1);
  assertEquals([...answers].filter((text) => /secret|example\.net/.test(text)), []);
});

test("GET /account: makes no project, and costs one call, which is counted", async () => {
  const account = await signUp(service);
  const calls = await service.proxy.during(async () => {
    const answer = await account.request("GET", "/account");
    const { id, email, limits, usage } = dataOf(answer, "get_account", accountRecord);
    assertEquals([id, email], [idOf(account), emailOf(account)]);
    assertEquals(limits, { requestsPerMinute: 120, maxProjects: 20, maxSharedBytes: 5_368_709_120 });
    assertEquals(usage, { requestsThisMinute: 1, projects: 0, sharedBytes: 0 });
    assertEquals([rateOf(answer.headers).limit, rateOf(answer.headers).remaining], [120, 119]);
  });
  assertEquals(calls.map(({ path }) => path.split("/").at(-1)), ["filestore_account_describe"]);
});

test("GET /account: with as many projects as an account may have, the reason is project_limit", async () => {
  const account = await signUp(service);
  await service.sql(
    `insert into filestore.projects (owner_id, name, tier) select $1, n::text, 'free' from generate_series(1, $2::integer) n`,
    [idOf(account), ACCOUNT_PROJECTS_MAX],
  );
  assertEquals(await toldAs(account), "anyone false project_limit");
});

test("GET /account: sharedBytes is what the projects with the quota of their tier use", async () => {
  const account = await signUp(service);
  for (const name of ["First", "Second", "Own quota", "Without"]) await account.createProject(name);
  const projects = await account.projects();
  const [, , own, without] = projects;
  if (!own || !without) throw new Error("four projects were expected");
  await administration.setTier(own.id, "free", { maxProjectBytes: 1_000_000 });
  await administration.setTier(without.id, "enterprise", {});
  const cost = costOf({ newPath: "10.txt", stored: 1000 });
  const all = await Promise.all(projects.map(opened));
  const limit = 3 * cost + 10;
  const [one, two] = all;
  if (!one || !two) throw new Error("two keys were expected");
  await withSettings({ accountBytes: limit }, async () => {
    for (const files of all) await files.write("10.txt", "x".repeat(1000));
    const { limits, usage } = await account.describe();
    assertEquals([limits.maxSharedBytes, usage.sharedBytes], [limit, 2 * cost]);
    await two.write("11.txt", "x".repeat(1000));
    const refused = await one.post({ path: "11.txt", content: "x".repeat(1000) });
    assertRefused(refused, "QUOTA_EXCEEDED", "write_file");
    assertEquals((await account.describe()).usage.sharedBytes, 3 * cost);
  });
  await withSettings({ accountBytes: null }, async () => {
    const { limits, usage } = await account.describe();
    assertEquals([limits.maxSharedBytes, usage.sharedBytes], [null, 3 * cost]);
  });
  const stranger = await signUp(service);
  assertEquals((await stranger.describe()).usage.sharedBytes, 0);
});

const opened = async ({ id }: { readonly id: string }) => new Files(service, (await service.key(id)).key);

/** An account with two free projects. */
async function withTwoProjects() {
  const account = await signUp(service);
  const first = await opened(await account.createProject("First"));
  return { first, second: await opened(await account.createProject("Second")) };
}

test("413 QUOTA_EXCEEDED, details.account: the projects of an account share its quota, exactly above 1 MiB", async () => {
  const { first, second } = await withTwoProjects();
  const size = 1_100_000;
  const cost = costOf({ newPath: "10.bin", stored: size, listed: 2, indexed: 0 }) + TARIFF_SEGMENT_BYTES;
  const limitBytes = 5 * cost + cost - 1;
  await withSettings({ accountBytes: limitBytes }, async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => {
      const path = `${10 + index}.bin`;
      return (index % 2 ? first : second).post(new Uint8Array(size), OCTETS, { path });
    }));
    assertEquals(answers.filter(({ status }) => status === 200).length, 5);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      const details = assertRefused(answer, "QUOTA_EXCEEDED", "write_file");
      assertEquals(details, { limitBytes, account: true });
    }
    const stranger = await withTwoProjects();
    assertEquals((await stranger.first.write("10.txt", "x".repeat(1000))).size, 1000);
  });
});

test("a project with a quota of its own takes nothing from its account's", async () => {
  const account = await signUp(service);
  const project = await account.createProject("Mine");
  const own = await opened(project);
  await withSettings({ accountBytes: 100 }, async () => {
    const refused = await own.post({ path: "a.txt", content: "a" });
    assertEquals(assertRefused(refused, "QUOTA_EXCEEDED"), { limitBytes: 100, account: true });
    await administration.setTier(project.id, "free", { maxProjectBytes: 1_000_000 });
    assertEquals((await own.write("a.txt", "a")).size, 1);
  });
});
