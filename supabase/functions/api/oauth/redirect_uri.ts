/** Redirect URIs: which ones a client may have, and which one of them a request names. */
import { OAUTH_REDIRECT_URI_LENGTH_MAX } from "../limits.ts";

/** Schemes that a browser runs or reads itself, or that reach something else than an app by its own scheme. */
const NOT_OF_AN_APP = new Set(
  ("about blob data file filesystem ftp http https intent jar javascript mailto resource vbscript view-source ws wss")
    .split(" ").map((scheme) => `${scheme}:`),
);

/** `http` on the device itself, in three parts: the host, its port, the rest. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?((?:[/?].*)?)$/;

/**
 * `https` with a host, `http` on the device itself (RFC 8252 section 7.3), or an app's own scheme (section 7.1). No
 * fragment (RFC 6749 section 3.1.2), no user name, and nothing that URL parsers read differently: only printable
 * ASCII, no backslash.
 */
export function isRedirectUri(uri: string): boolean {
  if (uri.length > OAUTH_REDIRECT_URI_LENGTH_MAX || !/^[\x21-\x7e]+$/.test(uri) || /[\\#]/.test(uri)) {
    return false;
  }
  const url = URL.parse(uri);
  if (url === null || url.username !== "" || url.password !== "") return false;
  if (url.protocol === "https:") return /^https:\/\/[^/]/i.test(uri);
  if (url.protocol === "http:") return LOOPBACK.test(uri);
  return !NOT_OF_AN_APP.has(url.protocol);
}

/** Whether a request for `asked` goes to the registered URI: the same text, on loopback with any port. */
export function matchesRedirect(registered: string, asked: string): boolean {
  if (asked === registered) return true;
  const portless = withoutPort(registered);
  return portless !== undefined && portless === withoutPort(asked) && isRedirectUri(asked);
}

function withoutPort(uri: string): string | undefined {
  const [, host, rest] = LOOPBACK.exec(uri) ?? [];
  if (host === undefined || rest === undefined) return undefined;
  // "http://localhost:1" and "http://localhost:1/" are the same address.
  return rest.startsWith("/") ? host + rest : `${host}/${rest}`;
}

/** The host, with its port, that gets the code; "" for an app on the person's device, since any app there may claim it. */
export function hostOf(redirectUri: string): string {
  const url = URL.parse(redirectUri);
  const isOfTheWeb = url?.protocol === "https:" && !isLocalName(url.hostname);
  return isOfTheWeb ? url.host : "";
}

function isLocalName(name: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(name);
}
