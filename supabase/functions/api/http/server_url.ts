/** The address at which clients reach the service. */

/** Gateways remove `/functions/v1` from the path before the function sees it. */
const FUNCTION_PATH = "/functions/v1/api";

const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i;

/**
 * The public address of the service, without trailing slash: host and protocol as the gateway forwards them, since the
 * function sees those of a hop inside the platform. Where nothing precedes the route in the path, it was reached without
 * a gateway.
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

/** Without a port that is the scheme's own; null where that is no host. A forwarded host often comes without its port. */
function originOf(scheme: string, host: string, port: string): string | null {
  if (!HOST.test(host)) return null;
  const isComplete = port === "" || /:\d+$/.test(host);
  const url = URL.parse(`${scheme}//${host}${isComplete ? "" : `:${port}`}`);
  return url?.origin ?? null;
}
