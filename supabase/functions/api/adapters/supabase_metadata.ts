/** The ports of the database over supabase-js: calls by key, by account, and without either. */
import type { PostgrestError, SupabaseClient } from "@supabase/supabase-js";
import type { z } from "zod";
import { type Accounts, accountsOver } from "../ports/accounts.ts";
import type { Call, CallInternal, Values } from "../ports/calls.ts";
import { type Metadata, metadataOver } from "../ports/metadata.ts";
import { type SearchIndex, searchIndexOver } from "../ports/search_index.ts";
import { lazy } from "../runtime/lazy.ts";
import { type CallParts, type Outcome, withRetries } from "./backend.ts";
import { callFunction, isApiKeyRefused, REFUSED } from "./rpc.ts";

type Schemas = { readonly [Name in keyof Values]: z.ZodType<Values[Name]> };
const loadSchemas = lazy((): Promise<Schemas> => import("../ports/schemas.ts"));

export function supabaseMetadata(client: SupabaseClient, parts: CallParts): Metadata {
  const call: Call = async (name, { keyHash, requestId }, parameters, schema) => {
    let isAmbiguous = false;
    const onLost = () => void (isAmbiguous = true);
    const [data, schemas] = await Promise.all([
      callFunction(client, parts, name, { keyHash, requestId, ...parameters }, { onLost }),
      loadSchemas(),
    ]);
    const { rate = null, grant = null, value, refusal, segments } = schemas.keyEnvelope.parse(data);
    const common = { rate, grant, isAmbiguous };
    return refusal
      ? { ...common, ok: false, refusal: { ...refusal, segments } }
      : { ...common, ok: true, value: schemas[schema].parse(value) };
  };
  return metadataOver(call, internalCalls(() => client, parts), async (accountId) => {
    await withRetries(parts, "delete user", async (): Promise<Outcome<true>> => {
      const { error } = await client.auth.admin.deleteUser(accountId);
      // An earlier call whose answer was lost may have removed the user already.
      if (error === null || error.code === "user_not_found") return { value: true };
      return { transient: error.code ?? String(error.status ?? error.name) };
    });
  });
}

export function supabaseSearchIndex(client: () => SupabaseClient, parts: CallParts): SearchIndex {
  return searchIndexOver(internalCalls(client, parts));
}

function internalCalls(client: () => SupabaseClient, parts: CallParts): CallInternal {
  return async (name, parameters, schema) => {
    const data = await callFunction(client(), parts, name, parameters, { mayBeNull: true });
    return (await loadSchemas())[schema].parse(data);
  };
}

/** `client` has the publishable key, which may not call these functions without an account's token. */
export function supabaseAccounts(client: () => SupabaseClient, parts: CallParts): Accounts {
  return accountsOver(async (accessToken, name, parameters) => {
    const options = { accessToken, valueForError: invalidSession };
    const data = await callFunction(client(), parts, name, parameters, options);
    const { rate = null, value, refusal } = (await loadSchemas()).envelope.parse(data);
    return refusal ? { rate, ok: false, refusal } : { rate, ok: true, value };
  });
}

/** The answer where the token is refused before the function runs. */
function invalidSession(status: number, error: PostgrestError): unknown {
  if (isApiKeyRefused(status, error)) return undefined;
  return status === 401 || status === 403 || REFUSED.test(error.code)
    ? { refusal: { code: "INVALID_SESSION", details: {} } }
    : undefined;
}
