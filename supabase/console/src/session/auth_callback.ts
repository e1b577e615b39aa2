/** The parameters that an e-mail link, or the redirect from GitHub, adds to the page's address. */
import { AUTH_REQUEST_MILLISECONDS } from "../limits.ts";

export type AuthCallback =
  | { readonly kind: "code"; readonly code: string; readonly isRecovery: boolean }
  | {
    readonly kind: "tokens";
    readonly accessToken: string;
    readonly refreshToken: string;
    readonly isRecovery: boolean;
  }
  | { readonly kind: "problem"; readonly message: string };

interface AuthRequest {
  readonly purpose: "sign-in" | "recovery";
  readonly hash: string;
}

const AUTH_REQUEST = "filestore.auth-request";

/** Stores the current place and the purpose of the link, and returns the URL for the redirect. */
export function prepareAuthCallback(purpose: AuthRequest["purpose"]): string {
  const { hash, origin, pathname } = globalThis.location;
  localStorage.setItem(AUTH_REQUEST, `${purpose} ${Date.now()} ${hash}`);
  return `${origin}${pathname}`;
}

/**
 * Removes the parameters from the address and restores the stored place. Null if there are no parameters.
 *
 * Anybody can send a link, so a link must not sign a person in to the sender's account. A code works only in the browser
 * that requested it (PKCE): Auth compares it with a secret that never left this browser. Tokens have no such proof, so they
 * are accepted only with `takesTokens`, and only for a limited time after a link was requested here.
 */
export function readAuthCallback(takesTokens: boolean): AuthCallback | null {
  const { search, hash, pathname } = globalThis.location;
  const fragment = new URLSearchParams(/^#[^/]/.test(hash) ? hash.slice(1) : "");
  const query = new URLSearchParams(search);
  const get = (name: string) => query.get(name) ?? fragment.get(name);
  const pending = pendingRequest();
  const callback = parseCallback(get, pending, takesTokens);
  if (callback === null) return null;
  history.replaceState(history.state, "", `${pathname}${pending?.hash ?? ""}`);
  localStorage.removeItem(AUTH_REQUEST);
  return callback;
}

function parseCallback(
  get: (name: string) => string | null,
  pending: AuthRequest | null,
  takesTokens: boolean,
): AuthCallback | null {
  const code = get("code");
  const accessToken = get("access_token");
  const refreshToken = get("refresh_token");
  const problem = get("error_description") ?? get("error");
  if (problem !== null) return { kind: "problem", message: `The link did not work: ${problem}.` };
  if (code !== null) return { kind: "code", code, isRecovery: pending?.purpose === "recovery" };
  if (accessToken === null || refreshToken === null) return null;
  if (!takesTokens || pending === null) {
    return {
      kind: "problem",
      message: "The link was not requested in this browser. Request a new one here.",
    };
  }
  return { kind: "tokens", accessToken, refreshToken, isRecovery: pending.purpose === "recovery" };
}

/** Returns the request of this browser while its link can still be valid. */
function pendingRequest(): AuthRequest | null {
  const [purpose, time = "", hash = ""] = (localStorage.getItem(AUTH_REQUEST) ?? "").split(" ");
  const age = Date.now() - Number(time);
  if (purpose !== "sign-in" && purpose !== "recovery") return null;
  return age >= 0 && age <= AUTH_REQUEST_MILLISECONDS ? { purpose, hash } : null;
}
