/** Makes API keys outside the database: it only ever sees their hash. */
import { apiKeyPrefix, generateApiKey, hashApiKey } from "../../functions/api/auth/api_key.ts";
import type { KeyToStore } from "./administration.ts";

/** A new key: what its owner gets, and what is stored of it. */
export async function newKey(): Promise<{ apiKey: string; stored: KeyToStore }> {
  const apiKey = generateApiKey();
  return { apiKey, stored: { hash: await hashApiKey(apiKey), prefix: apiKeyPrefix(apiKey) } };
}
