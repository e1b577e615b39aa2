/** From a request's headers to who is calling, as far as that can be decided without asking the database about a key. */
import { fail, failField } from "../errors.ts";
import type { Accounts } from "../ports/accounts.ts";
import type { KeyHash, RateView } from "../ports/answer.ts";
import { sha256Hex } from "../runtime/sha256.ts";
import { isAccessToken, isPersonsToken } from "./access_token.ts";
import { hashApiKey, isWellFormedApiKey } from "./api_key.ts";
import type { ConsoleSessions } from "./console_sessions.ts";
import type { KeyCache } from "./key_cache.ts";
import { type Client, countFailure, throwRefusal, throwUnauthenticated } from "./refusals.ts";

/**
 * What a route requires: `key` takes a project's key, or the access token of the project's owner; `link` nothing but the
 * token in its own address.
 */
export type Credentials = "none" | "key" | "account" | "account or key" | "secret key" | "link";

/** A signed-in account, and which of its projects the request is about; null: not said. */
export interface Account {
  readonly accessToken: string;
  readonly projectId: string | null;
}

export type Identity =
  | { readonly kind: "anonymous" }
  | { readonly kind: "operator" }
  | {
    readonly kind: "key";
    readonly keyHash: KeyHash;
    /** The owner whose console session the key stands for. */
    readonly owner: Account | null;
    /** Whether the database opened that session for this very request. */
    readonly isConfirmed: boolean;
  }
  /** The hash is that of the link's token. */
  | { readonly kind: "link"; readonly keyHash: KeyHash }
  | {
    readonly kind: "account";
    readonly account: Account;
    /** `x-project-id` is malformed: to be reported once the access token was verified. */
    readonly hasBadProjectId: boolean;
  };

export interface IdentifyParts extends Client {
  readonly accounts: Pick<Accounts, "openSession">;
  readonly sessions: ConsoleSessions;
  readonly keys: KeyCache;
  /** Secret keys of the Supabase project. */
  readonly secretKeys: readonly string[];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Is told the account's window, where it is what a response has to show. */
type OnRate = (rate: RateView) => void;

/** Throws 401, 429 for an address that failed too often, or what opening a console session is refused with. */
export async function identify(
  headers: Headers,
  credentials: Credentials,
  parts: IdentifyParts,
  onRate: OnRate,
): Promise<Identity> {
  switch (credentials) {
    case "none":
    case "link":
      return { kind: "anonymous" };
    case "secret key":
      return await identifyOperator(headers, parts);
    case "key":
      return await identifyKey(headers, parts, onRate);
    case "account":
    case "account or key":
      return await identifyAccount(headers, credentials === "account or key", parts, onRate);
  }
}

/** Digests are compared, so the time it takes reveals nothing. A wrong key counts as any failed authentication. */
async function identifyOperator(headers: Headers, parts: IdentifyParts): Promise<Identity> {
  const digest = (text: string) => sha256Hex(new TextEncoder().encode(text));
  const given = bearerOf(headers) ?? headers.get("apikey");
  const expected = await Promise.all(parts.secretKeys.map(digest));
  if (given && expected.includes(await digest(given))) return { kind: "operator" };
  countFailure(parts);
  fail("INVALID_API_KEY", "This route requires the Supabase project's secret key.");
}

async function identifyKey(headers: Headers, parts: IdentifyParts, onRate: OnRate): Promise<Identity> {
  const bearer = bearerOf(headers) ?? "";
  const isOwner = !headers.has("x-api-key") && isAccessToken(bearer);
  if (isOwner) return await openConsole(bearer, headers, parts, onRate);
  const key = headers.get("x-api-key") ?? bearer;
  if (!isWellFormedApiKey(key)) throwUnauthenticated("INVALID_API_KEY", parts);
  const keyHash = await hashApiKey(key);
  if (parts.keys.isRefused(keyHash, parts.now())) throwUnauthenticated("INVALID_API_KEY", parts);
  return { kind: "key", keyHash, owner: null, isConfirmed: false };
}

/** The owner of a project uses every file route with a token that stands for a key of it. */
async function openConsole(
  accessToken: string,
  headers: Headers,
  parts: IdentifyParts,
  onRate: OnRate,
): Promise<Identity> {
  const { sessions, accounts, now } = parts;
  if (!isPersonsToken(accessToken)) throwUnauthenticated("INVALID_SESSION", parts);
  const projectId = headers.get("x-project-id") ?? "";
  if (!UUID.test(projectId)) throwInvalidProjectId();
  const keyHash = await sessions.tokenHash(projectId.toLowerCase(), accessToken);
  const owner = { accessToken, projectId };
  const isOpen = await sessions.isOpen(accessToken, projectId, now());
  if (!isOpen) {
    const answer = await accounts.openSession(accessToken, projectId, keyHash);
    if (!answer.ok) {
      if (answer.rate) onRate(answer.rate);
      throwRefusal(answer.refusal, parts, answer.rate ?? parts.failedAuth.view(parts.address, now()));
    }
    await sessions.remember(accessToken, projectId, now());
  }
  return { kind: "key", keyHash, owner, isConfirmed: !isOpen };
}

/** An access token, which the first call to the database verifies. */
async function identifyAccount(
  headers: Headers,
  mayBeKey: boolean,
  parts: IdentifyParts,
  onRate: OnRate,
): Promise<Identity> {
  const bearer = bearerOf(headers) ?? "";
  const isKey = headers.has("x-api-key") || isWellFormedApiKey(bearer);
  if (mayBeKey && isKey) return await identifyKey(headers, parts, onRate);
  if (isKey || !isAccessToken(bearer) || !isPersonsToken(bearer)) {
    throwUnauthenticated("INVALID_SESSION", parts);
  }
  const projectId = headers.get("x-project-id");
  const hasBadProjectId = projectId !== null && !UUID.test(projectId);
  const account = { accessToken: bearer, projectId: hasBadProjectId ? null : projectId };
  return { kind: "account", account, hasBadProjectId };
}

function bearerOf(headers: Headers): string | undefined {
  return headers.get("authorization")?.match(/^Bearer +(.*)$/i)?.[1];
}

export function throwInvalidProjectId(): never {
  failField("x-project-id", "must be the id of a project");
}
