/** The parts of a request that are validated before its body is read: its URL and headers. */
import { decodePath } from "./path.ts";
import type { Query } from "./query.ts";

/** Everything that the `parse` of a route reads. */
export interface RequestData {
  readonly params: ReturnType<typeof pathParameters>;
  readonly query: Query;
  readonly headers: Headers;
}

/** `/functions/v1/api/files/a%2Fb?x` → path `/files/a%2Fb`, query `x`. Nothing is decoded or normalized. */
export function splitUrl(url: string): { rawPath: string; rawQuery: string } {
  const [withoutFragment = ""] = url.split("#", 1);
  const start = withoutFragment.indexOf("/", withoutFragment.indexOf("://") + 3);
  const question = withoutFragment.indexOf("?");
  const end = question < 0 ? withoutFragment.length : question;
  const path = start < 0 || start > end ? "/" : withoutFragment.slice(start, end);
  const rawPath = path.replace(/^(\/functions\/v1)?\/api(?=\/|$)/, "");
  return {
    rawPath: rawPath === "" ? "/" : rawPath,
    rawQuery: question < 0 ? "" : withoutFragment.slice(question + 1),
  };
}

export function matches(pattern: string, rawPath: string): boolean {
  if (pattern.endsWith("/*")) return rawPath.startsWith(pattern.slice(0, -1));
  if (!pattern.includes(":")) return rawPath === pattern;
  const parts = pattern.split("/");
  const given = rawPath.split("/");
  return parts.length === given.length &&
    parts.every((part, index) => part.startsWith(":") ? given[index] !== "" : part === given[index]);
}

/**
 * The parameters of a raw path that matches the pattern. For `/*`, `path` is the decoded, valid path of a file; for
 * `:id`, `:name`, `:runId` or `:token`, `id` is the raw segment; otherwise they are "". Throws INVALID_PATH.
 */
export function pathParameters(pattern: string, rawPath: string) {
  const idAt = pattern.split("/").findIndex((part) => part.startsWith(":"));
  return {
    path: pattern.endsWith("/*") ? decodePath(rawPath.slice(pattern.length - 1)) : "",
    id: idAt < 0 ? "" : rawPath.split("/")[idAt] ?? "",
  };
}
