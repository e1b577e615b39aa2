/**
 * Costly requests: in one isolate an account may run two, however many projects it has. Each counts as several requests
 * of the window, by its work.
 */
import { assert, assertEquals } from "@std/assert";
import { COSTLY_REQUESTS_AT_ONCE, REQUESTS_COUNTED_MAX } from "../../supabase/functions/api/limits.ts";
import { hashApiKey } from "../../supabase/functions/api/auth/api_key.ts";
import { type Account, owner } from "../support/client/accounts.ts";
import type { RequestOptions } from "../support/client/api.ts";
import { type Answer, assertRefused, rateOf } from "../support/client/contract.ts";
import { Files } from "../support/client/files.ts";
import { messageOf } from "../support/client/mcp.ts";
import { eventually } from "../support/eventually.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();

const EDIT = { op: "edit", path: "edited.txt", oldString: "line", newString: "line!" };
/** Requests a minute of a free project. */
const FREE_LIMIT = 100;

/** A request, and the options that it is sent with. */
type Costly = readonly [request: string, options?: (own: Own) => RequestOptions];

interface Own {
  readonly account: Account;
  readonly files: Files;
  /** A time after the first versions, and before the latest. */
  readonly at: string;
}

const tool = (name: string, args: Record<string, unknown>): Costly => [
  `POST /mcp ${name}`,
  () => messageOf("modern", "tools/call", { name, arguments: args }),
];
const BY_OWNER = "PATCH /project by the owner";
/** No name of a branch is used twice. */
const newBranch = () => ({ name: crypto.randomUUID() });

const COSTLY: readonly Costly[] = [
  ...["text", "regex", "hybrid"].map((mode): Costly => [`GET /search?q=line&mode=${mode}`]),
  ["GET /diff/a.txt"],
  ["GET /export"],
  ["GET /files", ({ at }) => ({ query: { at, recursive: true } })],
  [
    "POST /folders/copy",
    ({ at }) => ({ query: { at }, body: { path: "in", destination: "copy", overwrite: true } }),
  ],
  ["POST /batch", () => ({ body: { operations: [EDIT] } })],
  ["GET /runs/night"],
  ["POST /runs/night/undo", () => ({ body: {} })],
  ["POST /restore", ({ at }) => ({ body: { directory: "in", at } })],
  ["PATCH /project", () => ({ body: { dryRun: true } })],
  [BY_OWNER, () => ({ body: { dryRun: true } })],
  ["POST /branches", () => ({ body: { ...newBranch(), directory: "in" } })],
  ["GET /branches/try"],
  ["POST /branches/try/merge", () => ({ body: {} })],
  ["POST /branches/try/update", () => ({ body: {} })],
  [
    "POST /mcp create_branch",
    () => messageOf("modern", "tools/call", { name: "create_branch", arguments: newBranch() }),
  ],
  tool("finish_branch", { name: "try" }),
  tool("grep_files", { pattern: "line" }),
  tool("search_files", { query: "line" }),
  tool("diff_versions", { path: "a.txt" }),
  tool("undo_run", { run: "night" }),
];

const FREE: readonly Costly[] = [
  ["GET /files"],
  ["GET /files/a.txt"],
  ["POST /files", () => ({ body: { path: "n.txt", content: "n" } })],
  ["POST /batch", () => ({ body: { operations: [{ op: "write", path: "b.txt", content: "b" }] } })],
];

async function send([request, options]: Costly, own: Own) {
  const [method = "", path = ""] = request.split(" ");
  const by = request === BY_OWNER ? own.account : own.files;
  return { name: request, answer: await by.request(method, path, options?.(own) ?? {}) };
}

async function prepared(account: Account): Promise<Own> {
  const { key } = await account.createKey({ scopes: ["read", "write", "admin"] });
  const files = new Files(service, key);
  await files.post({ path: "a.txt", content: "a line\n" }, { "x-run-id": "night" });
  await files.write("in/b.txt", "one line\n");
  const { updatedAt: at } = await files.write("edited.txt", "one line\n");
  await files.append("a.txt", "another line\n");
  await files.request("POST", "/branches", { body: { name: "try", directory: "in" } });
  return { account, files, at };
}

/** Runs `work` while searches of the project hold all of its slots, waiting for the database. */
async function withTurnsTaken(own: Own, work: () => Promise<void>): Promise<void> {
  const held = Promise.withResolvers<void>();
  let count = 0;
  const hash = await hashApiKey(own.files.key);
  // When a search times out and is tried again, the new try waits, too.
  service.proxy.hook = async ({ path, body }, forward) => {
    if (path.endsWith("/filestore_search") && new TextDecoder().decode(body).includes(hash)) {
      count++;
      await held.promise;
    }
    return await forward();
  };
  const search = () => own.files.request("GET", "/search", { query: { q: "line", mode: "text" } });
  const running = Promise.all(Array.from({ length: COSTLY_REQUESTS_AT_ONCE }, search));
  try {
    await eventually("the searches run", () => count >= COSTLY_REQUESTS_AT_ONCE);
    await work();
  } finally {
    service.proxy.hook = null;
    held.resolve();
  }
  assertEquals((await running).map(({ status }) => status), [200, 200]);
}

test("costly requests: the third of an account is a 429 that counts nothing; other requests and accounts go on", async () => {
  const account = await owner(service);
  const { id } = await account.createProject("second");
  const [one, other, stranger] = [
    await prepared(account),
    await prepared(account.about(id)),
    await prepared(await owner(service)),
  ];
  await service.setTier(id, "pro");
  for (const request of COSTLY) {
    const { name, answer } = await send(request, other);
    assertEquals(answer.status, 200, name);
  }
  await withTurnsTaken(one, async () => {
    const remaining = async () => rateOf((await other.files.request("GET", "/files")).headers).remaining;
    await service.freezeWindow(id);
    const before = await remaining();
    const refused = await Promise.all(COSTLY.map((request) => send(request, other)));
    for (const { name, answer } of refused) {
      const details = assertRefused(answer, "RATE_LIMIT_EXCEEDED");
      assertEquals(details, { running: COSTLY_REQUESTS_AT_ONCE }, name);
      assertEquals(answer.headers.get("retry-after"), "1", name);
    }
    assertEquals(await remaining(), before - 1, "no 429 was counted");
    const served = await Promise.all([
      ...FREE.map((request) => send(request, other)),
      ...COSTLY.slice(0, 2).map((request) => send(request, stranger)),
    ]);
    for (const { name, answer } of served) assertEquals(answer.status, 200, name);
  });
});

test("costly requests: one that waits goes on as soon as another has ended, also where a client went away", async () => {
  const own = await prepared(await owner(service));
  let answer: Promise<Answer> | undefined;
  await withTurnsTaken(own, () => {
    answer = own.files.request("GET", "/diff/a.txt");
    return Promise.resolve();
  });
  assertEquals((await answer)?.status, 200);
  // The slot is held until the body of an export has been sent; an abandoned body releases it.
  await own.files.write("large.bin", "x".repeat(3_000_000));
  for (let count = 0; count < 2 * COSTLY_REQUESTS_AT_ONCE; count++) {
    const response = await fetch(`${service.baseUrl}/export`, { headers: { "x-api-key": own.files.key } });
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
});

const lines = (count: number, text: string) =>
  Array.from({ length: count }, (_, n) => `${text} ${n}\n`).join("");

/** How many requests of a free project's window the request counts, of which some are used already. */
async function countedIn({ account: { projectId }, files }: Own, request: string, used = 0, body?: unknown) {
  if (projectId === null) throw new Error("the account is about a project");
  await service.setTier(projectId, "free");
  await service.freezeWindow(projectId, used);
  const [method = "", path = ""] = request.split(" ");
  const answer = await files.request(method, path, { body });
  assertEquals(answer.status, 200, request);
  return FREE_LIMIT - used - rateOf(answer.headers).remaining;
}

test("costly requests count by the work that was done, at most as ten; where fewer are left they are used up", async () => {
  const [small, large] = [await prepared(await owner(service)), await prepared(await owner(service))];
  await large.files.write("changed.txt", lines(110_000, "b"));
  // The more lines have moved, the longer the search for the shortest diff takes.
  await large.files.overwrite("changed.txt", lines(110_000, "b").split("\n").toReversed().join("\n"));
  await large.files.write("large.txt", lines(1_000_000, "c"));
  const counted = (own: Own, path: string, used = 0) => countedIn(own, `GET ${path}`, used);
  for (const path of ["/diff/a.txt", "/export", "/search?mode=regex&q=l.ne"]) {
    assertEquals(await counted(small, path), 1, path);
  }
  assertEquals(await counted(large, "/diff/changed.txt"), REQUESTS_COUNTED_MAX);
  assertEquals(await counted(large, "/export"), 2);
  assert(await counted(large, "/search?mode=regex&q=c.9999[0-9]$") > 1);
  assertEquals(await counted(large, "/diff/changed.txt", FREE_LIMIT - 4), 4);
  for (const path of ["/files", "/search?q=c"]) {
    assertRefused(await large.files.request("GET", path), "RATE_LIMIT_EXCEEDED");
  }
});

test("costly requests: a branch counts one for each 100 files begun, a merge one for each ten", async () => {
  const own = await prepared(await owner(service));
  await service.setTier(own.account.projectId ?? "", "pro");
  const write = async (folder: string, from: number, count: number) =>
    await own.files.commit(Array.from({ length: count }, (_, index) => ({
      ...{ op: "write", path: `${folder}/${from + index}.txt`, content: folder },
    })));
  for (const from of [0, 70, 140]) await write("big", from, 70);
  const branch = { name: "big", directory: "big" };
  assertEquals(await countedIn(own, "POST /branches", 0, branch), 3);
  assertEquals(await countedIn(own, "POST /branches", 0, { name: "small", directory: "in" }), 1);
  await service.setTier(own.account.projectId ?? "", "pro");
  await write(".branches/big", 0, 21);
  for (const dryRun of [true, false]) {
    assertEquals(await countedIn(own, "POST /branches/big/merge", 0, { dryRun, keep: true }), 3, `${dryRun}`);
  }
});
