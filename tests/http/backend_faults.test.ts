/** Faults that only the operator can end, and GET /health?deep, which shows them. */
import { assert, assertEquals } from "@std/assert";
import { HEALTH_PROBE_INTERVAL_MILLISECONDS } from "../../supabase/functions/api/limits.ts";
import { owner } from "../support/client/accounts.ts";
import { health } from "../support/client/contract.ts";
import {
  aboutFile,
  FILE_ROUTES,
  MEMBER_ROUTES,
  PROJECT_ROUTES,
  type RouteCall,
} from "../support/client/every_route.ts";
import { invited, membersOf } from "../support/client/members.ts";
import { type Fault, type Watch, watched } from "../support/faults/faults.ts";
import { Isolate, requestOf } from "../support/faults/isolates.ts";
import { isCommit } from "../support/faults/operations.ts";
import { codeOf, type Outcome, text } from "../support/faults/laboratory.ts";
import { eventually } from "../support/eventually.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

function isolate(secretKey = service.stack.secretKey): Isolate {
  const { backendUrl: url, publishableKey } = service.stack;
  return new Isolate({ url, secretKey, publishableKey }, () => null);
}

/** An isolate that gives matching calls that fault for as long as it lives. */
function answering(faultOf: (name: string) => Fault | null): Isolate {
  const made = isolate();
  made.watch = { decide: (_, name) => faultOf(name), calls: [] };
  return made;
}

function deepHealth(of: Isolate): Promise<Outcome> {
  return of.ask(requestOf({ method: "GET", path: "/health?deep" }, null));
}

async function assertHealth(of: Isolate, status: 200 | 503, failing: string): Promise<void> {
  const answer = await deepHealth(of);
  const record = health.parse(JSON.parse(text(answer)));
  const shown = [text(answer), ...of.log.faults].join("\n");
  assertEquals([answer.status, record.status], [status, status === 200 ? "ok" : "degraded"], shown);
  assert(record.message.includes(failing), record.message);
  assertEquals(answer.headers.has("retry-after"), status === 503);
}

/** Sends a request to each route, with a key or as a person: all must be answered with 503, and none may be a defect. */
async function assertUnavailable(
  of: Isolate,
  caller: string | Record<string, string>,
  routes: readonly RouteCall[],
): Promise<void> {
  const [key, person] = typeof caller === "string" ? [caller, {}] : [null, caller];
  for (const route of routes) {
    const { path, options } = aboutFile(route, "f.txt");
    const headers = { ...options.headers, ...person };
    const answer = await of.ask(requestOf({ method: route.method, path, ...options, headers }, key));
    const shown = `${route.name}: ${text(answer)}`;
    assertEquals([answer.status, codeOf(answer)], [503, "SERVICE_UNAVAILABLE"], shown);
    assert(Number(answer.headers.get("retry-after")) >= 1, route.name);
  }
  assertEquals(of.log.defects, []);
}

const SEARCH: RouteCall = { name: "search", method: "GET", path: "/search?q=x", scopes: ["read"] };

for (const name of ["wrongSignature", "noJwt", "anonymousKey", "unregisteredApiKey"] as const) {
  test(`a secret key that Supabase refuses (${name}) is 503 on every route, and one line for the operator`, async () => {
    const { key } = (await files()).project;
    const refused = answering((call) => call.startsWith("filestore_") ? name : "storageRefusesKey");
    await assertUnavailable(refused, key, [...FILE_ROUTES, ...PROJECT_ROUTES, SEARCH]);
    const headers = { authorization: `Bearer ${service.stack.secretKey}` };
    const sweep = requestOf({ method: "POST", path: "/sweep", headers }, null);
    assertEquals(codeOf(await refused.ask(sweep)), "SERVICE_UNAVAILABLE");
    await assertHealth(refused, 503, "database");
    assertEquals(refused.log.notices, ["secret_key_refused"]);
  });
}

test("a secret key that the local stack does not know is 503 as well", async () => {
  const { key } = (await files()).project;
  const refused = isolate("sb_secret_of_another_project");
  await assertUnavailable(refused, key, [...FILE_ROUTES, SEARCH]);
  await assertHealth(refused, 503, "database");
  assertEquals(refused.log.notices, ["secret_key_refused"]);
});

/** Routes that people call with their token; those of members take nothing else. */
const PERSON_ROUTES: readonly RouteCall[] = [
  ...["/account", "/projects", "/project", "/files"].map((path) => ({
    name: path,
    method: "GET",
    path,
    scopes: [],
  })),
  ...MEMBER_ROUTES,
  ...["accept", "decline"].map((name) => ({
    name,
    method: "POST",
    path: `/invitations/${crypto.randomUUID()}/${name}`,
    scopes: [],
  })),
];

test("a publishable key that Supabase refuses is 503 for accounts, not a session to be opened again", async () => {
  const { headers } = await owner(service);
  const refused = answering(() => "unregisteredApiKey");
  await assertUnavailable(refused, headers, PERSON_ROUTES);
  assertEquals(refused.log.notices, ["publishable_key_refused"]);
});

for (const fault of ["noConnection", "hang"] as const) {
  test(`a database with the fault ${fault} is 503 on every route of a person, and invites and removes nobody`, async () => {
    const by = await owner(service);
    const { id } = await invited(by, "waiting@example.org", "viewer");
    await assertUnavailable(answering(() => fault), by.headers, PERSON_ROUTES);
    assertEquals((await membersOf(by)).slice(1).map((member) => member.id), [id]);
  });
}

test("a function that the schema cache does not know is tried again, then 503 with Retry-After and one line", async () => {
  const own = await files();
  await own.write("f.txt", "x");
  const { key } = own.project;
  const read = { method: "GET", path: "/files/f.txt" };
  let calls = 0;
  const isFirst = (name: string) => name === "filestore_content" && ++calls < 3;
  const deploying = answering((name) => isFirst(name) ? "unknownFunction" : null);
  assertEquals((await deploying.ask(requestOf(read, key))).status, 200, "the third try finds it");
  const undeployed = answering((name) => name.startsWith("filestore_") ? "unknownFunction" : null);
  await assertUnavailable(undeployed, key, [...FILE_ROUTES, ...PROJECT_ROUTES, SEARCH]);
  assertEquals(undeployed.log.notices, ["function_unknown"]);
});

test("GET /health?deep commits and takes it back, and writes and reads one small object outside all projects", async () => {
  const projects = () => service.sql("select id from filestore.projects order by id");
  const before = await projects();
  const sound = answering(() => null);
  for (let probes = 1; probes <= 3; probes++) {
    await assertHealth(sound, 200, "are running");
    const expected = ["download", "filestore_health_probe", "upload"].flatMap((name) =>
      Array(probes).fill(name)
    );
    assertEquals(sound.watch?.calls.map(({ name }) => name).sort(), expected);
    sound.clock.advance(HEALTH_PROBE_INTERVAL_MILLISECONDS);
  }
  assertEquals(await projects(), before);
  const objects = await service.sql("select name from storage.objects where name like 'health/%'");
  assertEquals(objects, [{ name: "health/probe" }]);
});

test("GET /health?deep asks once in its interval, however many ask at once or one after the other", async () => {
  const sound = answering(() => null);
  const ask = () => sound.handle(new Request("http://function/api/health?deep"));
  for (const answer of await Promise.all(Array.from({ length: 50 }, ask))) {
    assertEquals(answer.status, 200);
    await answer.body?.cancel();
  }
  for (let n = 0; n < 10; n++) await assertHealth(sound, 200, "are running");
  assertEquals(sound.watch?.calls.length, 3);
});

const UNHEALTHY: readonly (readonly [string, string, Fault, string])[] = [
  ["a read-only database", "filestore_health_probe", "readOnlyDatabase", "database"],
  ["a database that is down", "filestore_health_probe", "noConnection", "database"],
  ["a database that fails in another way", "filestore_health_probe", "sqlDefect", "database"],
  ["a silent database", "filestore_health_probe", "hang", "database"],
  ["a storage that cannot store", "upload", "storageInternal", "storage"],
  ["a storage that cannot read", "download", "storageInternal", "storage"],
  ["a storage that has lost the object", "download", "storageObjectNotFound", "storage"],
  ["a storage without the bucket", "upload", "storageBucketNotFound", "storage"],
  ["a silent storage", "upload", "hang", "storage"],
];

test("GET /health?deep names the database alone where both fail: Storage keeps its own tables there", async () => {
  await assertHealth(answering(() => "noConnection"), 503, "Not working: database.");
});

for (const [what, call, fault, failing] of UNHEALTHY) {
  test(`GET /health?deep is 503 and degraded with ${what}; GET /health is not`, async () => {
    let isBroken = true;
    const broken = answering((name) => isBroken && name === call ? fault : null);
    await assertHealth(broken, 503, `Not working: ${failing}.`);
    const shallow = await broken.ask(requestOf({ method: "GET", path: "/health" }, null));
    assertEquals(shallow.status, 200);
    isBroken = false;
    broken.clock.advance(HEALTH_PROBE_INTERVAL_MILLISECONDS);
    await assertHealth(broken, 200, "are running");
    assertEquals(broken.log.defects, []);
  });
}

for (const fault of ["resetBefore", "resetAfter", "truncated"] as const) {
  test(`a real connection on which a commit fails (${fault}) is a fault that is made good: one version, whole`, async () => {
    const own = await files();
    let commits = 0;
    const decide: Watch["decide"] = (_, name) => isCommit(name) && commits++ === 0 ? fault : null;
    const watch = { decide, calls: [] };
    const faults = () => service.log.filter((line) => /"backend_fault".*"filestore_commit/.test(line)).length;
    const before = faults();
    service.proxy.hook = ({ method, path: url }, forward) => watched(watch, { method, url, at: 0 }, forward);
    try {
      const headers = { "idempotency-key": crypto.randomUUID() };
      const body = { path: "f.txt", content: "x" };
      assertEquals((await own.request("POST", "/files", { body, headers })).status, 200);
    } finally {
      service.proxy.hook = null;
    }
    assertEquals(commits, 2);
    // `fetch` would repeat the request by itself, and hide that the first one may have been done.
    await eventually("the fault is logged", () => faults() > before);
    assertEquals((await own.versions("f.txt")).total, 1);
    const ids = "select id from filestore.segments where project_id = $1";
    const segments = await service.sql<{ id: string }>(ids, [own.project.id]);
    const stored = service.objectsOnDisk();
    assertEquals(segments.filter(({ id }) => !stored.some((name) => name.includes(id))), []);
  });
}
