/** Embeddings from an OpenAI-compatible endpoint, or from the model built into Supabase's edge runtime. */
import { unavailable } from "../errors.ts";
import { EMBEDDINGS_DEADLINE_MILLISECONDS, EMBEDDINGS_TIMEOUT_MILLISECONDS } from "../limits.ts";
import { lazy } from "../runtime/lazy.ts";
import type { Embedder } from "../ports/search_index.ts";
import { type CallParts, type Outcome, withRetries } from "./backend.ts";

/** Built in, so that nothing has to be downloaded: https://supabase.com/docs/guides/functions/ai-models */
const BUILT_IN_MODEL = "gte-small";

/** `Supabase.ai.Session` of the edge runtime. */
export interface ModelSession {
  run(text: string, options: { mean_pool: boolean; normalize: boolean }): Promise<unknown>;
}

export interface EndpointSettings {
  /** The complete URL, such as `https://api.openai.com/v1/embeddings`. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  /** The number of dimensions to request; undefined: the model's default. */
  readonly dimensions?: number | undefined;
}

const loadAnswers = lazy(() => import("./embedding_answers.ts"));

export class SessionEmbedder implements Embedder {
  readonly model = BUILT_IN_MODEL;
  private session: ModelSession | undefined;

  /** The session is opened with the first text. */
  constructor(private readonly open: (model: string) => ModelSession) {}

  async embed(texts: readonly string[]): Promise<readonly (readonly number[])[]> {
    this.session ??= this.open(this.model);
    const { vector } = await loadAnswers();
    const vectors: number[][] = [];
    for (const text of texts) {
      vectors.push(vector.parse(await this.session.run(text, { mean_pool: true, normalize: true })));
    }
    return vectors;
  }
}

export class EndpointEmbedder implements Embedder {
  readonly model: string;
  private readonly parts: CallParts;

  constructor(
    private readonly settings: EndpointSettings,
    parts: CallParts,
    readonly former?: Embedder | undefined,
  ) {
    // Vectors of different sizes cannot be compared.
    this.model = settings.dimensions === undefined
      ? settings.model
      : `${settings.model}@${settings.dimensions}`;
    this.parts = { ...parts, deadline: parts.deadline.part(EMBEDDINGS_DEADLINE_MILLISECONDS) };
  }

  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]> {
    return withRetries(
      this.parts,
      "embeddings",
      async (): Promise<Outcome<readonly (readonly number[])[]>> => {
        const answer = await this.post(texts).catch(() => null);
        if (answer === null) return { transient: "out of reach" };
        const { status, body } = answer;
        if (status === 408 || status === 429 || status >= 500) return { transient: String(status) };
        const { response } = await loadAnswers();
        const parsed = response.safeParse(body);
        if (status !== 200 || !parsed.success || parsed.data.data.length !== texts.length) {
          // The key, model or dimensions are wrong: the operator sees it in the log, and search works without embeddings.
          const reason = status === 200 ? "vectors of an unexpected shape or dimension" : String(status);
          this.parts.log.backendFault("embeddings", 0, reason);
          throw unavailable();
        }
        const sorted = parsed.data.data.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0));
        return { value: sorted.map(({ embedding }) => normalize(embedding)) };
      },
    );
  }

  private async post(texts: readonly string[]): Promise<{ status: number; body: unknown }> {
    const { url, model, apiKey, dimensions } = this.settings;
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({
        model,
        input: texts,
        ...(dimensions !== undefined && { dimensions }),
        encoding_format: "float",
      }),
      signal: AbortSignal.timeout(EMBEDDINGS_TIMEOUT_MILLISECONDS),
    });
    const text = await answer.text();
    return { status: answer.status, body: answer.status === 200 ? JSON.parse(text) : text };
  }
}

function normalize(embedding: readonly number[]): readonly number[] {
  const length = Math.hypot(...embedding);
  return length === 0 ? embedding : embedding.map((value) => value / length);
}
