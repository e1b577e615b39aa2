/** Arguments of tools: flat schemas, lenient parsing, and error messages that a model can act on. */
import { z } from "zod";
import { fail } from "../errors.ts";
import { meantName, reasonOf } from "../http/validate.ts";
import { checkPath, normalizeDirectory } from "../http/path.ts";
import { INTEGER_MAX, MCP_UNKNOWN_ARGUMENTS_MAX, SEARCH_GLOB_LENGTH_MAX } from "../limits.ts";
import { unescapeHidden } from "../runtime/hidden_characters.ts";

type Property = Record<string, string | number | boolean | string[]>;

const NOT_WHOLE = "must be a whole number";

/** A text argument of `minLength` to `maxLength` UTF-16 code units. */
export function text(description: string, minLength = 0, maxLength = INTEGER_MAX) {
  const some = z.string("must be text")
    .refine((text) => text.isWellFormed(), "contains a lone surrogate, which cannot be stored as UTF-8");
  const long = minLength > 0 ? some.min(minLength, "must not be empty") : some;
  const bounded = maxLength < INTEGER_MAX
    ? long.max(maxLength, `must have at most ${maxLength} characters`)
    : long;
  return bounded.meta({ description });
}

const withoutNul = [(text: string) => !text.includes("\0"), "must not contain NUL"] as const;

/** A text argument that reaches the database, which cannot store NUL. */
export function plainText(description: string, maxLength: number) {
  return text(description, 1, maxLength).refine(...withoutNul).meta({ description });
}

export function whole(description: string, minimum: number, maximum = INTEGER_MAX) {
  return z.number(NOT_WHOLE).int(NOT_WHOLE)
    .min(minimum, `must be at least ${minimum}`)
    .max(maximum, `must be at most ${maximum}`)
    .meta({ description, ...maximum === INTEGER_MAX && { maximum: undefined } });
}

export function flag(description: string) {
  return z.boolean("must be true or false").default(false).meta({ description });
}

/** Undoes the escapes with which results show paths: a path cannot contain a backslash of its own. */
const asShown = (given: string) => unescapeHidden(given).replaceAll('\\"', '"');

/** The path; drops one leading slash, which models often write. Throws INVALID_PATH. */
export function parsePath(given: string): string {
  return checkPath(asShown(given).replace(/^\/(?=[^/])/, ""));
}

export function path(description = "The file's path, such as notes/plan.md.") {
  return text(description, 1).transform(parsePath);
}

/** A folder argument; "" stands for all files. */
export function folder(description: string) {
  return text(description).default("").transform((given) => normalizeDirectory(asShown(given))).meta({
    description,
  });
}

/** Undefined where the argument is absent or empty: all paths match. */
export const glob = text(
  "Only paths that match, such as *.md (a name, at any depth) or src/**/*.{ts,tsx} (below path).",
  0,
  SEARCH_GLOB_LENGTH_MAX,
).refine(...withoutNul).optional().transform((given) => given === "" ? undefined : given);

/** The JSON Schema that clients see: flat, since models fail at unions and nesting. */
export function schemaOfArguments(schema: z.ZodObject) {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: "input" });
  const shown: Record<string, Property> = JSON.parse(JSON.stringify(properties));
  return { type: "object" as const, properties: shown, required };
}
export type Arguments = ReturnType<typeof schemaOfArguments>;

/**
 * Parses the arguments by the schema. Ignores unknown arguments, but refuses one that looks like a misspelt known one:
 * a misspelt guard would not guard anything. Throws VALIDATION_ERROR, and INVALID_PATH for a path.
 */
export function parseArguments<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  { properties }: Arguments,
  given: unknown,
): z.infer<z.ZodObject<Shape>> {
  refuseMisspelt(Object.keys(properties), given);
  const result = schema.safeParse(normalize(properties, given ?? {}), { error: reasonOf });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const name = issue?.path.map(String).join(".") ?? "";
  const isMissing = name !== "" && (Reflect.get(Object(given), name) ?? null) === null;
  fail("VALIDATION_ERROR", `${name || "arguments"} ${isMissing ? "is required" : issue?.message}`);
}

function refuseMisspelt(known: readonly string[], given: unknown): void {
  const names = new Set(Object.keys(Object(given)));
  const unknown = [...names].filter((name) => !known.includes(name));
  if (unknown.length > MCP_UNKNOWN_ARGUMENTS_MAX) {
    fail(
      "VALIDATION_ERROR",
      `${unknown.length} of these arguments are unknown; send only those in the tool's schema`,
    );
  }
  const missing = known.filter((name) => !names.has(name));
  for (const name of unknown) {
    const meant = meantName(name, missing);
    if (meant !== undefined) fail("VALIDATION_ERROR", `${name} is not an argument; did you mean ${meant}?`);
  }
}

/** Drops null, which models send for absent arguments, and converts numbers and booleans that they send as text. */
function normalize(properties: Arguments["properties"], given: unknown): unknown {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
  const normalized: Record<string, unknown> = {};
  for (const [name, { type }] of Object.entries(properties)) {
    const value: unknown = Object.hasOwn(given, name) ? Reflect.get(given, name) : undefined;
    if (value === null || value === undefined) continue;
    const isText = typeof value === "string";
    if (isText && type === "integer" && /^-?\d{1,15}$/.test(value)) normalized[name] = Number(value);
    else if (isText && type === "boolean" && /^(true|false)$/.test(value)) {
      normalized[name] = value === "true";
    } else normalized[name] = value;
  }
  return normalized;
}
