/** Refuses fields and query parameters that a route does not know, and names the one that was probably meant. */
import { z } from "zod";
import { fail } from "../errors.ts";
import { UNKNOWN_NAME_LENGTH_SHOWN, UNKNOWN_NAMES_ITEMS_MAX, UNKNOWN_NAMES_REPORTED_MAX } from "../limits.ts";
import { meantName } from "./meant_names.ts";
import type { Query } from "./query.ts";

/** An item of `details.issues`. */
export interface Issue {
  readonly path: string;
  readonly reason: string;
}

/** Query parameters that platforms and tools add to any address. */
const OF_PLATFORM = /^(_.*|forceFunctionRegion)$/s;

/** Throws VALIDATION_ERROR for query parameters that the schema does not have. `body` is the schema of the route's body. */
export function refuseUnknownParameters(
  query: Query,
  schema: z.ZodType | undefined,
  body: z.ZodType | undefined,
): void {
  const known = fieldsOf(schema);
  const ofBody = fieldsOf(body);
  const unknown = [...query.keys()].filter((name) => !known.includes(name) && !OF_PLATFORM.test(name));
  const issues = unknown.slice(0, UNKNOWN_NAMES_REPORTED_MAX).map((name) => ({
    path: shown(name),
    reason: ofBody.includes(name)
      ? "is a field of the JSON body, not a query parameter"
      : reasonOf("query parameter", name, known),
  }));
  const [first] = issues;
  if (!first) return;
  fail("VALIDATION_ERROR", `The query parameter \`${first.path}\` is not valid: ${first.reason}`, { issues });
}

/** Issues for the fields of a value that its schema does not have, at any depth; at most UNKNOWN_NAMES_REPORTED_MAX. */
export function unknownFields(schema: z.core.$ZodType, value: unknown, prefix = ""): Issue[] {
  if (isWrapped(schema)) return unknownFields(schema.def.innerType, value, prefix);
  if (schema instanceof z.ZodPipe) return unknownFields(schema.def.in, value, prefix);
  if (typeof value !== "object" || value === null) return [];
  if (schema instanceof z.ZodUnion) return unknownToUnion(schema, value, prefix);
  if (Array.isArray(value) !== schema instanceof z.ZodArray) return [];
  const known = schema instanceof z.ZodObject && !isOpen(schema) ? Object.keys(schema.shape) : null;
  const found: Issue[] = [];
  // The schema refuses a longer list for its length.
  const examined = Array.isArray(value) ? value.slice(0, UNKNOWN_NAMES_ITEMS_MAX) : value;
  for (const [name, inner] of Object.entries(examined)) {
    if (found.length >= UNKNOWN_NAMES_REPORTED_MAX) break;
    const field = fieldOf(schema, name);
    if (field) found.push(...unknownFields(field, inner, `${prefix}${name}.`));
    else if (known) found.push({ path: prefix + shown(name), reason: reasonOf("field", name, known) });
  }
  return found.slice(0, UNKNOWN_NAMES_REPORTED_MAX);
}

/** The issues by the option that the discriminator selects, or without one by the option with the fewest issues. */
function unknownToUnion(schema: z.ZodUnion, value: object, prefix: string): Issue[] {
  const discriminator = schema instanceof z.ZodDiscriminatedUnion ? schema.def.discriminator : undefined;
  const options = discriminator === undefined ? schema.options : schema.options.filter((option) => {
    const kind = fieldOf(option, discriminator);
    return kind instanceof z.ZodLiteral && kind.values.has(Reflect.get(value, discriminator));
  });
  const [fewest = []] = options.map((option) => unknownFields(option, value, prefix))
    .toSorted((a, b) => a.length - b.length);
  return fewest;
}

function isWrapped(schema: z.core.$ZodType): schema is z.ZodOptional | z.ZodNullable | z.ZodDefault {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
}

/** The schema of a field, or of an element. */
function fieldOf(schema: z.core.$ZodType, name: string): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodArray) return schema.def.element;
  return schema instanceof z.ZodObject && Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
}

/** Whether the schema accepts fields that it does not name. */
export function isOpen({ def: { catchall } }: z.ZodObject): boolean {
  return catchall !== undefined && !(catchall instanceof z.ZodNever);
}

function fieldsOf(schema: z.core.$ZodType | undefined): readonly string[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(fieldsOf);
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function reasonOf(what: string, name: string, known: readonly string[]): string {
  const meant = name.length <= UNKNOWN_NAME_LENGTH_SHOWN ? meantName(name, known) : undefined;
  if (meant !== undefined) return `is not a known ${what}; did you mean ${meant}?`;
  return `is not a known ${what}; ${known.length === 0 ? "there is none" : `known are ${known.join(", ")}`}`;
}

function shown(name: string): string {
  return name.length <= UNKNOWN_NAME_LENGTH_SHOWN ? name : `${name.slice(0, UNKNOWN_NAME_LENGTH_SHOWN)}…`;
}
