/** What models answer. Loaded with the first text that is embedded. */
import { z } from "zod";
import { EMBEDDING_DIMENSIONS_MAX } from "../limits.ts";

export const vector = z.array(z.number()).min(1).max(EMBEDDING_DIMENSIONS_MAX);

/** https://platform.openai.com/docs/api-reference/embeddings */
export const response = z.object({
  data: z.array(z.object({ index: z.int().optional(), embedding: vector })),
});
