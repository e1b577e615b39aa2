/** The query of a URL, decoded as strictly as the path. */
import { failField } from "../errors.ts";

/** Parameter name → its values in order. A parameter without `=` has the value null. */
export type Query = ReadonlyMap<string, readonly (string | null)[]>;

/** Splits a raw query (without `?`). A broken percent escape becomes a value that no schema accepts. */
export function parseQuery(raw: string): Query {
  const query = new Map<string, (string | null)[]>();
  for (const pair of raw.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decodeComponent(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? null : decodeComponent(pair.slice(equals + 1));
    const values = query.get(name);
    if (values) values.push(value);
    else query.set(name, [value]);
  }
  return query;
}

/** Replaces an escape that cannot be decoded: U+FFFE is a noncharacter, and no parameter allows it. */
const UNDECODABLE = "\uFFFE";

/** Decodes percent escapes once; undefined where one is malformed or not UTF-8 (RFC 3629). */
export function percentDecoded(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

function decodeComponent(raw: string): string {
  return percentDecoded(raw.replaceAll("+", " ")) ?? UNDECODABLE;
}

/** The named parameters as an object for a schema, without absent ones. Throws VALIDATION_ERROR for a repeated one. */
export function pick(query: Query, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const values = query.get(name);
    if (!values) continue;
    if (values.length > 1) failField(name, "must not be repeated");
    const value = values[0] ?? "";
    if (value.includes(UNDECODABLE)) failField(name, "has a percent escape that is malformed or not UTF-8");
    picked[name] = value;
  }
  return picked;
}

/** Whether a parameter is present, without a value or as `true`; `false` is absent. Throws VALIDATION_ERROR. */
export function isSet(query: Query, name: string): boolean {
  const value = pick(query, [name])[name] ?? "false";
  if (!["", "true", "false"].includes(value)) failField(name, "must be true, false or without a value");
  return value !== "false";
}
