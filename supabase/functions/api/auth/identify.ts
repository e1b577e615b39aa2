/** Identifies the caller from a request's headers, as far as possible without asking the database about a key. */
import { fail, failField } from "../errors.ts";
import type { Accounts } from "../ports/accounts.ts";
import type { KeyHash, RateView } from "../ports/answer.ts";
import { sha256Hex } from "../runtime/bytes.ts";
import { isAccessToken, isPersonsToken } from "./access_token.ts";
import { hashApiKey, isWellFormedApiKey } from "./api_key.ts";
import { hashAppToken, isAppToken } from "./app_token.ts";
import type { ConsoleSessions } from "./console_sessions.ts";
import type { KeyCache } from "./key_cache.ts";
import { type Client, countFailure, throwRefusal, throwUnauthenticated } from "./refusals.ts";

/**
 * The credentials that a route requires. `key`: a project's key, or the access token of the project's owner. `link`:
 * only the token in its address. `app`: the access token of an app that a person let in.
 */
export type Credentials = "none" | "key" | "account" | "account or key" | "secret key" | "link" | "app";

/** A signed-in account, and the project that the request names; null: none. */
export interface Account {
  readonly accessToken: string;
  readonly projectId: string | null;
}

export type Identity =
  | { readonly kind: "anonymous" | "operator" }
  | {
    readonly kind: "key";
    readonly keyHash: KeyHash;
    /** The owner whose console session the key stands for. */
    readonly owner: Account | null;
    /** Whether the database opened that session for this very request. */
    readonly isConfirmed: boolean;
    /** Whether the key is an app, and `keyHash` the hash of its access token. */
    readonly isApp?: true;
  }
  /** `keyHash` is the hash of the link's token. */
  | { readonly kind: "link"; readonly keyHash: KeyHash }
  | {
    readonly kind: "account";
    readonly account: Account;
    /** Whether `x-project-id` is malformed, which is reported once the access token has been verified. */
    readonly hasBadProjectId: boolean;
  };

export interface IdentifyParts extends Client {
  readonly accounts: Pick<Accounts, "openSession">;
  readonly sessions: ConsoleSessions;
  readonly keys: KeyCache;
  readonly secretKeys: readonly string[];
  /** Called with the account's window, where the response must show that one. */
  readonly onRate: (rate: RateView) => void;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Throws 401, 429 for an address that failed too often, or the refusal of a console session. */
export async function identify(
  headers: Headers,
  credentials: Credentials,
  parts: IdentifyParts,
): Promise<Identity> {
  switch (credentials) {
    case "none":
    case "link":
      return { kind: "anonymous" };
    case "secret key":
      return await identifyOperator(headers, parts);
    case "key":
      return await identifyKey(headers, parts);
    case "app":
      return await identifyApp(headers, parts);
    case "account":
    case "account or key":
      return await identifyAccount(headers, credentials === "account or key", parts);
  }
}

/** Compares digests, so that the duration reveals nothing. A wrong key counts as a failed authentication. */
async function identifyOperator(headers: Headers, parts: IdentifyParts): Promise<Identity> {
  const digest = (text: string) => sha256Hex(new TextEncoder().encode(text));
  const given = bearerOf(headers) ?? headers.get("apikey");
  const expected = await Promise.all(parts.secretKeys.map(digest));
  if (given && expected.includes(await digest(given))) return { kind: "operator" };
  countFailure(parts);
  fail("INVALID_API_KEY", "This route requires the Supabase project's secret key as a bearer token.");
}

async function identifyKey(headers: Headers, parts: IdentifyParts): Promise<Identity> {
  const bearer = bearerOf(headers) ?? "";
  const isOwner = !headers.has("x-api-key") && isAccessToken(bearer);
  if (isOwner) return await openConsole(bearer, headers, parts);
  const key = headers.get("x-api-key") ?? bearer;
  if (key === "") {
    throwUnauthenticated("INVALID_API_KEY", parts, "Send an API key in the header `x-api-key`.");
  }
  if (!isWellFormedApiKey(key)) throwUnauthenticated("INVALID_API_KEY", parts);
  const keyHash = await hashApiKey(key);
  if (parts.keys.isRefused(keyHash, parts.now())) throwUnauthenticated("INVALID_API_KEY", parts);
  return { kind: "key", keyHash, owner: null, isConfirmed: false };
}

export const APP_REFUSED = "The access token is not valid. Refresh it, or sign in again.";

/**
 * An app acts as a key. The first request of a client has no token, which is how it learns where to get one. No failure
 * is counted: nobody guesses a token, and the many people who use a hosted app have one address.
 */
async function identifyApp(headers: Headers, parts: IdentifyParts): Promise<Identity> {
  const token = bearerOf(headers) ?? "";
  if (token === "") fail("INVALID_API_KEY", "Sign in to get an access token: see `WWW-Authenticate`.");
  const keyHash = await hashAppToken(token);
  if (!isAppToken(token, "access") || parts.keys.isRefused(keyHash, parts.now())) {
    fail("INVALID_API_KEY", APP_REFUSED);
  }
  return { kind: "key", keyHash, owner: null, isConfirmed: false, isApp: true };
}

/** Opens the owner's console session, whose token stands for a key of the project on every file route. */
async function openConsole(accessToken: string, headers: Headers, parts: IdentifyParts): Promise<Identity> {
  const { sessions, accounts, now } = parts;
  if (!isPersonsToken(accessToken)) throwUnauthenticated("INVALID_SESSION", parts);
  const projectId = headers.get("x-project-id") ?? "";
  if (!UUID.test(projectId)) throwInvalidProjectId();
  const keyHash = await sessions.tokenHash(projectId.toLowerCase(), accessToken);
  const owner = { accessToken, projectId };
  const isOpen = sessions.isOpen(keyHash, now());
  if (!isOpen) {
    const answer = await accounts.openSession(accessToken, projectId, keyHash);
    if (!answer.ok) {
      if (answer.rate) parts.onRate(answer.rate);
      throwRefusal(answer.refusal, parts, answer.rate ?? parts.failedAuth.view(parts.address, now()));
    }
    sessions.remember(keyHash, accessToken, now());
  }
  return { kind: "key", keyHash, owner, isConfirmed: !isOpen };
}

/** Identifies an account by its access token, which the first call to the database verifies. */
async function identifyAccount(
  headers: Headers,
  mayBeKey: boolean,
  parts: IdentifyParts,
): Promise<Identity> {
  const bearer = bearerOf(headers) ?? "";
  const isKey = headers.has("x-api-key") || isWellFormedApiKey(bearer);
  if (mayBeKey && isKey) return await identifyKey(headers, parts);
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
