/** A command that moves many files waits as long as the service says, retries transient faults, and reports others. */
import { assertEquals, assertRejects } from "@std/assert";
import { z } from "zod";
import { FileApi, Refusal } from "../../../supabase/local/transfer/file_api.ts";

type Answer = () => Response;

const value = z.object({ n: z.number() });
const ok: Answer = () => Response.json({ data: { n: 7 } });
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

/** Calls `use` against a service that gives these answers in order. Returns the number of requests. */
async function against(answers: readonly Answer[], use: (api: FileApi) => Promise<void>): Promise<number> {
  let requests = 0;
  const onError = () => new Response(null, { status: 502 });
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {}, onError },
    async (request) => {
      await request.arrayBuffer();
      return (answers[requests++] ?? ok)();
    },
  );
  try {
    await use(new FileApi(`http://127.0.0.1:${server.addr.port}`, "oa_x"));
  } finally {
    await server.shutdown();
  }
  return requests;
}

Deno.test("FileApi repeats what passes: a used-up window, a service that is down, an answer that breaks off", async () => {
  const passing = [
    refusal(429, "RATE_LIMIT_EXCEEDED", { "retry-after": "1" }),
    refusal(503, "SERVICE_UNAVAILABLE"),
    refusal(409, "IDEMPOTENCY_KEY_IN_USE"),
    brokenOff,
    ok,
  ];
  const started = performance.now();
  assertEquals(
    await against(passing, async (api) => assertEquals(await api.data("/x", value), { n: 7 })),
    passing.length,
  );
  assertEquals(performance.now() - started >= 1000, true, "Retry-After is kept to");
});

Deno.test("FileApi sends a body again from its beginning", async () => {
  let opened = 0;
  const body = () => {
    opened++;
    return Promise.resolve(new Blob(["content"]).stream());
  };
  await against([refusal(503, "SERVICE_UNAVAILABLE"), ok], async (api) => {
    await api.data("/x", value, { method: "POST", body });
  });
  assertEquals(opened, 2);
});

Deno.test("FileApi reports a refusal at once, with its code and details", async () => {
  const refusals = { FORBIDDEN_SCOPE: 403, PRECONDITION_FAILED: 412, CONTENT_CORRUPT: 500 };
  for (const [code, status] of Object.entries(refusals)) {
    const requests = await against([refusal(status, code)], async (api) => {
      const error = await assertRejects(() => api.data("/x", value), Refusal);
      assertEquals([error.status, error.code, error.details], [status, code, { a: 1 }]);
    });
    assertEquals(requests, 1);
  }
});
