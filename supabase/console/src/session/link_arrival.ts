/// <reference lib="dom" />
/** What a link in a mail, or the way back from GitHub, leaves in the page's address. */

export type LinkArrival =
  | { readonly kind: "code"; readonly code: string; readonly isRecovery: boolean }
  | {
    readonly kind: "tokens";
    readonly accessToken: string;
    readonly refreshToken: string;
    readonly isRecovery: boolean;
  }
  | { readonly kind: "problem"; readonly message: string };

interface Departure {
  readonly purpose: "sign-in" | "recovery";
  readonly hash: string;
}

const DEPARTURE = "filestore.departure";

/** Remembers where the person was and why a link was asked for; answers the address that the link leads to. */
export function rememberDeparture(purpose: Departure["purpose"]): string {
  const { hash, origin, pathname } = globalThis.location;
  localStorage.setItem(DEPARTURE, `${purpose} ${hash}`);
  return `${origin}${pathname}`;
}

/** Takes the link's parameters out of the address and puts the remembered place back. */
export function readLink(): LinkArrival | null {
  const { search, hash, pathname } = globalThis.location;
  const fragment = new URLSearchParams(/^#[^/]/.test(hash) ? hash.slice(1) : "");
  const query = new URLSearchParams(search);
  const get = (name: string) => query.get(name) ?? fragment.get(name);
  const arrival = arrivalFrom(get, departure());
  if (arrival === null) return null;
  history.replaceState(null, "", `${pathname}${departure()?.hash ?? ""}`);
  localStorage.removeItem(DEPARTURE);
  return arrival;
}

function arrivalFrom(get: (name: string) => string | null, left: Departure | null): LinkArrival | null {
  const code = get("code");
  const accessToken = get("access_token");
  const refreshToken = get("refresh_token");
  const problem = get("error_description") ?? get("error");
  if (problem !== null) return { kind: "problem", message: `The link did not work: ${problem}.` };
  const isRecovery = left?.purpose === "recovery" || get("type") === "recovery";
  if (code !== null) return { kind: "code", code, isRecovery };
  if (accessToken === null || refreshToken === null) return null;
  // Somebody else's link must not sign this browser in to somebody else's account.
  if (left === null) {
    return {
      kind: "problem",
      message: "The link was not asked for in this browser. Ask for a new one here.",
    };
  }
  return { kind: "tokens", accessToken, refreshToken, isRecovery };
}

function departure(): Departure | null {
  const [purpose, hash = ""] = (localStorage.getItem(DEPARTURE) ?? "").split(" ");
  return purpose === "sign-in" || purpose === "recovery" ? { purpose, hash } : null;
}
