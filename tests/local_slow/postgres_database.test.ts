/** The local stack on a Postgres server that drops connections. */
import { assertEquals, assertRejects } from "@std/assert";
import { connect, createServer, type Socket } from "node:net";
import { openPostgres } from "../../supabase/local/database/postgres_database.ts";
import { startPostgres } from "../support/postgres/postgres.ts";

/** Part of the query that postgres.js sends on each new connection. */
const TYPES_QUERY = "typarray";

Deno.test("connections that are lost before they are ready do not end the process, and queries are answered", async () => {
  const server = await startPostgres();
  const proxy = await resettingProxy(Number(new URL(server.url).port));
  try {
    const url = new URL(server.url);
    url.port = String(proxy.port);
    const database = await openPostgres(url.href);
    try {
      proxy.reset(1);
      await assertRejects(() => database.query("select 1 as one", []));
      assertEquals(await database.query("select 1 as one", []), [{ one: 1 }]);
      assertEquals(proxy.resets(), 1);
    } finally {
      await database.close();
    }
  } finally {
    await proxy.close();
    await server.stop();
  }
});

/** A proxy that resets a number of connections as soon as they ask for the types, and passes everything else on. */
async function resettingProxy(port: number) {
  let left = 0;
  let resets = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => [client, upstream].forEach((one) => one.destroy()));
    }
    client.on("data", (chunk) => {
      if (left > 0 && chunk.includes(TYPES_QUERY)) {
        left--;
        resets++;
        client.resetAndDestroy();
      } else upstream.write(chunk);
    });
    upstream.on("data", (chunk) => client.write(chunk));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" ? address?.port : undefined,
    reset: (connections: number) => left = connections,
    resets: () => resets,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
