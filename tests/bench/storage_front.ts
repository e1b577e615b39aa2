/**
 * The local back end with another Storage in its place: Supabase's own server, whose uploads and downloads cost what
 * they cost on the platform, where the local one is little more than a file on a disk.
 */
import { createClient } from "@supabase/supabase-js";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { BUCKET } from "../../supabase/functions/api/adapters/supabase_segments.ts";
import { SEGMENT_BYTES_MAX } from "../../supabase/functions/api/limits.ts";
import { BENCH_BUCKET } from "./baselines.ts";

export interface OtherStorage {
  /** What `/storage/v1` stands for: `http://127.0.0.1:54321/storage/v1` of `supabase start`, or a Storage server's own. */
  readonly url: string;
  /** Its service role's token. */
  readonly key: string;
}

export interface StorageFront {
  /** As SUPABASE_URL. */
  readonly url: string;
  close(): Promise<void>;
}

const PREFIX = "/storage/v1";

/** Serves Storage's paths from there, under its own key, and all others from the back end. Makes the two buckets. */
export async function openStorageFront(backendUrl: string, storage: OtherStorage): Promise<StorageFront> {
  const backend = new URL(backendUrl);
  const other = new URL(storage.url);
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? "/";
    const isStorage = path.startsWith(`${PREFIX}/`);
    const target = isStorage ? other : backend;
    const upstream = httpRequest({
      host: target.hostname,
      port: target.port,
      method: incoming.method ?? "GET",
      path: isStorage ? other.pathname.replace(/\/$/, "") + path.slice(PREFIX.length) : path,
      headers: {
        ...incoming.headers,
        host: target.host,
        ...(isStorage && { apikey: storage.key, authorization: `Bearer ${storage.key}` }),
      },
    }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    upstream.on("error", () => outgoing.destroy());
    incoming.pipe(upstream);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createClient(url, storage.key, { auth: { persistSession: false, autoRefreshToken: false } });
  for (const [name, fileSizeLimit] of [[BUCKET, SEGMENT_BYTES_MAX], [BENCH_BUCKET, null]] as const) {
    const { error } = await client.storage.createBucket(name, { public: false, fileSizeLimit });
    if (error && !/exists/i.test(error.message)) throw new Error(`${storage.url}: ${error.message}`);
  }
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
