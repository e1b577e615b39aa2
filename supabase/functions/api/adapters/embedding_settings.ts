/** The settings of an embeddings endpoint, as an operator gives them. */
import { EMBEDDING_DIMENSIONS_MAX } from "../limits.ts";

/**
 * The present endpoint, and that of the former model, if it still embeds queries; null where no endpoint is set. The
 * former model is named as in its stored vectors: `model`, or `model@dimensions` if a number of dimensions was requested.
 * Throws an error that names a missing or invalid setting.
 */
export function embeddingSettings(setting: (name: string) => string | undefined) {
  const url = setting("EMBEDDINGS_URL");
  if (!url) return null;
  const model = setting("EMBEDDINGS_MODEL");
  if (!model) throw new Error("EMBEDDINGS_MODEL is not set.");
  const apiKey = setting("EMBEDDINGS_API_KEY");
  const dimensions = dimensionsOf("EMBEDDINGS_DIMENSIONS", setting("EMBEDDINGS_DIMENSIONS"));
  const former = setting("EMBEDDINGS_FORMER_MODEL");
  return {
    present: { url, model, apiKey, dimensions },
    former: former
      ? {
        ...modelOf(former),
        url: setting("EMBEDDINGS_FORMER_URL") || url,
        apiKey: setting("EMBEDDINGS_FORMER_API_KEY") || apiKey,
      }
      : undefined,
  };
}

function modelOf(name: string): { model: string; dimensions: number | undefined } {
  const [, model = name, dimensions] = /^(.+)@(\d+)$/.exec(name) ?? [];
  return { model, dimensions: dimensionsOf("The number after @ in EMBEDDINGS_FORMER_MODEL", dimensions) };
}

function dimensionsOf(what: string, value: string | undefined): number | undefined {
  if (!value) return undefined;
  const dimensions = /^\d+$/.test(value) ? Number(value) : NaN;
  if (!(dimensions >= 1 && dimensions <= EMBEDDING_DIMENSIONS_MAX)) {
    throw new Error(`${what} must be a whole number from 1 to ${EMBEDDING_DIMENSIONS_MAX}.`);
  }
  return dimensions;
}
