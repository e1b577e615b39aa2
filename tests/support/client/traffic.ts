/** The traffic between the function and its back end, as recorded by the proxy between them. */
import type { BackendCall } from "../stack/proxy.ts";
import type { Service } from "../stack/service.ts";

/** The calls of the function to its back end for a request. */
export interface Traffic {
  /** Names of the SQL functions, in order. */
  readonly database: readonly string[];
  /** Numbers of objects stored, fetched and removed. */
  readonly puts: number;
  readonly gets: number;
  readonly removals: number;
}

/** The traffic that `work` causes. */
export async function trafficOf(service: Service, work: () => Promise<unknown>): Promise<Traffic> {
  const calls = await service.proxy.during(work);
  const storage = calls.filter(({ target }) => target === "storage");
  return {
    database: calls.filter(({ target }) => target === "database").map(functionName),
    puts: storage.filter(({ method }) => method === "POST" || method === "PUT").length,
    gets: storage.filter(({ method }) => method === "GET").length,
    removals: storage.filter(({ method }) => method === "DELETE").length,
  };
}

function functionName({ path }: BackendCall): string {
  return path.replace(/^.*\/rpc\//, "").replace(/\?.*$/, "");
}

export const NO_OBJECTS = { puts: 0, gets: 0, removals: 0 } as const;
