/** API keys are generated outside the database, which only receives their hash. */
import { apiKeyPrefix, generateApiKey, hashApiKey } from "../../functions/api/auth/api_key.ts";
import type { KeyToStore } from "./administration.ts";

/** Generates a key: `apiKey` is for its user, `stored` is for the database. */
export async function newKey(): Promise<{ apiKey: string; stored: KeyToStore }> {
  const apiKey = generateApiKey();
  return { apiKey, stored: { hash: await hashApiKey(apiKey), prefix: apiKeyPrefix(apiKey) } };
}
