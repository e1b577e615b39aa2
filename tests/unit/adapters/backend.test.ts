/** Timeouts and cancellation of calls to the back end. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { fetchInTime } from "../../../supabase/functions/api/adapters/backend.ts";
import {
  BACKEND_CALL_TIMEOUT_MILLISECONDS,
  BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS,
} from "../../../supabase/functions/api/limits.ts";

const CALLS = 100;

/** Runs `work` with timeouts that end when it calls `endAll`. `made` receives their durations. */
async function withTimeouts(work: (made: number[], endAll: () => void) => Promise<void>): Promise<void> {
  const { timeout } = AbortSignal;
  const made: number[] = [];
  const controllers: AbortController[] = [];
  AbortSignal.timeout = (milliseconds) => {
    made.push(milliseconds);
    const controller = new AbortController();
    controllers.push(controller);
    return controller.signal;
  };
  try {
    // By then, a timeout shared with earlier calls has expired.
    await new Promise((resolve) => setTimeout(resolve, BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS + 1));
    const reason = new DOMException("", "TimeoutError");
    await work(made, () => controllers.forEach((controller) => controller.abort(reason)));
  } finally {
    AbortSignal.timeout = timeout;
    await new Promise((resolve) => setTimeout(resolve, BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS + 1));
  }
}

Deno.test("back-end calls that begin together share one time-out, and later ones have one of their own", async () => {
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  await using server = Deno.serve(options, () => new Response("{}"));
  const call = async () => await (await fetchInTime(`http://127.0.0.1:${server.addr.port}/`)).text();
  await withTimeouts(async (made) => {
    const started = performance.now();
    for (let n = 0; n < CALLS; n++) await call();
    const parts = Math.ceil((performance.now() - started) / BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS);
    assert(made.length <= parts, `${made.length} time-outs`);
    await new Promise((resolve) => setTimeout(resolve, BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS + 1));
    const before = made.length;
    await call();
    assertEquals(made.slice(before), [BACKEND_CALL_TIMEOUT_MILLISECONDS]);
  });
});

Deno.test("a shared time-out ends every call that is not answered, before its headers or in its body", async () => {
  const answers: Record<string, () => Promise<Response>> = {
    "/silent": () => new Promise(() => {}),
    "/stuck": () => Promise.resolve(new Response(new ReadableStream({ pull: () => new Promise(() => {}) }))),
  };
  const end = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: end.signal, onListen() {} },
    (request) => answers[new URL(request.url).pathname]?.() ?? new Response("{}"),
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  await withTimeouts(async (_made, endAll) => {
    const silent = fetchInTime(`${url}/silent`);
    const stuck = await fetchInTime(`${url}/stuck`);
    const answered = await (await fetchInTime(`${url}/`)).text();
    const refused = Promise.all([
      assertRejects(() => silent, DOMException),
      assertRejects(() => stuck.text(), DOMException),
    ]);
    endAll();
    await refused;
    assertEquals(answered, "{}");
  });
  end.abort();
  await server.finished;
});
