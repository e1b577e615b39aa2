/**
 * No cross-tenant access: every operation and every other door to the data, against everyone who is not the project's own key.
 * The SQL side of this is tested under `supabase/tests` and `tests/database`.
 */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { send as sendAsIs } from "../support/client/http.ts";
import { test } from "../support/stack/suite.ts";
import {
  codeOf,
  Laboratory,
  type Outcome,
  present,
  send,
  type Sending,
  type Tenant,
  text,
} from "../support/faults/laboratory.ts";
import { figures, IS_LONG } from "../support/runner/long.ts";
import { type Operation, OPERATIONS, prepareFor } from "../support/faults/operations.ts";
import { mannWhitney } from "../support/mann_whitney.ts";

const lab = await Laboratory.start();
Deno.test.afterAll(() => lab.stop());

const SECRET = `what only the owner may read ${crypto.randomUUID()}`;
/** Names of the owner's files, unlike any message of the service. */
const SECRET_PATH = "ledger-of-the-owner/secret.txt";

/** The owner: everything the operations need, and a file whose content and name must never be seen. */
const owner = await lab.tenant();
for (const operation of OPERATIONS.filter(({ name }) => name === "read several segments")) {
  await prepareFor(lab, owner, operation);
}
await lab.prepare(owner, { method: "POST", path: "/files", body: { path: SECRET_PATH, content: SECRET } });
const ownersState = JSON.stringify(await lab.state(owner));
const ownersObjects = JSON.stringify(await lab.objects(owner));

/** Whatever was tried, the owner has what it had, and no answer told of it. */
async function assertUntouched(...outcomes: readonly Outcome[]): Promise<void> {
  for (const outcome of outcomes) assertTellsNothing(text(outcome));
  assertEquals(JSON.stringify(await lab.state(owner)), ownersState);
  assertEquals(JSON.stringify(await lab.objects(owner)), ownersObjects);
}

function assertTellsNothing(answer: string): void {
  for (const secret of [SECRET, "ledger-of-the-owner", owner.id, owner.keyId, owner.keyHash]) {
    assert(!answer.includes(secret), `the answer tells of ${secret}: ${answer.slice(0, 200)}`);
  }
}

let addresses = 0;

/** Sends to the function itself, each time as another client: failures are counted by address. */
function sendAnew(key: string | null, sending: Sending): Promise<Outcome> {
  const address = `10.0.${addresses >> 8}.${addresses++ & 255}`;
  const headers = { ...sending.headers, "cf-connecting-ip": address };
  return send(lab.soundUrl, key, { ...sending, headers });
}

/** An answer without what differs from one request to the next. */
function shown(outcome: Outcome): string {
  const varying = ["x-request-id", "date", "ratelimit", "x-ratelimit-reset", "x-ratelimit-remaining"];
  const headers = [...outcome.headers].filter(([name]) => !varying.includes(name));
  return JSON.stringify([outcome.status, headers, text(outcome)]);
}

async function badKeys(): Promise<Record<string, string | null>> {
  const [revoked, expired, unknown] = [await lab.tenant(), await lab.tenant(), await lab.tenant()];
  await lab.stack.exec("update filestore.api_keys set revoked_at = now() where id = $1", [revoked.keyId]);
  await lab.stack.exec(
    "update filestore.api_keys set expires_at = now() - interval '1 second' where id = $1",
    [
      expired.keyId,
    ],
  );
  await lab.stack.exec("delete from filestore.api_keys where id = $1", [unknown.keyId]);
  const swapped = owner.key.slice(0, 10) + (owner.key[10] === "A" ? "B" : "A") + owner.key.slice(11);
  return {
    "no key": null,
    "an empty key": "",
    "a malformed key": "oa_short",
    "another service's key": "sk_live_0123456789",
    "a wrong checksum": swapped,
    "an unknown key": unknown.key,
    "a revoked key": revoked.key,
    "an expired key": expired.key,
    "the key's hash": owner.keyHash,
    "the key's id": owner.keyId,
    "the publishable key": lab.stack.publishableKey,
    "the secret key": lab.stack.secretKey,
    "the legacy service key": lab.secrets.serviceRoleKey,
  };
}

test("every operation answers one and the same 401 to every kind of bad key", async () => {
  const keys = await badKeys();
  let count = 0;
  for (const operation of OPERATIONS) {
    const answers = new Set<string>();
    for (const [name, key] of Object.entries(keys)) {
      const outcome = await sendAnew(key, operation);
      assertEquals(codeOf(outcome), "INVALID_API_KEY", `${operation.name} with ${name}`);
      assertTellsNothing(text(outcome));
      answers.add(shown(outcome));
      count++;
    }
    assertEquals(answers.size, 1, `${operation.name}: ${[...answers].join("\n")}`);
  }
  await assertUntouched();
  figures(`${OPERATIONS.length} operations × ${Object.keys(keys).length} bad keys: ${count} × 401`);
});

/** The operation about another file, whose name has the same length and the same extension. */
function aboutMissing({ path, body, ...rest }: Operation): Operation {
  const swap = (value: string) => value.replaceAll("old.txt", "qqq.txt").replaceAll("large.txt", "qqqqq.txt");
  return {
    ...rest,
    path: swap(path),
    body: body instanceof Uint8Array
      ? body
      : body === undefined
      ? undefined
      : JSON.parse(swap(JSON.stringify(body))),
  };
}

test("every operation with another project's key answers as for a file that never was, in status, headers and body", async () => {
  let alike = 0;
  for (const operation of OPERATIONS) {
    // Those that name a file or folder which must be there.
    const isAboutFile = /^\/(files|diff|folders)\/|^\/export/.test(operation.path) ||
      operation.name === "make a link for reading" || operation.path === "/batch";
    const [stranger, other] = [await lab.tenant(), await lab.tenant()];
    const outcome = await send(lab.soundUrl, stranger.key, operation);
    const missing = await send(lab.soundUrl, other.key, aboutMissing(operation));
    if (isAboutFile) {
      assertEquals(shown(outcome), shown(missing), operation.name);
      assertEquals(codeOf(outcome), "FILE_NOT_FOUND", operation.name);
      alike++;
    } else if (operation.path.startsWith("/runs/")) {
      assertEquals(codeOf(outcome), "RUN_NOT_FOUND", operation.name);
    } else {
      assertEquals(
        outcome.status,
        200,
        `${operation.name}: its own file, its own empty list, or what the memory tool says of either`,
      );
    }
    await assertUntouched(outcome);
  }
  figures(`${OPERATIONS.length} operations by strangers; ${alike} cannot be told from a missing file`);
});

/** Ways to write the owner's prefix, and ways out of one's own. */
function pathTricks(objectName: string): string[] {
  const [projectId = "", day = "", segmentId = ""] = objectName.split("/");
  const targets = [`${projectId}/${day}/${segmentId}`, `${projectId}/${SECRET_PATH}`, SECRET_PATH];
  const steps = [
    ...["../", "../../", "..%2F", "..%2f..%2f", "%2e%2e/", "%2e%2e%2f", "%2E%2E%2F%2E%2E%2F", ".%2e/"],
    ...["%252e%252e%252f", "%25252e%25252e%25252f", "..%252F", "..\\", "..%5c", "..%5C..%5C", "%2e%2e%5c"],
    ...["..;/", "..%00/", "%00", "%c0%ae%c0%ae/", "%c0%ae%c0%ae%c0%af", "%e0%80%ae%e0%80%ae/", "..%ef%bc%8f"],
    ...[
      "/",
      "//",
      "%2F",
      "%2f%2f",
      "./",
      "%2e/",
      "a/../",
      "a%2F..%2F",
      "~/",
      "file:%2F%2F",
      "%u002e%u002e%u2215",
    ],
    ...["filestore-segments/", "..%2Ffilestore-segments%2F", "storage/v1/object/filestore-segments/"],
  ];
  return targets.flatMap((target) => [
    ...steps.map((step) => step + target),
    ...steps.map((step) => step + target.replaceAll("/", "%2F")),
    ...steps.map((step) => `x/${step}${step}${target}`),
    target.replaceAll("/", "%252F"),
    target.toUpperCase(),
  ]);
}

test("no trick with dots, slashes, backslashes or encodings leads from one project's path into another's", async () => {
  const stranger = await lab.tenant();
  const { stored } = await lab.objects(owner);
  const tricks = pathTricks(present(stored[0]));
  const statuses = new Map<number, number>();
  const requests = tricks.flatMap((trick) => [
    { method: "GET", path: `/files/${trick}` },
    { method: "GET", path: `/files/${trick}?versions` },
    { method: "GET", path: `/diff/${trick}` },
    { method: "GET", path: `/files?recursive=true&directory=${trick}` },
    { method: "DELETE", path: `/files/${trick}` },
    { method: "PUT", path: `/files/restore/${trick}`, body: { version: 1 } },
  ]);
  for (const [index, { method, path, body }] of requests.entries()) {
    // By turns through the gateway and to the function itself, byte for byte.
    const base = index % 2 === 0 ? lab.stack.baseUrl : lab.soundUrl;
    const headers = new Headers({ "x-api-key": stranger.key });
    if (body) headers.set("content-type", "application/json");
    const sent = body ? new TextEncoder().encode(JSON.stringify(body)) : null;
    const answer = await sendAsIs({ method, url: base + path, headers, body: sent });
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const isEmptyList = answer.status === 200 && answer.text.includes('"files":[]');
    assert(
      isEmptyList || [400, 404, 405].includes(answer.status),
      `${method} ${path}: ${answer.status} ${answer.text}`,
    );
    // The owner's ids are in what was asked, never in what is answered beyond that.
    assert(!answer.text.includes(SECRET), `${method} ${path}`);
  }
  for (const trick of tricks) {
    const body = { path: decodeURIComponentSafely(trick), content: "x", destination: trick };
    for (
      const sending of [{ method: "POST", path: "/files", body }, {
        method: "PUT",
        path: "/files/copy/x",
        body,
      }]
    ) {
      const outcome = await lab.send(stranger, sending);
      assert([200, 400, 404].includes(outcome.status), `${trick}: ${text(outcome)}`);
    }
  }
  await assertUntouched();
  for (const name of (await lab.objects(stranger)).stored) assert(name.startsWith(`${stranger.id}/`));
  const counted = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
  figures(`${tricks.length} path tricks, ${requests.length} requests: ${counted}`);
});

function decodeURIComponentSafely(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** What can be asked of REST, Auth and Storage without the secret key. */
interface Door {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

async function doors(): Promise<Door[]> {
  const functions = await lab.stack.exec<{ name: string; arguments: string[] | null }>(
    `select p.proname as name, p.proargnames as arguments from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.proname like 'filestore%' order by 1`,
  );
  assert(functions.length > 10, "the functions of the service");
  const values: Record<string, unknown> = {
    p_key_hash: owner.keyHash,
    p_path: SECRET_PATH,
    p_project_id: owner.id,
    p_project: owner.id,
    p_id: owner.keyId,
    p_request_id: null,
    p_action: "keys",
    p_parameters: { limit: 10 },
    p_token_hash: "ab".repeat(32),
    p_query: { directory: "", recursive: true, limit: 10, offset: 0, sortBy: "path", sortOrder: "asc" },
    p_limit: 10,
    p_offset: 0,
    p_ids: [crypto.randomUUID()],
    p_kind: "delete",
    p_commit: { path: SECRET_PATH, commitId: crypto.randomUUID() },
    p_name: "x",
    p_tier: "free",
    p_prefix: "oa_x",
    p_swept_through: "2000-01-01",
  };
  const calls = functions.map(({ name, arguments: names }): Door => ({
    name: `the function ${name}`,
    method: "POST",
    path: `/rest/v1/rpc/${name}`,
    body: Object.fromEntries((names ?? []).filter((n) => n in values).map((n) => [n, values[n]])),
  }));
  const tables = await lab.stack.exec<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'filestore'::regnamespace and relkind in ('r', 'v')",
  );
  const selects = tables.flatMap(({ name }): Door[] => [
    { name: `the table ${name}`, method: "GET", path: `/rest/v1/${name}?select=*` },
    ...["filestore", "storage", "auth"].map((schema) => ({
      name: `the table ${name} in ${schema}`,
      method: "GET",
      path: `/rest/v1/${name}?select=*`,
      headers: { "accept-profile": schema },
    })),
    {
      name: `writing the table ${name}`,
      method: "POST",
      path: `/rest/v1/${name}`,
      headers: { "content-profile": "filestore" },
      body: {},
    },
    {
      name: `emptying the table ${name}`,
      method: "DELETE",
      path: `/rest/v1/${name}?project_id=eq.${owner.id}`,
      headers: { "content-profile": "filestore" },
    },
  ]);
  const object = present((await lab.objects(owner)).stored[0]);
  const bucket = "filestore-segments";
  const storage: Door[] = [
    { name: "the buckets", method: "GET", path: "/storage/v1/bucket" },
    { name: "the bucket", method: "GET", path: `/storage/v1/bucket/${bucket}` },
    ...["", "authenticated/", "public/", "info/"].map((kind) => ({
      name: `downloading an object, ${kind}`,
      method: "GET",
      path: `/storage/v1/object/${kind}${bucket}/${object}`,
    })),
    {
      name: "listing the bucket",
      method: "POST",
      path: `/storage/v1/object/list/${bucket}`,
      body: { prefix: owner.id, limit: 100, offset: 0 },
    },
    {
      name: "signing a link",
      method: "POST",
      path: `/storage/v1/object/sign/${bucket}/${object}`,
      body: { expiresIn: 60 },
    },
    {
      name: "uploading",
      method: "POST",
      path: `/storage/v1/object/${bucket}/${owner.id}/20200101/x`,
      body: { x: 1 },
    },
    { name: "overwriting", method: "PUT", path: `/storage/v1/object/${bucket}/${object}`, body: { x: 1 } },
    {
      name: "removing",
      method: "DELETE",
      path: `/storage/v1/object/${bucket}`,
      body: { prefixes: [object] },
    },
    {
      name: "copying out",
      method: "POST",
      path: "/storage/v1/object/copy",
      body: { bucketId: bucket, sourceKey: object, destinationKey: "x" },
    },
    {
      name: "moving",
      method: "POST",
      path: "/storage/v1/object/move",
      body: { bucketId: bucket, sourceKey: object, destinationKey: "x" },
    },
    {
      name: "making the bucket public",
      method: "PUT",
      path: `/storage/v1/bucket/${bucket}`,
      body: { public: true },
    },
    { name: "emptying the bucket", method: "POST", path: `/storage/v1/bucket/${bucket}/empty`, body: {} },
  ];
  return [...calls, ...selects, ...storage];
}

async function signUp(): Promise<string> {
  const body = { email: `stranger-${crypto.randomUUID()}@example.org`, password: crypto.randomUUID() };
  const headers = { apikey: lab.stack.publishableKey };
  const outcome = await send(lab.stack.supabaseUrl, null, {
    method: "POST",
    path: "/auth/v1/signup",
    headers,
    body,
  });
  const { access_token: token } = JSON.parse(text(outcome));
  assertEquals(typeof token, "string", text(outcome));
  return token;
}

/** Whether the answer gives away nothing: refused, or an empty list. */
function isShut(outcome: Outcome): boolean {
  return outcome.status >= 400 || ["", "[]", "null"].includes(text(outcome).trim()) ||
    // Beside the stranger's own window.
    /^\{("rate":\{[^}]*\},)?"refusal":\{"code":"PROJECT_NOT_FOUND"/.test(text(outcome));
}

/** Whoever is signed in has projects of its own. */
const OWN_DOORS = [
  "the function filestore_account_create_project",
  "the function filestore_account_describe",
  "the function filestore_account_projects",
];

for (const who of ["publishable key", "signed-in stranger", "nobody"] as const) {
  test(`REST and Storage are shut to the ${who}: functions, tables of every schema, objects`, async () => {
    const headers: Record<string, string> = who === "nobody" ? {} : {
      apikey: lab.stack.publishableKey,
      authorization: `Bearer ${who === "publishable key" ? lab.stack.publishableKey : await signUp()}`,
    };
    const open: string[] = [];
    const all = await doors();
    for (const door of all) {
      const outcome = await send(lab.stack.supabaseUrl, null, {
        ...door,
        headers: { ...headers, ...door.headers },
      });
      assert(!text(outcome).includes(SECRET), door.name);
      assertTellsNothing(text(outcome));
      if (isShut(outcome)) continue;
      const isOwn = who === "signed-in stranger" && OWN_DOORS.includes(door.name);
      open.push(isOwn ? door.name : `${door.name}: ${outcome.status} ${text(outcome).slice(0, 200)}`);
    }
    assertEquals(open, who === "signed-in stranger" ? OWN_DOORS : []);
    await assertUntouched();
    figures(`${all.length} doors, all shut to the ${who}`);
  });
}

test("the same doors are there: the secret key opens those that only read", async () => {
  const { secretKey } = lab.stack;
  const headers = { apikey: secretKey, authorization: `Bearer ${lab.secrets.serviceRoleKey}` };
  const open: string[] = [];
  for (const door of await doors()) {
    if (
      !/filestore_(record|versions|list|content)$|downloading an object, $|listing the bucket/.test(door.name)
    ) continue;
    const outcome = await send(lab.stack.supabaseUrl, null, {
      ...door,
      headers: { ...headers, ...door.headers },
    });
    if (outcome.status === 200 && !isShut(outcome)) open.push(door.name);
  }
  assert(open.length >= 5, `only ${open}`);
});

test("a session of a signed-in stranger is no key of the service", async () => {
  const token = await signUp();
  for (const operation of OPERATIONS) {
    const headers = {
      ...operation.headers,
      authorization: `Bearer ${token}`,
      apikey: lab.stack.publishableKey,
    };
    assertEquals(codeOf(await sendAnew(null, { ...operation, headers })), "VALIDATION_ERROR", operation.name);
    const headersOfOwner = { ...headers, "x-project-id": owner.id };
    const asOwner = await sendAnew(null, { ...operation, headers: headersOfOwner });
    assertEquals(codeOf(asOwner), "PROJECT_NOT_FOUND", operation.name);
    assertEquals(codeOf(await sendAnew(token, operation)), "INVALID_API_KEY", operation.name);
  }
  await assertUntouched();
});

test("a key opens its project only as long as it is valid: revoked, it is refused at once by a cold process", async () => {
  const tenant = await lab.tenant();
  const sending = { method: "POST", path: "/files", body: { path: "a", content: "x".repeat(100_000) } };
  assertEquals((await lab.send(tenant, sending)).status, 200);
  await lab.stack.exec("update filestore.api_keys set revoked_at = now() where id = $1", [tenant.keyId]);
  for (const operation of OPERATIONS) {
    // The process remembers the key as good; the database has the last word.
    assertEquals(codeOf(await lab.send(tenant, operation)), "INVALID_API_KEY", operation.name);
  }
  assertEquals((await lab.objects(tenant)).stored.length, 1, "nothing is stored for it");
});

/** Milliseconds of reading the record of a path, until the answer is read. */
async function timed(tenant: Tenant, path: string): Promise<number> {
  const started = performance.now();
  const outcome = await send(lab.soundUrl, tenant.key, { method: "GET", path: `/files/${path}` });
  const taken = performance.now() - started;
  assertEquals(outcome.status, 404);
  return taken;
}

test("another project's file cannot be told from a missing one by time: 1,000 samples each way, Mann-Whitney p > 0.01", async () => {
  if (!IS_LONG) return figures("only in the long form");
  const stranger = await lab.tenant();
  const missing = SECRET_PATH.replaceAll(/[a-z]/g, "q");
  assertNotEquals(missing, SECRET_PATH);
  for (let warm = 0; warm < 300; warm++) await timed(stranger, warm % 2 === 0 ? SECRET_PATH : missing);
  const [theirs, nobodys]: [number[], number[]] = [[], []];
  for (let sample = 0; sample < 1000; sample++) {
    // Interleaved, and by chance the first: a fixed order falls into step with whatever else happens at intervals.
    for (const which of Math.random() < 0.5 ? [0, 1] : [1, 0]) {
      if (which === 0) theirs.push(await timed(stranger, SECRET_PATH));
      else nobodys.push(await timed(stranger, missing));
    }
  }
  const p = mannWhitney(theirs, nobodys);
  const median = (values: number[]) =>
    present(values.toSorted((a, b) => a - b)[values.length >> 1]).toFixed(3);
  figures(`1,000 samples each: medians ${median(theirs)} and ${median(nobodys)} ms, p = ${p.toFixed(3)}`);
  assert(p > 0.01);
});

test("the Mann-Whitney test tells two distributions apart where they differ", () => {
  const noise = (shift: number) =>
    Array.from({ length: 1000 }, (_, i) => Math.sin(i * 12.9898 + shift * 7) * 0.5 + shift);
  assert(mannWhitney(noise(0), noise(0.1)) < 0.01);
  assert(mannWhitney(noise(0), noise(0)) > 0.9);
});
