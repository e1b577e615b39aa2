/** Realistic retries: at the same time, in large numbers, and after a lost answer. */
import { assert, assertEquals } from "@std/assert";
import { assertRefused } from "../support/client/contract.ts";
import { eventually } from "../support/eventually.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { kill } from "../support/stack/processes.ts";
import type { Hook } from "../support/stack/proxy.ts";
import { suite } from "../support/stack/suite.ts";
import { prepare, PREPARED_VERSION, WRITES } from "../support/client/write_kinds.ts";

const { service, files, test } = await suite();

const once = { "idempotency-key": "once" };

/** Runs `work` with a hook on the commits that pass through the proxy. */
async function withCommitHook<T>(hook: Hook, work: () => Promise<T>): Promise<T> {
  service.proxy.hook = (call, forward) =>
    call.path.includes("filestore_commit") ? hook(call, forward) : forward();
  try {
    return await work();
  } finally {
    service.proxy.hook = null;
  }
}

function isReplayed({ headers }: { readonly headers: Headers }): boolean {
  return headers.get("idempotency-replayed") === "true";
}

/** Numbers of versions and objects of a project that contains nothing else. */
async function countsOf(own: ProjectFiles): Promise<unknown> {
  const [row] = await service.sql(
    `select (select count(*)::int from filestore.file_versions v where v.project_id = p.id) as versions,
            (select count(*)::int from filestore.segments s where s.project_id = p.id) as segments,
            (select count(*)::int from storage.objects o where o.name like p.id || '/%') as objects
     from filestore.projects p where p.id = $1`,
    [own.project.id],
  );
  return row;
}

for (const kind of WRITES) {
  test(`20 simultaneous requests with one key: ${kind.name} makes one version and leaves no other byte`, async () => {
    const own = await files();
    await prepare(own, "f.txt");
    const answers = await Promise.all(Array.from({ length: 20 }, () => kind.send(own, "f.txt", once)));
    assertEquals(answers.map(({ status }) => status), Array(20).fill(200));
    assertEquals(answers.filter((answer) => !isReplayed(answer)).length, 1);
    assertEquals(new Set(answers.map(({ text }) => text)).size, 1, "one answer for all");
    const versions = PREPARED_VERSION + (kind.name === "PUT move" ? 2 : 1);
    const segments = PREPARED_VERSION + (kind.stores ? 1 : 0);
    assertEquals(await countsOf(own), { versions, segments, objects: segments });
  });
}

test("a client that hangs up during the commit finds the first result when it tries again", async (own) => {
  await prepare(own, "f.txt");
  for (const route of ["append", "overwrite", "restore"]) {
    const { total } = await own.versions("f.txt");
    const body = route === "restore" ? { version: 1 } : { content: "x".repeat(100_000) };
    const key = { "idempotency-key": `hang up ${route}` };
    const hangUp = new AbortController();
    await withCommitHook(async (_call, forward) => {
      const response = await forward();
      hangUp.abort();
      return response;
    }, async () => {
      const attempt = fetch(`${service.baseUrl}/files/${route}/f.txt`, {
        method: "PUT",
        headers: { ...key, "x-api-key": own.key, "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: hangUp.signal,
      });
      assertEquals(await attempt.then((response) => response.status, () => "hung up"), "hung up");
    });
    const retry = await own.put(route, "f.txt", body, key);
    assertEquals([retry.status, isReplayed(retry)], [200, true], retry.text);
    assertEquals((await own.versions("f.txt")).total, total + 1);
  }
});

test("a client that hangs up while it sends makes no version and leaves no byte; its retry is the first", async () => {
  const own = await files();
  await own.write("f.txt", "");
  const piece = new Uint8Array(1 << 20).fill(97);
  for (const path of ["/files/append/f.txt?raw", "/files/overwrite/f.txt?raw", "/files?path=new.bin"]) {
    const hangUp = new AbortController();
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (sent++ < 4) return controller.enqueue(piece);
        // Part of the upload is stored by then.
        await new Promise((resolve) => setTimeout(resolve, 200));
        hangUp.abort();
      },
    });
    const attempt = fetch(service.baseUrl + path, {
      method: path.startsWith("/files?") ? "POST" : "PUT",
      headers: { ...once, "x-api-key": own.key },
      body,
      signal: hangUp.signal,
    });
    assertEquals(await attempt.then((response) => response.status, () => "hung up"), "hung up");
    const left = JSON.stringify({ versions: 1, segments: 0, objects: 0 });
    await eventually("nothing of it is left", async () => JSON.stringify(await countsOf(own)) === left);
  }
  const retry = await own.request("PUT", "/files/append/f.txt?raw", { body: "all of it", headers: once });
  assertEquals([retry.status, isReplayed(retry)], [200, false]);
});

test("a function that dies after the commit: the retry, on another one, finds the first result", async () => {
  const own = await files();
  await prepare(own, "f.txt");
  const attempt = await withCommitHook(async (_call, forward) => {
    const response = await forward();
    for (const pid of service.stack.functionPids) kill(pid);
    return response;
  }, async () => {
    const response = await fetch(`${service.baseUrl}/files/append/f.txt`, {
      method: "PUT",
      headers: { ...once, "x-api-key": own.key },
      body: JSON.stringify({ content: "+" }),
    });
    await response.body?.cancel();
    return response.status;
  });
  assert(attempt >= 500, `the gateway answers ${attempt}`);
  await eventually("the function is back", async () => {
    const response = await fetch(`${service.baseUrl}/health`);
    await response.body?.cancel();
    return response.status === 200;
  });
  const retry = await own.put("append", "f.txt", { content: "+" }, once);
  assertEquals([retry.status, isReplayed(retry)], [200, true], retry.text);
  assertEquals((await own.read("f.txt")).content, "old\n+");
});

test("409 IDEMPOTENCY_KEY_IN_USE with Retry-After while the first request runs; what it uploaded is removed", async () => {
  const own = await files();
  await prepare(own, "f.txt");
  const before = await service.tables();
  for (const kind of WRITES) {
    // The database's answer after it has waited in vain for the other transaction.
    const answer = await withCommitHook(() =>
      Response.json({
        rate: { limit: null, remaining: null, reset: (Math.floor(Date.now() / 60_000) + 1) * 60 },
        grant: {
          ...{ projectId: own.project.id, accountId: null, keyId: own.project.keyId, tier: "enterprise" },
          ...{ maxFileBytes: null, pathPrefix: null, scopes: ["read", "write"] },
        },
        refusal: { code: "IDEMPOTENCY_KEY_IN_USE", details: {} },
      }), () => kind.send(own, "f.txt", once));
    assertEquals(assertRefused(answer, "IDEMPOTENCY_KEY_IN_USE", kind.operation), {});
    assertEquals(answer.headers.get("retry-after"), "1");
  }
  assertEquals(await service.tables(), before);
});
