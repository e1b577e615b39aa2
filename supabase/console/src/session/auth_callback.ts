/// <reference lib="dom" />
/** The parameters that an e-mail link, or the redirect from GitHub, adds to the address of the page. */

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

/** Stores the current place and the purpose of the link, and returns the URL to redirect to. */
export function prepareAuthCallback(purpose: AuthRequest["purpose"]): string {
  const { hash, origin, pathname } = globalThis.location;
  localStorage.setItem(AUTH_REQUEST, `${purpose} ${hash}`);
  return `${origin}${pathname}`;
}

/** Removes the parameters from the address and restores the stored place. Null if there are no parameters. */
export function readAuthCallback(): AuthCallback | null {
  const { search, hash, pathname } = globalThis.location;
  const fragment = new URLSearchParams(/^#[^/]/.test(hash) ? hash.slice(1) : "");
  const query = new URLSearchParams(search);
  const get = (name: string) => query.get(name) ?? fragment.get(name);
  const callback = parseCallback(get, pendingRequest());
  if (callback === null) return null;
  history.replaceState(null, "", `${pathname}${pendingRequest()?.hash ?? ""}`);
  localStorage.removeItem(AUTH_REQUEST);
  return callback;
}

function parseCallback(
  get: (name: string) => string | null,
  pending: AuthRequest | null,
): AuthCallback | null {
  const code = get("code");
  const accessToken = get("access_token");
  const refreshToken = get("refresh_token");
  const problem = get("error_description") ?? get("error");
  if (problem !== null) return { kind: "problem", message: `The link did not work: ${problem}.` };
  const isRecovery = pending?.purpose === "recovery" || get("type") === "recovery";
  if (code !== null) return { kind: "code", code, isRecovery };
  if (accessToken === null || refreshToken === null) return null;
  // A link that was requested elsewhere must not sign this browser in to another account.
  if (pending === null) {
    return {
      kind: "problem",
      message: "The link was not requested in this browser. Request a new one here.",
    };
  }
  return { kind: "tokens", accessToken, refreshToken, isRecovery };
}

function pendingRequest(): AuthRequest | null {
  const [purpose, hash = ""] = (localStorage.getItem(AUTH_REQUEST) ?? "").split(" ");
  return purpose === "sign-in" || purpose === "recovery" ? { purpose, hash } : null;
}
