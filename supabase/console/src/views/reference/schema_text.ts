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
  const parts = [schema, ...(schema.allOf ?? []).map((part) => schemaOf(document, part).schema)];
  const fields = new Map<string, Field>();
  for (const { properties = {}, required = [] } of parts) {
    for (const [name, inner] of Object.entries(properties)) {
      const before = fields.get(name);
      fields.set(name, {
        name,
        isRequired: before?.isRequired || required.includes(name),
        schema: { ...before?.schema, ...inner },
      });
    }
  }
  const choices = parts.flatMap(({ anyOf = [], oneOf = [] }) => [...anyOf, ...oneOf]);
  return { fields: [...fields.values()], choices: choices.filter((choice) => hasMembers(document, choice)) };
}

function hasMembers(document: ApiDocument, given: Schema): boolean {
  const { schema } = schemaOf(document, given);
  return schema.properties !== undefined || schema.items !== undefined || schema.$ref !== undefined ||
    [...schema.anyOf ?? [], ...schema.oneOf ?? [], ...schema.allOf ?? []].some((one) =>
      hasMembers(document, one)
    );
}
