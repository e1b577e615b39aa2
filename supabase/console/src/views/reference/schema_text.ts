/** What a schema says, in words. */
import { type ApiDocument, type Schema, schemaOf } from "./document.ts";

/** `string`, `list of Change`, `"write" or null`. */
export function typeOf(document: ApiDocument, given: Schema): string {
  const { schema, name } = schemaOf(document, given);
  if (name !== "") return name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.items !== undefined) return `list of ${typeOf(document, schema.items)}`;
  if (schema.type !== undefined) return [schema.type].flat().join(" or ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices === undefined) return schema.properties === undefined ? "any" : "object";
  return [...new Set(choices.map((choice) => typeOf(document, choice)))].join(" or ");
}

/** Bounds, format and values, of the schema or of what it allows beside null; empty where there are none. */
export function boundsOf(schema: Schema): string {
  const said = ownBounds(schema);
  const inner = [...schema.anyOf ?? [], ...schema.oneOf ?? []].map(ownBounds).filter((text) => text !== "");
  return [said, ...new Set(inner)].filter((text) => text !== "").join("; ");
}

function ownBounds(schema: Schema): string {
  const range = (least: number | undefined, most: number | undefined, unit: string) => {
    if (least === undefined && most === undefined) return undefined;
    const text = least === undefined
      ? `at most ${most}`
      : most === undefined
      ? `at least ${least}`
      : `${least} to ${most}`;
    return `${text}${unit}`;
  };
  return [
    schema.format,
    range(schema.minimum, schema.maximum, ""),
    range(schema.minLength || undefined, schema.maxLength, " characters"),
    range(schema.minItems, schema.maxItems, " entries"),
    schema.pattern && `pattern ${schema.pattern}`,
    schema.enum && `one of ${schema.enum.map((value) => String(value)).join(", ")}`,
    schema.default !== undefined && `default ${JSON.stringify(schema.default)}`,
  ].filter(Boolean).join("; ");
}

export interface Field {
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: Schema;
}

/** The fields of an object, with those of all that it has to be; and what it may be instead, if that has fields. */
export function membersOf(document: ApiDocument, schema: Schema): { fields: Field[]; choices: Schema[] } {
  const { properties = {}, required = [], anyOf = [], oneOf = [] } = joined(document, schema);
  const fields = Object.entries(properties).map(([name, inner]) => ({
    name,
    isRequired: required.includes(name),
    schema: inner,
  }));
  return { fields, choices: [...anyOf, ...oneOf].filter((choice) => hasMembers(document, choice)) };
}

/** One schema that says what all of `allOf` say. */
function joined(document: ApiDocument, { allOf = [], ...schema }: Schema): Schema {
  return allOf.reduce<Schema>(
    (whole, part) => merged(whole, joined(document, schemaOf(document, part).schema)),
    schema,
  );
}

/** Of two schemas for the same place, fields and all; the second one narrows what the first one says. */
function merged(first: Schema, second: Schema): Schema {
  const properties = { ...first.properties };
  for (const [name, inner] of Object.entries(second.properties ?? {})) {
    const before = properties[name];
    properties[name] = before === undefined ? inner : merged(before, inner);
  }
  const required = [...first.required ?? [], ...second.required ?? []];
  return { ...first, ...second, properties, required };
}

function hasMembers(document: ApiDocument, given: Schema): boolean {
  const { schema } = schemaOf(document, given);
  return schema.properties !== undefined || schema.items !== undefined || schema.$ref !== undefined ||
    [...schema.anyOf ?? [], ...schema.oneOf ?? [], ...schema.allOf ?? []].some((one) =>
      hasMembers(document, one)
    );
}
