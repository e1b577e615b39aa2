/** The local sentence model behind an endpoint with a cache: embeddings are kept in a file for the next run. */
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { LOCAL_MODEL, LocalEmbeddings } from "../../../supabase/local/stack/local_embeddings.ts";

const FILE = fileURLToPath(new URL(`../../../supabase/.temp/${LOCAL_MODEL}.json`, import.meta.url));

export interface CachedModel {
  readonly url: string;
  readonly model: string;
  /** If true, the endpoint refuses every request, as for a wrong key; hybrid search is then lexical. */
  isRefusing: boolean;
  stop(): Promise<void>;
}

export async function startCachedModel(): Promise<CachedModel> {
  const known: Record<string, string> = await Deno.readTextFile(FILE).then(JSON.parse, () => ({}));
  const before = Object.keys(known).length;
  const embeddings = await LocalEmbeddings.start(() => {});
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    if (found.isRefusing) return new Response("not now", { status: 400 });
    const { input }: { input: string[] } = await request.json();
    const missing = input.filter((text) => known[keyOf(text)] === undefined);
    if (missing.length > 0) {
      const answer = await fetch(embeddings.url, {
        method: "POST",
        body: JSON.stringify({ input: missing, model: LOCAL_MODEL }),
      });
      if (!answer.ok) return new Response(answer.body, { status: answer.status });
      const { data }: { data: { embedding: number[] }[] } = await answer.json();
      for (const [index, { embedding }] of data.entries()) {
        known[keyOf(missing[index] ?? "")] = btoa(
          String.fromCharCode(...new Uint8Array(new Float32Array(embedding).buffer)),
        );
      }
    }
    return Response.json({
      data: input.map((text, index) => ({ index, embedding: vectorOf(known[keyOf(text)] ?? "") })),
    });
  });
  const found: CachedModel = {
    url: `http://127.0.0.1:${server.addr.port}/v1/embeddings`,
    model: LOCAL_MODEL,
    isRefusing: false,
    async stop() {
      await server.shutdown();
      await embeddings.stop();
      if (Object.keys(known).length === before) return;
      await Deno.mkdir(dirname(FILE), { recursive: true });
      await Deno.writeTextFile(FILE, JSON.stringify(known));
    },
  };
  return found;
}

function keyOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

function vectorOf(base64: string): number[] {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return [...new Float32Array(bytes.buffer)];
}
