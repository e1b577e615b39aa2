/** The path of a request from the one port to a process of the function and back, without a database. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { functionCommand } from "../../supabase/local/stack/function_command.ts";
import { FunctionPool } from "../../supabase/local/stack/function_pool.ts";
import { type Gateway, openGateway } from "../../supabase/local/stack/gateway.ts";
import { loadSecrets } from "../../supabase/local/stack/secrets.ts";
import { StartupError } from "../../supabase/local/startup_error.ts";
import { REPOSITORY } from "../support/stack/command.ts";
import { eventually } from "../support/eventually.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";

const FIXTURES = join(REPOSITORY, "tests/local/fixtures");
const INJECTED = [
  ..."DENO_DEPLOYMENT_ID SB_EXECUTION_ID SB_REGION SUPABASE_ANON_KEY SUPABASE_JWKS".split(" "),
  ..."SUPABASE_PUBLISHABLE_KEYS SUPABASE_SECRET_KEYS SUPABASE_SERVICE_ROLE_KEY SUPABASE_URL".split(" "),
];

interface Setup {
  readonly gateway: Gateway;
  readonly functions: FunctionPool;
  readonly log: string[];
}

async function withFunctions(
  processes: number,
  test: (setup: Setup) => Promise<void>,
  entry = "echo_function.ts",
) {
  await withScratchDirectory(async (path) => {
    const command = await functionCommand({
      entry: join(FIXTURES, entry),
      secrets: await loadSecrets(join(path, "secrets.json")),
      supabaseUrl: "http://127.0.0.1:1",
      databaseUrl: undefined,
      denoVersion: undefined,
      memoryLimitMegabytes: undefined,
    });
    const gateway = await openGateway(0);
    const log: string[] = [];
    const functions = new FunctionPool(processes, command, (line) => log.push(line));
    try {
      await functions.start();
      gateway.routes.functions = functions;
      await test({ gateway, functions, log });
    } finally {
      await functions.stop();
      await gateway.close();
    }
  });
}

Deno.test("the gateway says on /console that the stack is starting, and leads from / to the console", async () => {
  const gateway = await openGateway(0);
  try {
    for (const path of ["/console", "/console/", "/console/?a=b"]) {
      const starting = await fetch(gateway.url + path, { redirect: "manual" });
      assertEquals([starting.status, starting.headers.get("refresh")], [503, "2"]);
      assertEquals(starting.headers.get("content-type"), "text/html; charset=utf-8");
      assert((await starting.text()).includes("Filestore is starting."));
    }
    for (const path of ["/", "/?a=b"]) {
      const root = await fetch(gateway.url + path, { redirect: "manual" });
      await root.body?.cancel();
      assertEquals([root.status, root.headers.get("location")], [302, "/console/"]);
    }
    for (const [method, path] of [["POST", "/"], ["GET", "/consoles"], ["GET", "/x"]] as const) {
      const { status, body } = await fetch(gateway.url + path, { method, redirect: "manual" });
      await body?.cancel();
      assertEquals(status, 404, `${method} ${path}`);
    }
  } finally {
    await gateway.close();
  }
});

/** Sends bytes and reads until the other side closes. */
async function exchange(gateway: Gateway, request: string, closeAfter = false): Promise<string> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(gateway.url).port) });
  await connection.write(new TextEncoder().encode(request));
  if (closeAfter) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    connection.close();
    return "";
  }
  return await new Response(connection.readable).text();
}

const get = (path: string, headers = "") =>
  `GET ${path} HTTP/1.1\r\nHost: example\r\nConnection: close\r\n${headers}\r\n`;

Deno.test("gateway: one function process", (t) =>
  withFunctions(1, async ({ gateway, functions, log }) => {
    const base = `${gateway.url}/functions/v1/api`;

    await t.step("the path arrives byte for byte", async () => {
      const path = String.raw`/a/../b\c%2Fd/./e//f?x=..%2F&y`;
      const answer = await exchange(gateway, get(`/functions/v1/api${path}`));
      assertEquals(JSON.parse(answer.split("\r\n\r\n")[1] ?? "").url, `/api${path}`);
    });

    await t.step("the function sees what Supabase injects and nothing else", async () => {
      const { environment, waitUntil } = await (await fetch(base)).json();
      assertEquals(Object.keys(environment).sort(), INJECTED);
      assertEquals(Object.keys(JSON.parse(environment.SUPABASE_SECRET_KEYS)), ["default"]);
      assertEquals(waitUntil, "function");
    });

    await t.step(
      "the peer's address is added, nobody else's word is passed on, and Accept-Encoding is the client's",
      async () => {
        const headers = { "x-forwarded-for": "192.0.2.1", "cf-connecting-ip": "192.0.2.2", "x-own": "kept" };
        const echo = await (await fetch(base, { headers })).json();
        assertEquals(echo.headers["x-forwarded-for"], "192.0.2.1, 127.0.0.1");
        assertEquals(echo.headers["cf-connecting-ip"], undefined);
        assertEquals(echo.headers["x-own"], "kept");
        // `fetch` asks for compression by itself, and the gateway passes a compressed answer through.
        assertEquals(echo.headers["accept-encoding"], "gzip,br");
        assertEquals(echo.headers["x-forwarded-host"], new URL(gateway.url).host);
      },
    );

    await t.step("100 MB go through, with a length and without", async () => {
      const megabyte = new Uint8Array(1024 * 1024);
      const whole = await fetch(base, { method: "POST", body: new Blob(Array(100).fill(megabyte)) });
      assertEquals((await whole.json()).bytes, 100 * megabyte.byteLength);
      let left = 100;
      const body = new ReadableStream({
        pull: (controller) => left-- > 0 ? controller.enqueue(megabyte) : controller.close(),
      });
      const streamed = await fetch(base, { method: "PUT", body });
      assertEquals((await streamed.json()).bytes, 100 * megabyte.byteLength);
    });

    await t.step(
      "HEAD, 204, an answer before the body is read, and encoded answers pass unchanged",
      async () => {
        const head = await exchange(gateway, get("/functions/v1/api").replace("GET", "HEAD"));
        assert(head.startsWith("HTTP/1.1 200") && head.endsWith("\r\n\r\n"));
        const empty = await fetch(`${base}/empty`);
        assertEquals([empty.status, empty.headers.get("x-echo"), await empty.text()], [204, "yes", ""]);
        const refused = await fetch(`${base}/refuse`, { method: "POST", body: new Uint8Array(5_000_000) });
        assertEquals([refused.status, await refused.text()], [413, "too large"]);
        const encoded = await exchange(gateway, get("/functions/v1/api/gzip"));
        assert(/content-encoding: gzip/i.test(encoded) && encoded.endsWith("not really"));
      },
    );

    await t.step("a response that breaks off never looks complete", async () => {
      const response = await fetch(`${base}/break`);
      await assertRejects(() => response.arrayBuffer());
      const raw = await exchange(gateway, get("/functions/v1/api/break"));
      assert(!raw.endsWith("0\r\n\r\n"));
    });

    await t.step("a request that breaks off never looks complete", async () => {
      const start = "POST /functions/v1/api HTTP/1.1\r\nHost: example\r\n";
      await exchange(gateway, `${start}Content-Length: 1000\r\n\r\nabc`, true);
      await exchange(gateway, `${start}Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n`, true);
      for (const bytes of [3, 4]) {
        const line = `broken request after ${bytes} bytes`;
        await eventually(line, () => log.includes(line));
      }
    });

    await t.step("unknown routes and functions are refused in the envelope", async () => {
      for (
        const path of ["/functions/v1/other", "/functions/v1/apix", "/functions/v1/", "/introspect"]
      ) {
        const response = await fetch(gateway.url + path);
        assertEquals(response.status, 404, path);
        assertEquals((await response.json()).error.code, "ROUTE_NOT_FOUND");
      }
    });

    await t.step("a process that dies answers 503 and is soon there again", async () => {
      const [before] = functions.pids;
      const dying = await fetch(`${base}/exit`);
      assertEquals([dying.status, dying.headers.get("retry-after")], [503, "2"]);
      assertEquals((await dying.json()).error.code, "SERVICE_UNAVAILABLE");
      await eventually("an answer", async () => {
        const next = await fetch(base);
        await next.body?.cancel();
        return next.ok;
      });
      assert(functions.pids[0] !== before);
    });
  }));

Deno.test("gateway: requests take turns among function processes", () =>
  withFunctions(3, async ({ gateway, functions }) => {
    const ports = new Set<string>();
    for (let i = 0; i < 6; i++) {
      ports.add((await (await fetch(`${gateway.url}/functions/v1/api`)).json()).port);
    }
    assertEquals(ports.size, 3);
    assertEquals(new Set(functions.pids).size, 3);
  }));

Deno.test("gateway: before the function is there it answers 503 in the envelope", async () => {
  const gateway = await openGateway(0);
  for (const path of ["/functions/v1/api/files", "/rest/v1/rpc/x"]) {
    const response = await fetch(gateway.url + path);
    assertEquals(response.status, 503);
    assertEquals((await response.json()).error.code, "SERVICE_UNAVAILABLE");
  }
  await gateway.close();
});

Deno.test("openGateway() says that a port is in use", async () => {
  const gateway = await openGateway(0);
  await assertRejects(() => openGateway(Number(new URL(gateway.url).port)), StartupError, "is in use");
  await gateway.close();
});

Deno.test("FunctionPool.start() says why a function does not start", async () => {
  await assertRejects(
    () => withFunctions(1, async () => {}, "missing.ts"),
    StartupError,
    "The function does not start",
  );
});
