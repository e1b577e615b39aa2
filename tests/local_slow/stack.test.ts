/** `startStack()`, used as in the other suites. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { StartupError } from "../../supabase/local/startup_error.ts";
import { startStack } from "../../supabase/local/stack/stack.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { isAlive } from "../support/stack/command.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";

Deno.test("startStack() runs the function on the Deno inside Supabase's edge runtime, behind a proxy, twice", (t) =>
  withScratchDirectory(async (dataDir) => {
    let calls = 0;
    let backend = "";
    const proxy = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
      calls++;
      return fetch(
        new Request(backend + request.url.slice(request.url.indexOf("/", "http://".length)), request),
      );
    });
    const log: string[] = [];
    const stack = await startStack({
      dataDir,
      port: 0,
      functionProcesses: 2,
      denoVersion: "2.1.4",
      memoryLimitMegabytes: 256,
      functionSupabaseUrl: (backendUrl) => {
        backend = backendUrl;
        return `http://127.0.0.1:${proxy.addr.port}`;
      },
      onFunctionLog: (line) => log.push(line),
    });
    const pids = [...stack.functionPids];
    const headers = { "x-api-key": stack.apiKey, "content-type": "application/json" };
    const write = (path: string, content: string) =>
      fetch(`${stack.baseUrl}/files`, { method: "POST", headers, body: JSON.stringify({ path, content }) });

    await t.step("the function's calls go through the proxy", async () => {
      const response = await write("a.txt", "text");
      assertEquals(response.status, 200, await response.text());
      assert(calls > 0);
    });

    await t.step("requests at the same time all succeed", async () => {
      const responses = await Promise.all(
        Array.from({ length: 40 }, (_, n) => write(`many/${n % 8}`, `${n}`)),
      );
      assertEquals(responses.map(({ status }) => status), Array(40).fill(200));
      await Promise.all(responses.map((response) => response.body?.cancel()));
    });

    await t.step("tests see the database", async () => {
      const rows = await stack.exec<{ n: number }>(
        "select count(*)::int as n from filestore.files where path like $1",
        [
          "many/%",
        ],
      );
      assertEquals(rows, [{ n: 8 }]);
    });

    await t.step("only REST, Auth and Storage of the back end can be reached", async () => {
      for (
        const url of [`${stack.backendUrl}/config`, `${stack.backendUrl}/`, `${stack.supabaseUrl}/config`]
      ) {
        const response = await fetch(url);
        assertEquals(response.status, 404, url);
        await response.body?.cancel();
      }
    });

    await t.step("nothing is left when it stopped", async () => {
      await Promise.all([stack.stop(), stack.stop()]);
      await proxy.shutdown();
      assertEquals(pids.length, 2);
      assertEquals(pids.filter(isAlive), []);
      await assertRejects(() => fetch(stack.baseUrl));
    });
  }));

Deno.test("startStack() on Postgres prepares the roles of the back end before the first request", () =>
  withScratchDirectory(async (dataDir) => {
    const server = await startPostgres();
    try {
      const stack = await startStack({ dataDir, port: 0, demo: false, databaseUrl: server.url });
      // Several first requests at the same time would each do this, and all but one would fail.
      const prepared = await stack.exec("select from pg_default_acl limit 1");
      await stack.stop();
      assertEquals(prepared.length, 1);
    } finally {
      await server.stop();
    }
  }));

Deno.test("startStack() says which migration fails, and leaves nothing behind", () =>
  withScratchDirectory(async (dataDir) => {
    const migrationsDirectory = `${dataDir}/migrations`;
    await Deno.mkdir(migrationsDirectory);
    await Deno.writeTextFile(
      `${migrationsDirectory}/20260101000000_first.sql`,
      "create table public.kept (a int); insert into public.kept values (1);",
    );
    const second = `${migrationsDirectory}/20260101000001_second.sql`;
    await Deno.writeTextFile(second, "insert into public.kept values (2); select no_such_function();");
    const options = { dataDir: `${dataDir}/data`, port: 0, migrationsDirectory, demo: false };
    await assertRejects(() => startStack(options), StartupError, "20260101000001_second.sql fails");
    await Deno.writeTextFile(second, "insert into public.kept values (3);");
    const stack = await startStack(options);
    assertEquals(await stack.exec("select a from public.kept order by a"), [{ a: 1 }, { a: 3 }]);
    const versions = await stack.exec("select version from supabase_migrations.schema_migrations order by 1");
    assertEquals(versions, [{ version: "20260101000000" }, { version: "20260101000001" }]);
    await stack.stop();
  }));
