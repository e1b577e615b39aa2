/** The address at which clients reach the service. */

/** Gateways remove `/functions/v1` from the path before the function sees it. */
const FUNCTION_PATH = "/functions/v1/api";

const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i;

/**
 * The public address of the service, without trailing slash. It has the host and protocol that the gateway forwards,
 * since the request's own are those of a hop inside the platform. A path without `/api` was requested without a
 * gateway.
 */
export function serverUrl({ url, headers }: Request): string {
  const { protocol, host, pathname } = new URL(url);
  const first = (name: string) => headers.get(name)?.split(",", 1)[0]?.trim() ?? "";
  const forwarded = first("x-forwarded-proto");
  const scheme = /^https?$/.test(forwarded) ? `${forwarded}:` : protocol;
  const origin = originOf(scheme, first("x-forwarded-host"), first("x-forwarded-port")) ??
    originOf(scheme, host, "") ?? "";
  return /^(\/functions\/v1)?\/api\//.test(pathname) ? origin + FUNCTION_PATH : origin;
}

/** The origin, without the scheme's default port; null where `host` is not valid. A forwarded host often lacks its port. */
function originOf(scheme: string, host: string, port: string): string | null {
  if (!HOST.test(host)) return null;
  const isComplete = port === "" || /:\d+$/.test(host);
  const url = URL.parse(`${scheme}//${host}${isComplete ? "" : `:${port}`}`);
  return url?.origin ?? null;
}
