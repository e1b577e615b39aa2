/**
 * No cross-tenant access: every operation and every other way to the data is tried by everyone who lacks the project's
 * own key. `supabase/tests` and `tests/database` test the SQL side.
 */
import { assert, assertEquals } from "@std/assert";
import { register } from "../support/client/accounts.ts";
import { test } from "../support/stack/suite.ts";
import {
  codeOf,
  Laboratory,
  type Outcome,
  present,
  send,
  type Sending,
  text,
} from "../support/faults/laboratory.ts";
import { figures } from "../support/runner/long.ts";
import { type Operation, OPERATIONS, prepareFor } from "../support/faults/operations.ts";

const lab = await Laboratory.start();
Deno.test.afterAll(() => lab.stop());
const { baseUrl } = await lab.bareFunction();

const SECRET = `what only the owner may read ${crypto.randomUUID()}`;
/** A path of the owner that cannot occur in a message of the service. */
const SECRET_PATH = "ledger-of-the-owner/secret.txt";

/** The owner's project has everything that the operations need, and a file whose content and name must never be seen. */
const owner = await lab.tenant();
for (const operation of OPERATIONS.filter(({ name }) => name === "read several segments")) {
  await prepareFor(lab, owner, operation);
}
await lab.prepare(owner, { method: "POST", path: "/files", body: { path: SECRET_PATH, content: SECRET } });
const ownersState = JSON.stringify(await lab.state(owner));
const ownersObjects = JSON.stringify(await lab.objects(owner));

/** Asserts that the owner's state is unchanged and that no answer contains its secrets. */
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

const newToken = async () => (await register(lab.stack)).session.access_token;

let addresses = 0;

/** Sends to the function directly, from a new client address each time, since failures are counted by address. */
function sendAnew(key: string | null, sending: Sending): Promise<Outcome> {
  const address = `10.0.${addresses >> 8}.${addresses++ & 255}`;
  const headers = { ...sending.headers, "cf-connecting-ip": address };
  return send(baseUrl, key, { ...sending, headers });
}

/** The answer, without the parts that differ between requests. */
function shown(outcome: Outcome): string {
  const varying = ["x-request-id", "date", "ratelimit", "x-ratelimit-reset", "x-ratelimit-remaining"];
  const headers = [...outcome.headers].filter(([name]) => !varying.includes(name));
  return JSON.stringify([outcome.status, headers, text(outcome)]);
}

/** The same operation on a missing file, whose name has the same length and extension. */
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
    // Operations on a file or folder that must exist.
    const isAboutFile = /^\/(files|diff|folders)\/|^\/export/.test(operation.path) ||
      operation.name === "make a link for reading" || operation.path === "/batch";
    const [stranger, other] = [await lab.tenant(), await lab.tenant()];
    const outcome = await send(baseUrl, stranger.key, operation);
    const missing = await send(baseUrl, other.key, aboutMissing(operation));
    if (isAboutFile) {
      assertEquals(shown(outcome), shown(missing), operation.name);
      assertEquals(codeOf(outcome), "FILE_NOT_FOUND", operation.name);
      alike++;
    } else if (operation.path.startsWith("/runs/")) {
      assertEquals(codeOf(outcome), "RUN_NOT_FOUND", operation.name);
    } else if (operation.path.startsWith("/branches/")) {
      assertEquals(codeOf(outcome), "BRANCH_NOT_FOUND", operation.name);
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

/** A request to REST, Auth or Storage without the secret key. */
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
  const door = (name: string, method: string, path: string, body?: unknown): Door => ({
    ...{ name, method, path: `/storage/v1/${path}` },
    ...body !== undefined && { body },
  });
  const storage: Door[] = [
    door("the buckets", "GET", "bucket"),
    door("the bucket", "GET", `bucket/${bucket}`),
    ...["", "authenticated/", "public/", "info/"].map((kind) =>
      door(`downloading an object, ${kind}`, "GET", `object/${kind}${bucket}/${object}`)
    ),
    door("listing the bucket", "POST", `object/list/${bucket}`, { prefix: owner.id, limit: 100, offset: 0 }),
    door("signing a link", "POST", `object/sign/${bucket}/${object}`, { expiresIn: 60 }),
    door("uploading", "POST", `object/${bucket}/${owner.id}/20200101/x`, { x: 1 }),
    door("overwriting", "PUT", `object/${bucket}/${object}`, { x: 1 }),
    door("removing", "DELETE", `object/${bucket}`, { prefixes: [object] }),
    ...["copy", "move"].map((kind) =>
      door(kind, "POST", `object/${kind}`, { bucketId: bucket, sourceKey: object, destinationKey: "x" })
    ),
    door("making the bucket public", "PUT", `bucket/${bucket}`, { public: true }),
    door("emptying the bucket", "POST", `bucket/${bucket}/empty`, {}),
  ];
  return [...calls, ...selects, ...storage];
}

/** Whether the answer reveals nothing: it is a refusal or an empty list. */
function isShut(outcome: Outcome): boolean {
  return outcome.status >= 400 || ["", "[]", "null"].includes(text(outcome).trim()) ||
    // It may contain the caller's own rate window.
    /^\{("rate":\{[^}]*\},)?"refusal":\{"code":"(PROJECT|INVITATION)_NOT_FOUND"/.test(text(outcome));
}

/** Functions that any signed-in person may call: for their own projects, and whether the request of an app still waits. */
const OWN_DOORS = [
  "the function filestore_account_create_project",
  "the function filestore_account_describe",
  "the function filestore_account_projects",
  "the function filestore_account_request",
];

for (const who of ["publishable key", "signed-in stranger", "nobody"] as const) {
  test(`REST and Storage are shut to the ${who}: functions, tables of every schema, objects`, async () => {
    const headers: Record<string, string> = who === "nobody" ? {} : {
      apikey: lab.stack.publishableKey,
      authorization: `Bearer ${who === "publishable key" ? lab.stack.publishableKey : await newToken()}`,
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
  const token = await newToken();
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
