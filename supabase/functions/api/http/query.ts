/** The query of a URL, decoded as strictly as its path. */
import { fail } from "../errors.ts";

/** Parameter name → its values in order. A parameter without `=` has the value null. */
export type Query = ReadonlyMap<string, readonly (string | null)[]>;

/** Splits a raw query (without `?`). Broken percent escapes are kept aside as values that no check accepts. */
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

/** U+FFFE is no character and stands for an escape that cannot be decoded: no parameter allows it. */
const UNDECODABLE = "\uFFFE";

function decodeComponent(raw: string): string {
  try {
    return decodeURIComponent(raw.replaceAll("+", " "));
  } catch {
    return UNDECODABLE;
  }
}

function refuse(name: string, reason: string): never {
  fail("VALIDATION_ERROR", `The query parameter \`${name}\` is not valid: ${reason}`, {
    issues: [{ path: name, reason }],
  });
}

/** Whether a parameter that has no value is present. Refuses it with a value, or twice. */
export function isPresent(query: Query, name: string): boolean {
  const values = query.get(name);
  if (!values) return false;
  if (values.length > 1) refuse(name, "given twice");
  if (values[0] !== null && values[0] !== "") refuse(name, "takes no value");
  return true;
}

/** The named parameters as an object for a schema; absent ones are left out. Refuses one that is given twice. */
export function pick(query: Query, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const values = query.get(name);
    if (!values) continue;
    if (values.length > 1) refuse(name, "given twice");
    const value = values[0] ?? "";
    if (value.includes(UNDECODABLE)) refuse(name, "has a percent escape that is broken or not UTF-8");
    picked[name] = value;
  }
  return picked;
}
