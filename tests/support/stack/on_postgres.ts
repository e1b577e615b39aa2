/** A service whose function runs in several processes, on a Postgres of its own. */
import { assertEquals } from "@std/assert";
import type { StackOptions } from "../../../supabase/local/stack/stack.ts";
import type { Target } from "../client/files_client.ts";
import { type PostgresServer, startPostgres } from "../postgres/postgres.ts";
import { type Service, startService } from "./service.ts";

/** Starts the service, runs `body`, and stops the service. */
export async function onPostgres(
  functionProcesses: number,
  body: (service: Service, server: PostgresServer) => Promise<void>,
  options: Partial<StackOptions> = {},
): Promise<void> {
  const server = await startPostgres();
  try {
    const service = await startService({ ...options, databaseUrl: server.url, functionProcesses });
    try {
      assertEquals(service.stack.functionPids.length, functionProcesses);
      await body(service, server);
    } finally {
      await service.stop();
    }
  } finally {
    await server.stop();
  }
}

/** Creates a project, and returns it as a target for clients of the ledger. */
export async function newTarget(service: Service): Promise<Target & { readonly projectId: string }> {
  const { id, key } = await service.project("enterprise");
  return { baseUrl: service.baseUrl, key, projectId: id };
}
