/**
 * A small OpenAI-compatible embeddings endpoint for tests. It is not a language model: a text becomes the hashed counts
 * of its words, and all words of one group of synonyms count as the same word. So "automobile" is near "car", which
 * full-text search does not know, and tests can cover the whole vector path.
 */
/** Words with the same meaning, one group a line. */
const SYNONYMS = [
  "car automobile vehicle driving drive",
  "doctor physician medic clinic hospital",
  "money cash payment invoice billing paid charge refund",
  "error failure crash bug broken defect fault outage",
  "quick fast rapid speed latency slow performance",
  "delete remove erase drop purge retention",
  "login signin authentication authenticate password credential",
  "begin start launch boot startup",
  "picture image photo thumbnail",
  "meeting call appointment calendar schedule",
  "buy purchase order shop",
  "holiday vacation leave travel trip",
  "hire recruit candidate interview onboarding",
  "backup snapshot restore recovery",
  "food meal lunch recipe cook",
].map((line) => line.split(" "));

const COMMON = new Set(
  "the a an of to in on for and or is are was were be it we i how do does did what where when which with our my at by from that this as not no can should about"
    .split(" "),
);

export interface EmbeddingServer {
  readonly url: string;
  /** Texts embedded so far. */
  readonly texts: string[];
  /** If set, every request is answered with this status. */
  failWith: number | null;
  /** A request with a text that contains this is refused with 400, including its other texts. */
  refused: string | null;
  stop(): Promise<void>;
}

export function startEmbeddingServer(dimensions = 384): EmbeddingServer {
  const texts: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { input, model } = await request.json();
    if (found.failWith !== null) return new Response("out of order", { status: found.failWith });
    const isRefused = (text: string) => found.refused !== null && text.includes(found.refused);
    if (input.some(isRefused)) return new Response("this is no text", { status: 400 });
    texts.push(...input);
    return Response.json({
      object: "list",
      model,
      data: input.map((text: string, index: number) => ({
        object: "embedding",
        index,
        embedding: embed(text, dimensions),
      })),
    });
  });
  const found: EmbeddingServer = {
    url: `http://127.0.0.1:${server.addr.port}/v1/embeddings`,
    texts,
    failWith: null,
    refused: null,
    stop: () => server.shutdown(),
  };
  return found;
}

export function embed(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (COMMON.has(word)) continue;
    const stem = word.replace(/(ing|ed|es|s)$/, "");
    const group = SYNONYMS.findIndex((words) => words.some((one) => one === word || one === stem));
    const place = hash(group < 0 ? stem : `synonyms ${group}`) % dimensions;
    vector[place] = (vector[place] ?? 0) + (group < 0 ? 0.5 : 1);
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

/** FNV-1a hash. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
