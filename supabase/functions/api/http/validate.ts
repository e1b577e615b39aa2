/**
 * Validates with zod, and reports issues in the form of the contract. Fields and query parameters that a route does not
 * know are refused, with the one that was probably meant: a misspelt guard or limit would have no effect.
 */
import { z } from "zod";
import { fail } from "../errors.ts";
import { UNKNOWN_NAME_LENGTH_SHOWN, UNKNOWN_NAMES_ITEMS_MAX, UNKNOWN_NAMES_REPORTED_MAX } from "../limits.ts";
import { pick, type Query } from "./query.ts";
import { counted } from "../runtime/counted.ts";

/**
 * The value as the schema parses it. Throws VALIDATION_ERROR with `details.issues`, also for fields that the schema
 * does not have, at any depth; `prefix` is put before the names of fields.
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown, prefix = ""): T {
  const unknown = unknownFields(schema, value, prefix);
  const result = schema.safeParse(value, { error: reasonOf });
  if (result.success && unknown.length === 0) return result.data;
  // Unknown fields first: a required field that is misspelt is also missing.
  const issues = [
    ...unknown,
    ...(result.error?.issues ?? []).map((issue) => ({
      path: prefix + issue.path.map(String).join("."),
      reason: issue.message,
    })),
  ];
  const [first] = issues;
  fail("VALIDATION_ERROR", first ? `${first.path || "The body"}: ${first.reason}` : "Not valid.", { issues });
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: "must be a UUID",
  datetime: "must be a time in ISO 8601 with a zone, such as 2026-01-31T12:00:00Z",
};

/** What is wrong with a value; undefined for issues that only our own schemas' messages can explain. */
export function reasonOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "invalid_value": {
      const values = issue.values.map((value) => JSON.stringify(value));
      return `must be ${values.length === 1 ? values[0] : `one of ${values.join(", ")}`}`;
    }
    case "too_small":
      if (issue.origin === "string" && Number(issue.minimum) === 1) return "must not be empty";
      return `must ${bound(issue.origin, "at least", Number(issue.minimum))}`;
    case "too_big":
      return `must ${bound(issue.origin, "at most", Number(issue.maximum))}`;
    case "invalid_format":
      return FORMATS[issue.format];
  }
}

function bound(origin: string, side: string, limit: number): string {
  if (origin === "string") return `have ${side} ${counted(limit, "character")}`;
  if (origin === "array") return `have ${side} ${counted(limit, "item")}`;
  return `be ${side} ${limit}`;
}

/** The parameters of a query as the schema parses them. Throws VALIDATION_ERROR. */
export function validateQuery<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  query: Query,
): z.output<z.ZodObject<Shape>> {
  return validate(schema, pick(query, Object.keys(schema.shape)));
}

interface Issue {
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
      : unknownReason("query parameter", name, known),
  }));
  const [first] = issues;
  if (!first) return;
  fail("VALIDATION_ERROR", `${first.path}: ${first.reason}`, { issues });
}

/** Issues for the fields of a value that its schema does not have, at any depth; at most UNKNOWN_NAMES_REPORTED_MAX. */
function unknownFields(schema: z.core.$ZodType, value: unknown, prefix = ""): Issue[] {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault;
  if (isWrapped) return unknownFields(schema.def.innerType, value, prefix);
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
    else if (known) found.push({ path: prefix + shown(name), reason: unknownReason("field", name, known) });
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

function unknownReason(what: string, name: string, known: readonly string[]): string {
  const meant = name.length <= UNKNOWN_NAME_LENGTH_SHOWN ? meantName(name, known) : undefined;
  if (meant !== undefined) return `is not a known ${what}; did you mean ${meant}?`;
  return `is not a known ${what}; ${known.length === 0 ? "there is none" : `known are ${known.join(", ")}`}`;
}

function shown(name: string): string {
  return name.length <= UNKNOWN_NAME_LENGTH_SHOWN ? name : `${name.slice(0, UNKNOWN_NAME_LENGTH_SHOWN)}…`;
}

/** Each row: names of the same thing, in lower case. If two of them are known, the earlier one is suggested. */
const SYNONYMS = [
  "ifversion expectedversion baseversion ifmatch version",
  "isbase64 base64 encoding",
  "directory pathprefix prefix folder dir root path",
  "path filepath file filename source from name",
  "destination dest target newpath to",
  "contenttype mimetype mediatype type",
  "content text body data",
  "oldstring oldstr oldtext old find",
  "newstring newstr newtext new replacement",
  "replaceall all global",
  "expectedoccurrences occurrences count",
  "dryrun preview simulate",
  "scopes permissions rights",
  "expiresat expires expiry expiresin ttl",
  "graceperiodseconds graceperiod grace",
  "keepversions maxversions versions",
  "keepdays maxdays maxage days",
  "limit pagesize perpage max maxresults top",
  "offset skip start page",
  "after cursor next pagetoken since",
  "before until",
  "at asof time timestamp date",
  "q query search pattern term",
  "wait timeout",
  "name label title",
].map((names) => names.split(" "));

/** Most wrong letters of a name that is still recognized. */
const WRONG_LETTERS_MAX = 2;

/** The most similar known name, or a known synonym; undefined if there is neither. */
export function meantName(name: string, known: readonly string[]): string | undefined {
  const given = lettersOf(name);
  const [nearest] = known
    .map((one) => ({ one, wrong: wrongLetters(given, lettersOf(one), WRONG_LETTERS_MAX) }))
    .filter(({ one, wrong }) => wrong <= lettersOf(one).length / 3)
    .toSorted((a, b) => a.wrong - b.wrong);
  if (nearest) return nearest.one;
  const synonyms = SYNONYMS.filter((names) => names.includes(given)).flat();
  return synonyms.flatMap((letters) => known.filter((one) => lettersOf(one) === letters))[0];
}

/** The letters of a name: those of `if_version`, `If-Version` and `ifVersion` are the same. */
function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}

/** Letters to change, add, remove or swap with the next one; Infinity where they are more than `most`. */
function wrongLetters(given: string, known: string, most: number): number {
  if (Math.abs(given.length - known.length) > most) return Infinity;
  let same = 0;
  while (same < given.length && given[same] === known[same]) same++;
  const [a, b] = [given.slice(same), known.slice(same)];
  if (a === b) return 0;
  if (most === 0) return Infinity;
  const isSwapped = a[0] === b[1] && a[1] === b[0];
  return 1 + Math.min(
    wrongLetters(a.slice(1), b, most - 1),
    wrongLetters(a, b.slice(1), most - 1),
    wrongLetters(a.slice(1), b.slice(1), most - 1),
    isSwapped ? wrongLetters(a.slice(2), b.slice(2), most - 1) : Infinity,
  );
}
