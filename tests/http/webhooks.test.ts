/** Webhooks: who may administer them, what is delivered and when, and what a receiver that fails gets. */
import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import {
  changedWebhook,
  newWebhook,
  webhook,
  webhookDeliveries,
  webhookList,
  webhookTest,
} from "../../supabase/functions/api/contract/webhooks.ts";
import { PROJECT_WEBHOOKS_MAX, WEBHOOK_CHANGES_MAX } from "../../supabase/functions/api/limits.ts";
import { owner } from "../support/client/accounts.ts";
import { Branches } from "../support/client/branches.ts";
import { assertRefused, dataOf, issuePaths } from "../support/client/contract.ts";
import { sweepAll } from "../support/client/erasure.ts";
import { Files, type ProjectFiles } from "../support/client/files.ts";
import { Receiver, verify } from "../support/client/receiver.ts";
import { eventually } from "../support/eventually.ts";
import { privateSuite } from "../support/stack/suite.ts";

const receiver = new Receiver();
const other = new Receiver();
Deno.test.afterAll(async () => {
  await Promise.all([receiver.stop(), other.stop()]);
});
const allowed = `${receiver.host}, ${other.host}`;
const { service, test } = await privateSuite({ functionVariables: { OUTBOUND_ALLOWED_HOSTS: allowed } });

const WEBHOOKS = "/project/webhooks";
const NOBODY = "00000000-0000-4000-8000-000000000000";

/** The webhooks of a project, with a key that may administer it. */
class Hooks {
  constructor(readonly own: ProjectFiles, readonly key: string) {}

  static async of(own: ProjectFiles): Promise<Hooks> {
    await service.sql("update filestore.api_keys set scopes = '{admin,read,write}' where id = $1", [
      own.project.keyId,
    ]);
    receiver.received.length = other.received.length = 0;
    receiver.accept();
    other.accept();
    return new Hooks(own, own.key);
  }

  request(method: string, path = "", body?: unknown) {
    return service.request(this.key, method, WEBHOOKS + path, body === undefined ? {} : { body });
  }

  async create(more: Record<string, unknown> = {}) {
    const body = { url: receiver.urlOf("a"), ...more };
    return dataOf(await this.request("POST", "", body), "create_webhook", newWebhook);
  }

  async find(id: string) {
    const { webhooks } = dataOf(await this.request("GET"), "list_webhooks", webhookList);
    return webhooks.find((one) => one.id === id);
  }

  async change(id: string, body: Record<string, unknown>) {
    return dataOf(await this.request("PATCH", `/${id}`, body), "update_webhook", changedWebhook);
  }

  async replay(id: string, after: string) {
    return dataOf(await this.request("POST", `/${id}/replay`, { after }), "replay_webhook", webhook);
  }

  async test(id: string) {
    return dataOf(await this.request("POST", `/${id}/test`), "test_webhook", webhookTest);
  }

  async deliveries(id: string) {
    const answer = await this.request("GET", `/${id}/deliveries`);
    return dataOf(answer, "list_webhook_deliveries", webhookDeliveries).deliveries;
  }

  async cursor(): Promise<string> {
    const answer = await this.own.request("GET", "/changes", { query: { after: "now" } });
    return Object(answer.body).data.cursor;
  }

  /** Lets the time of the next try come. */
  async hurry(id: string): Promise<void> {
    await service.sql("update filestore.webhooks set next_at = now() where id = $1 and next_at is not null", [
      id,
    ]);
    await sweep();
  }
}

const sweep = () => sweepAll(service);

test("a change is delivered after its commit, signed, with the entry of the feed", async (own) => {
  const hooks = await Hooks.of(own);
  await own.write("before.txt", "not delivered");
  const { secret, ...made } = await hooks.create({ description: "my hook" });
  assertEquals(made.state, "active");
  assertEquals([made.url, made.directory, made.operations, made.events], [
    receiver.urlOf("a"),
    null,
    null,
    ["change"],
  ]);
  assertEquals(await hooks.find(made.id), made);
  await own.write("a.txt", "one");
  await eventually("it arrives", () => receiver.received.length > 0);
  const received = receiver.at(0);
  verify(secret, received);
  const { type, timestamp, data } = received.body;
  const answer = await own.request("GET", "/changes", { query: { after: made.cursor } });
  const page = Object(answer.body).data;
  assertEquals(data, { projectId: own.project.id, cursor: page.cursor, changes: page.changes });
  assertEquals([type, timestamp], ["change", page.changes[0].createdAt]);
  await eventually("it is noted", async () => (await hooks.find(made.id))?.cursor === page.cursor);
  const [delivery] = await hooks.deliveries(made.id);
  assertEquals({ ...delivery, at: "" }, { id: received.id, at: "", type: "change", attempt: 1, status: 204 });
});

test("many changes come in order, in deliveries of at most 100, and none is skipped", async (own) => {
  const hooks = await Hooks.of(own);
  await hooks.create();
  const paths = Array.from({ length: WEBHOOK_CHANGES_MAX + 30 }, (_, n) => `file ${n}.txt`);
  for (let at = 0; at < paths.length; at += 100) {
    await own.commit(paths.slice(at, at + 100).map((path) => ({ op: "write", path, content: path })));
  }
  await eventually("all arrive", () => receiver.changes().length >= paths.length);
  assertEquals(receiver.changes(), paths.map((path) => `${path} 1`));
  assert(receiver.received.every(({ body }) => body.data.changes.length <= WEBHOOK_CHANGES_MAX));
});

test("filters: a directory, operations, and the events of branches in their place", async (own) => {
  const hooks = await Hooks.of(own);
  await hooks.create({ directory: "/notes/", operations: ["write"] });
  await hooks.create({ url: other.urlOf("b"), events: ["branch.ready", "branch.merged", "change"] });
  await own.write("notes/a.txt", "a");
  await own.append("notes/a.txt", "b");
  await own.write("elsewhere.txt", "c");
  const branches = new Branches(own);
  await branches.create("try", { directory: "notes" });
  await own.write(".branches/try/a.txt", "in the branch");
  await own.request("PATCH", "/branches/try", { body: { state: "ready" } });
  await branches.merge("try");
  await own.write("notes/z.txt", "z");
  await eventually(
    "all arrive",
    () => other.changes().includes("notes/z.txt 1") && receiver.changes().length > 1,
  );
  assertEquals(receiver.changes(), ["notes/a.txt 1", "notes/z.txt 1"]);
  const told = other.received.flatMap(({ body: { type, data } }) =>
    data.branch
      ? [`${type} ${data.branch.name}`]
      : data.changes.map(({ path, version }) => `${path} ${version}`)
  );
  assertEquals(told, [
    ...["notes/a.txt 1", "notes/a.txt 2", "elsewhere.txt 1", "branch.ready try", "notes/a.txt 3"],
    ...["branch.merged try", "notes/z.txt 1"],
  ]);
});

test("a failed delivery is tried again with the same id and the same changes, and then goes on", async (own) => {
  const hooks = await Hooks.of(own);
  const { id, secret } = await hooks.create();
  receiver.behaviour = () => new Response("no", { status: 500 });
  await own.write("a.txt", "1");
  await eventually("the first try fails", async () => (await hooks.deliveries(id)).length === 1);
  await own.write("a.txt", "2");
  await hooks.hurry(id);
  await eventually("the second try fails", async () => (await hooks.deliveries(id)).length === 2);
  receiver.accept();
  await hooks.hurry(id);
  await eventually("all is delivered", () => receiver.changes().at(-1) === "a.txt 2");
  const [first, second, third, fourth] = [receiver.at(0), receiver.at(1), receiver.at(2), receiver.at(3)];
  assertEquals([second.id, third.id], [first.id, first.id]);
  assertEquals([second.text, third.text], [first.text, first.text]);
  assertNotEquals(fourth.id, first.id);
  for (const received of receiver.received) verify(secret, received);
  assertEquals((await hooks.deliveries(id)).map(({ attempt, status }) => `${attempt} ${status}`), [
    ...["1 204", "3 204", "2 500", "1 500"],
  ]);
  assertEquals((await hooks.find(id))?.failures, 0);
});

test("after the last try a webhook is disabled; turned on again it goes on where it was", async (own) => {
  const hooks = await Hooks.of(own);
  const { id } = await hooks.create();
  receiver.behaviour = () => new Response(null, { status: 302, headers: { location: other.urlOf("evil") } });
  await own.write("a.txt", "1");
  const waits: number[] = [];
  for (let tries = 1; tries <= 10; tries++) {
    await eventually(`try ${tries}`, async () => (await hooks.deliveries(id)).length === tries);
    const found = await hooks.find(id);
    if (found?.nextTryAt) waits.push(Date.parse(found.nextTryAt) - Date.now());
    if (tries < 10) await hooks.hurry(id);
  }
  assertEquals(waits.map((wait) => Math.ceil(wait / 60_000)), [1, 5, 30, 120, 300, 600, 840, 1200, 1440]);
  const ended = await hooks.find(id);
  assertEquals([ended?.state, ended?.reason, ended?.nextTryAt], ["disabled", "deliveries_failed", null]);
  assertEquals(other.received, [], "no redirect is followed");
  const [last] = await hooks.deliveries(id);
  assertEquals([last?.status, last?.error], [302, "Redirects are not followed."]);
  await own.write("a.txt", "2");
  await sweep();
  assertEquals(receiver.received.length, 10, "a disabled webhook gets nothing");
  receiver.accept();
  receiver.received.length = 0;
  assertEquals((await hooks.change(id, { state: "active" })).state, "active");
  await eventually("it goes on", () => receiver.changes().length === 2);
  assertEquals(receiver.changes(), ["a.txt 1", "a.txt 2"]);
});

test("a paused webhook gets nothing and misses nothing; a replay delivers again", async (own) => {
  const hooks = await Hooks.of(own);
  const { id } = await hooks.create();
  const start = await hooks.cursor();
  assertEquals((await hooks.change(id, { state: "paused" })).state, "paused");
  await own.write("a.txt", "1");
  await own.write("b.txt", "1");
  await sweep();
  assertEquals(receiver.received, []);
  await hooks.change(id, { state: "active" });
  await eventually("both arrive", () => receiver.changes().length === 2);
  await eventually("it is noted", async () => (await hooks.deliveries(id)).length > 0);
  receiver.received.length = 0;
  await hooks.replay(id, start);
  await eventually("both arrive again", () => receiver.changes().length === 2);
  assertEquals(receiver.changes(), ["a.txt 1", "b.txt 1"]);
  receiver.received.length = 0;
  await hooks.request("POST", `/${id}/replay`, {});
  await eventually("everything arrives again", () => receiver.changes().length >= 2);
  assertEquals(receiver.changes().slice(-2), ["a.txt 1", "b.txt 1"]);
  for (const after of ["x", "0".repeat(32)]) {
    assertRefused(await hooks.request("POST", `/${id}/replay`, { after }), "VALIDATION_ERROR");
  }
});

test("a rotated secret signs with the one before for a day", async (own) => {
  const hooks = await Hooks.of(own);
  const { id, secret: before } = await hooks.create();
  assertEquals((await hooks.change(id, { description: "x" })).secret, undefined);
  const { secret: after } = await hooks.change(id, { rotateSecret: true });
  assert(after !== undefined && after !== before);
  await own.write("a.txt", "1");
  await eventually("it arrives", () => receiver.received.length === 1);
  for (const secret of [before, after]) for (const one of receiver.received) verify(secret, one);
  await eventually("it is noted", async () => (await hooks.deliveries(id)).length > 0);
  await service.sql("update filestore.webhooks set previous_until = now() where id = $1", [id]);
  await own.write("a.txt", "2");
  await eventually("it arrives", () => receiver.received.length === 2);
  const last = receiver.at(-1);
  verify(after, last);
  assertThrows(() => verify(before, last));
});

test("a test delivers at once, to a paused webhook too, and answers the receiver's status", async (own) => {
  const hooks = await Hooks.of(own);
  const { id, secret } = await hooks.create();
  await hooks.change(id, { state: "paused" });
  assertEquals(await hooks.test(id), { status: 204 });
  const received = receiver.at(0);
  verify(secret, received);
  assertEquals([received.body.type, received.body.data.changes], ["webhook.test", []]);
  await eventually("it is noted", async () => (await hooks.deliveries(id))[0]?.type === "webhook.test");
  receiver.behaviour = () => new Response(null, { status: 418 });
  assertEquals(await hooks.test(id), { status: 418 });
  await hooks.change(id, { url: other.urlOf("x").replace("http:", "https:") });
  const { status, error } = await hooks.test(id);
  assertEquals([status, typeof error], [null, "string"]);
  assertEquals((await hooks.find(id))?.failures, 0, "a test moves nothing");
});

test("a webhook whose receiver hangs delays no other one and no write", async (own) => {
  const hooks = await Hooks.of(own);
  let release = () => {};
  const hanging = new Promise<void>((resolve) => release = resolve);
  receiver.behaviour = async () => {
    await hanging;
    return new Response(null);
  };
  const { id } = await hooks.create();
  await hooks.create({ url: other.urlOf("b") });
  await own.write("a.txt", "1");
  await eventually("the first one hangs", () => receiver.received.length === 1);
  for (let version = 2; version <= 5; version++) {
    await own.append("a.txt", "x");
    await eventually("the second one is told", () => other.changes().includes(`a.txt ${version}`));
  }
  assertEquals([receiver.received.length, (await hooks.deliveries(id)).length], [1, 0]);
  release();
  await eventually("the first one goes on", () => receiver.changes().includes("a.txt 5"));
  assertEquals(receiver.changes(), other.changes());
});

test("in another database a webhook is paused until somebody turns it on, and skips nothing", async (own) => {
  const hooks = await Hooks.of(own);
  const { id } = await hooks.create();
  await service.sql("update filestore.webhooks set database_id = 'another' where id = $1", [id]);
  const found = await hooks.find(id);
  assertEquals([found?.state, found?.reason], ["paused", "other_database"]);
  await own.write("a.txt", "1");
  await sweep();
  assertEquals(receiver.received, []);
  await hooks.change(id, { state: "active" });
  await eventually("it arrives", () => receiver.changes().length === 1);
});

test("a secret that the service cannot read pauses; turned on, the webhook has a new one", async (own) => {
  const hooks = await Hooks.of(own);
  const { id, secret: before } = await hooks.create();
  await service.sql("update filestore.webhooks set secret = repeat('a', 80) where id = $1", [id]);
  await own.write("a.txt", "1");
  await eventually("it is paused", async () => (await hooks.find(id))?.reason === "secret_unreadable");
  assertEquals(receiver.received, []);
  const { secret } = await hooks.change(id, { state: "active" });
  assert(secret !== undefined && secret !== before);
  await eventually("it arrives", () => receiver.received.length === 1);
  for (const one of receiver.received) verify(secret, one);
});

test("an address that is not allowed is refused, in each way to write it", async (own) => {
  const hooks = await Hooks.of(own);
  const { id } = await hooks.create();
  const { port } = receiver;
  for (
    const url of [
      ...[
        "",
        "x",
        "ftp://example.com/",
        "http://example.com/",
        "https://user@example.com/",
        "https://example.com/#a",
      ],
      ...[
        `http://localhost:${port}/`,
        `https://localhost:${port}/`,
        "https://a.localhost/",
        "https://nas.local/",
      ],
      ...[`http://127.0.0.1:${port + 1}/`, "https://127.0.0.1/", "https://127.1/", "https://0x7f000001/"],
      ...["https://2130706433/", "https://10.0.0.1/", "https://192.168.1.1/", "https://172.16.0.1/"],
      ...[
        "https://169.254.169.254/latest/meta-data",
        "https://100.64.0.1/",
        "https://0.0.0.0/",
        "https://224.0.0.1/",
      ],
      ...[
        "https://[::1]/",
        "https://[::]/",
        "https://[fe80::1]/",
        "https://[fc00::1]/",
        "https://[ff02::1]/",
      ],
      ...["https://[::ffff:127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/"],
      ...[
        "https://example.com:25/",
        "https://metadata.google.internal/",
        `https://example.com/${"a".repeat(2000)}`,
      ],
    ]
  ) {
    for (const [method, path] of [["POST", ""], ["PATCH", `/${id}`]] as const) {
      const details = assertRefused(await hooks.request(method, path, { url }), "VALIDATION_ERROR");
      assertEquals(issuePaths(details), ["url"], url);
    }
  }
  assertEquals((await hooks.find(id))?.url, receiver.urlOf("a"));
});

test("what was made with a forbidden address, past the API, is not delivered", async (own) => {
  const hooks = await Hooks.of(own);
  const { id } = await hooks.create();
  for (const host of [`localhost:${receiver.port}`, `127.0.0.1:${other.port + 1}`, "10.0.0.1"]) {
    await service.sql("update filestore.webhooks set url = $2 where id = $1", [id, `http://${host}/a`]);
    const { status, error } = await hooks.test(id);
    assertEquals(status, null);
    assert(error?.startsWith("The address"), error);
  }
  assertEquals(receiver.received, []);
});

test("fields that are not valid, unknown webhooks and one too many are refused", async (own) => {
  const hooks = await Hooks.of(own);
  for (
    const [field, values] of Object.entries({
      url: [undefined, 1, null],
      directory: ["a/../b", 1],
      operations: [[], ["read"], "write"],
      events: [[], ["webhook.test"]],
      description: ["x".repeat(501), "\0"],
    })
  ) {
    for (const value of values) {
      const answer = await hooks.request("POST", "", { url: receiver.urlOf("a"), [field]: value });
      assertRefused(answer, "VALIDATION_ERROR");
    }
  }
  for (const id of [NOBODY, "x"]) {
    for (
      const [method, path, body] of [["PATCH", "", {}], ["DELETE", ""], ["POST", "/test"], [
        "GET",
        "/deliveries",
      ]] as const
    ) {
      assertRefused(await hooks.request(method, `/${id}${path}`, body), "WEBHOOK_NOT_FOUND");
    }
    const answer = await hooks.request("POST", `/${id}/replay`, { after: await hooks.cursor() });
    assertRefused(answer, "WEBHOOK_NOT_FOUND");
  }
  const made = await Promise.all(Array.from({ length: PROJECT_WEBHOOKS_MAX }, () => hooks.create()));
  const answer = await hooks.request("POST", "", { url: receiver.urlOf("a") });
  assertRefused(answer, "WEBHOOK_LIMIT_REACHED");
  const [first] = made;
  assertEquals(
    dataOf(await hooks.request("DELETE", `/${first?.id}`), "delete_webhook", webhook).id,
    first?.id,
  );
  assertRefused(await hooks.request("GET", `/${first?.id}/deliveries`), "WEBHOOK_NOT_FOUND");
  await hooks.create();
});

test("directly called, too: no id of another project's webhook, no unknown operation; a repeated rotation keeps the former secret", async () => {
  const [team, stranger] = [await owner(service), await owner(service)];
  const call = async (by: typeof team, action: string, parameters: unknown) => {
    const answer = await by.callDatabase("filestore_account_administer", {
      p_project_id: by.projectId,
      p_action: action,
      p_parameters: parameters,
    });
    return { ok: answer.ok, body: await answer.json() };
  };
  const id = crypto.randomUUID();
  const hook = { id, url: receiver.urlOf("a"), secret: "sealed" };
  assertEquals((await call(team, "create_webhook", hook)).body.value.id, id);
  const { body } = await call(stranger, "create_webhook", hook);
  assertEquals([body.refusal.code, body.refusal.details.issues[0].path], ["VALIDATION_ERROR", "id"]);
  assertEquals((await call(team, "create_webhook", hook)).body.value.id, id, "its own is answered again");
  const operations = ["write", "x".repeat(1_000_000)];
  assertEquals((await call(team, "create_webhook", { ...hook, id: NOBODY, operations })).ok, false);
  assertEquals((await call(team, "change_webhook", { id, operations })).ok, false);
  for (let time = 0; time < 2; time++) await call(team, "change_webhook", { id, secret: "rotated" });
  assertEquals(
    await service.sql("select secret, previous_secret as former from filestore.webhooks where id = $1", [id]),
    [{ secret: "rotated", former: "sealed" }],
  );
});

test("webhooks need the scope admin; a project sees only its own", async (own) => {
  const hooks = await Hooks.of(own);
  const { id } = await hooks.create();
  const { key } = await service.key(own.project.id);
  const weak = new Hooks(own, key);
  const strangers = await owner(service);
  for (
    const [method, path, body] of [
      ["GET", ""],
      ["POST", "", { url: receiver.urlOf("a") }],
      ["PATCH", `/${id}`, { state: "paused" }],
      ["DELETE", `/${id}`],
      ["POST", `/${id}/test`],
      ["POST", `/${id}/replay`, { after: await hooks.cursor() }],
      ["GET", `/${id}/deliveries`],
    ] as const
  ) {
    assertRefused(await weak.request(method, path, body), "FORBIDDEN_SCOPE");
    if (path === "") continue;
    const answer = await strangers.request(method, WEBHOOKS + path, body === undefined ? {} : { body });
    assertRefused(answer, "WEBHOOK_NOT_FOUND");
  }
  const { webhooks } = dataOf(await strangers.request("GET", WEBHOOKS), "list_webhooks", webhookList);
  assertEquals(webhooks, []);
  const answer = await strangers.request("POST", WEBHOOKS, { body: { url: receiver.urlOf("b") } });
  const mine = dataOf(answer, "create_webhook", newWebhook);
  const admin = await strangers.createKey({ scopes: ["read", "write"] });
  await new Files(service, admin.key).write("mine.txt", "1");
  await eventually("an owner's webhook is told", () => receiver.changes().includes("mine.txt 1"));
  assertEquals(await hooks.find(mine.id), undefined);
});

test("the end of a project ends its webhooks, and the sweep removes all of their rows", async (own) => {
  const hooks = await Hooks.of(own);
  const { id } = await hooks.create();
  await hooks.test(id);
  const { name } = own.project;
  await hooks.own.request("DELETE", "/project", { query: { confirm: name } });
  await sweep();
  assertEquals(
    await service.sql("select 1 from filestore.webhooks where project_id = $1", [own.project.id]),
    [],
  );
  assertEquals(
    await service.sql("select 1 from filestore.webhook_deliveries where project_id = $1", [own.project.id]),
    [],
  );
});
