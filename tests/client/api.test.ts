/** The client waits as long as the service says, repeats requests without an answer, and reports everything else at once. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Failure } from "../../supabase/client/failure.ts";
import { Api, fileAddress } from "../../supabase/client/library/api.ts";
import { FilestoreError } from "../../supabase/client/library/errors.ts";
import { Filestore } from "../../supabase/client/library/filestore.ts";
import { save } from "../../supabase/client/transfer/saved_answer.ts";

type Answer = () => Response;

const ok: Answer = () => Response.json({ success: true, data: { n: 7 } });
const refusal = (status: number, code: string, headers: HeadersInit = {}): Answer => () =>
  Response.json({ success: false, error: { code, message: "No." }, details: { a: 1 } }, { status, headers });
const brokenOff: Answer = () =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"data":'));
        controller.error(new Error("broken off"));
      },
    }),
  );

/** Calls `use` against a service that gives these answers in order. Returns the headers of the requests. */
async function against(
  answers: readonly Answer[],
  use: (api: Api, url: string) => Promise<unknown>,
): Promise<Headers[]> {
  const requests: Headers[] = [];
  const onError = () => new Response(null, { status: 502 });
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {}, onError },
    async (request) => {
      await request.arrayBuffer();
      return (answers[requests.push(new Headers(request.headers)) - 1] ?? ok)();
    },
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  try {
    await use(new Api({ url, key: "oa_x" }), url);
  } finally {
    await server.shutdown();
  }
  return requests;
}

Deno.test("what passes is waited for: a used-up window, a service that is down, an answer that breaks off", async () => {
  const passing = [
    refusal(429, "RATE_LIMIT_EXCEEDED", { "retry-after": "1" }),
    refusal(503, "SERVICE_UNAVAILABLE"),
    refusal(409, "IDEMPOTENCY_KEY_IN_USE"),
    brokenOff,
    ok,
  ];
  const started = performance.now();
  const requests = await against(passing, async (api) => assertEquals(await api.data("/x"), { n: 7 }));
  assertEquals(requests.length, passing.length);
  assert(performance.now() - started >= 1000, "Retry-After is kept to");
});

Deno.test("a disk that takes no bytes is no lost answer: nothing is sent again", async () => {
  const content: Answer = () => new Response("content");
  for (const size of [7, 7_000_000, null]) {
    const requests = await against([content], async (api) => {
      await assertRejects(
        () => api.send("/x", {}, (answer) => save(answer, "/dev/full", size)),
        Failure,
        "ENOSPC",
      );
    });
    assertEquals(requests.length, 1);
  }
});

Deno.test("every try of a write has the same idempotency key, and each write another one", async () => {
  const answers = [refusal(503, "SERVICE_UNAVAILABLE"), brokenOff, ok, ok];
  const requests = await against(answers, async (_, url) => {
    const store = new Filestore({ url, key: "oa_x", run: "night-1", actor: "planner" });
    await store.append("a", "x", { note: "größer" });
    await store.append("a", "x");
  });
  const keys = requests.map((headers) => headers.get("idempotency-key"));
  assertEquals([keys[0], keys[0]], [keys[1], keys[2]]);
  assert(keys[3] !== null && keys[3] !== keys[0]);
  const [headers] = requests;
  assertEquals(
    ["x-run-id", "x-actor", "x-change-note"].map((name) => headers?.get(name)),
    ["night-1", "planner", "gr%C3%B6%C3%9Fer"],
  );
});

Deno.test("a stream is opened again for each try", async () => {
  let opened = 0;
  const body = () => {
    opened++;
    return Promise.resolve(new Blob(["content"]).stream());
  };
  await against([refusal(503, "SERVICE_UNAVAILABLE"), ok], (api) => api.data("/x", { method: "POST", body }));
  assertEquals(opened, 2);
});

Deno.test("a refusal is reported at once, with its code, status and details", async () => {
  const refusals = {
    FORBIDDEN_SCOPE: 403,
    PRECONDITION_FAILED: 412,
    VERSION_CONFLICT: 409,
    CONTENT_CORRUPT: 500,
    SEMANTIC_SEARCH_UNAVAILABLE: 501,
  };
  for (const [code, status] of Object.entries(refusals)) {
    const answer = refusal(status, code, { "x-request-id": "r-1" });
    const requests = await against([answer], async (api) => {
      const error = await assertRejects(() => api.data("/x"), FilestoreError);
      assertEquals([error.status, error.code, error.details, error.requestId], [
        status,
        code,
        { a: 1 },
        "r-1",
      ]);
    });
    assertEquals(requests.length, 1);
  }
});

Deno.test("an import repeats a write that other writes overtook, since each version has its precondition", async () => {
  const answers = [refusal(409, "VERSION_CONFLICT"), ok];
  const requests = await against(answers, (api) => api.data("/x", { repeatsAfter: "VERSION_CONFLICT" }));
  assertEquals(requests.length, 2);
});

Deno.test("what is not this service is reported at once, and no redirection takes the key elsewhere", async () => {
  const others: Answer[] = [
    () => new Response("<html>"),
    () => Response.json({ data: {} }),
    () => new Response("nothing", { status: 404 }),
    () => Response.redirect("http://127.0.0.1:1/elsewhere"),
  ];
  for (const other of others) {
    const requests = await against([other], async (api) => {
      const { code } = await assertRejects(() => api.data("/x"), FilestoreError);
      assertEquals(code, "UNKNOWN_ANSWER");
    });
    assertEquals(requests.length, 1);
  }
});

Deno.test("an address where nothing listens, and a name that does not exist, are given up after three tries", async () => {
  const { port } = await closedPort();
  for (const url of [`http://127.0.0.1:${port}`, "http://nothing.invalid"]) {
    let sent = 0;
    const real = globalThis.fetch;
    globalThis.fetch = (...request) => (sent++, real(...request));
    try {
      const error = await assertRejects(() => new Api({ url, key: "oa_x" }).data("/x"), FilestoreError);
      assertEquals([error.code, error.status, sent], ["NETWORK_ERROR", 0, 3]);
      assert(!error.message.includes("oa_x"));
    } finally {
      globalThis.fetch = real;
    }
  }
});

Deno.test("the signal ends a request, a pause, and what has not begun", async () => {
  for (const answer of [refusal(503, "SERVICE_UNAVAILABLE", { "retry-after": "100" }), ok]) {
    const control = new AbortController();
    await against([() => (control.abort(), answer())], async (_, url) => {
      const api = new Api({ url, key: "oa_x", signal: control.signal });
      const { code } = await assertRejects(() => api.data("/x"), FilestoreError);
      assertEquals(code, "ABORTED");
      assertEquals((await assertRejects(() => api.data("/x"), FilestoreError)).code, "ABORTED");
    });
  }
});

Deno.test("what no request can carry is refused before anything is sent, without the key in the message", async () => {
  const store = (fields: Record<string, string>) =>
    new Filestore({ url: "http://127.0.0.1:1", key: "oa_x", ...fields });
  for (const path of ["", "/a", "a/", "a//b", "../keys", "a/./b", "a\\b", "\ud800", "a\nb"]) {
    assertEquals(assertThrows(() => fileAddress(path), FilestoreError).code, "INVALID_PATH", path);
  }
  for (
    const use of [
      () => store({ key: "oa_secret\nx" }).read("a"),
      () => store({ actor: "ö\u0100" }).write("a", "b"),
      () => store({}).write("a", "b", { note: "\ud800" }),
      () => store({}).write("a", () => Promise.reject(new Error("no such file"))),
      () => store({}).api.data("/x", { method: "POST", json: { n: 1n } }),
    ]
  ) {
    const error = await assertRejects(use, FilestoreError);
    assertEquals([error.code, error.status], ["VALIDATION_ERROR", 0]);
    assert(!error.message.includes("oa_secret"));
  }
  assertEquals(
    (await assertRejects(() => store({}).write("\ud800", new Uint8Array(0)), FilestoreError)).code,
    "INVALID_PATH",
  );
  for (const url of ["", "x", "ftp://x", "http://", "http://a b"]) {
    assertEquals(assertThrows(() => store({ url }), FilestoreError).code, "VALIDATION_ERROR", url);
  }
});

/** A port where nothing listens. */
async function closedPort(): Promise<{ port: number }> {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr;
  listener.close();
  return await Promise.resolve({ port });
}
