/** JSON Schemas of OpenAPI 3.1 from the zod schemas that validate. */
import { z } from "zod";
import { isOpen } from "../http/validate.ts";

export type Json = Record<string, unknown>;

/**
 * `io`: whether a client sends it (`input`) or receives it. Objects that are sent are closed: a field that the service
 * does not know is refused. Those that are received stay open: a later version may add fields, and no client should
 * refuse them.
 */
export function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    reused: "inline",
    override: ({ zodSchema, jsonSchema }) => {
      // zod omits a default of a transformed string, but it is part of the description.
      if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue;
      // In a query numbers and booleans are strings of a certain form; the description shows what they stand for.
      if (jsonSchema.type !== "string") delete jsonSchema.pattern;
      // Needs the flag `u`, which validators do not set.
      if (jsonSchema.pattern?.includes("\\p{")) delete jsonSchema.pattern;
      // zod's pattern of a time is long, and the format says the same.
      if (jsonSchema.format === "date-time" || jsonSchema.format === "uuid") delete jsonSchema.pattern;
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      const isClosed = io === "input" && zodSchema instanceof z.ZodObject && !isOpen(zodSchema);
      if (isClosed) jsonSchema.additionalProperties = false;
    },
  });
  return rest;
}

/** Moves the named schemas, which zod repeats at each use, to `components/schemas`. */
export function hoistSchemas(given: Json): { hoisted: Json; schemas: Json } {
  const schemas: Json = {};
  const hoist = (value: unknown): Json =>
    JSON.parse(JSON.stringify(value, (name, inner) => {
      if (name === "$ref") return String(inner).replace("#/$defs/", "#/components/schemas/");
      if (name !== "$defs") return inner;
      Object.assign(schemas, hoist(inner));
      return undefined;
    }));
  return { hoisted: hoist(given), schemas };
}
