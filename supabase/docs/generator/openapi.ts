/** The parts of the OpenAPI document that the tables show. */
import { z } from "zod";
import { allRoutes } from "../../functions/api/routes/mod.ts";
import { openapiDocument } from "../../functions/api/openapi/document.ts";

const ROUTES = await allRoutes();

const property = z.looseObject({
  type: z.unknown().optional(),
  const: z.unknown().optional(),
  // The empty string means that the parameter may be sent without a value; the documents leave it out.
  enum: z.array(z.string()).transform((values) => values.filter((value) => value !== "")).optional(),
});
/** An array whose objects are of several kinds; one of their fields names the kind. */
const list = property.extend({
  items: z.looseObject({
    oneOf: z.array(z.looseObject({
      properties: z.record(z.string(), property).optional(),
      required: z.array(z.string()).optional(),
    })).optional(),
  }).optional(),
});
const fields = z.looseObject({
  properties: z.record(z.string(), list).optional(),
  required: z.array(z.string()).optional(),
});
export type Fields = z.infer<typeof fields>;

/** A body of several forms has `anyOf`, or `oneOf` if a field names the form. */
const body = fields.extend({ anyOf: z.array(fields).optional(), oneOf: z.array(fields).optional() });

const operation = z.looseObject({
  summary: z.string(),
  security: z.array(z.record(z.string(), z.unknown())),
  parameters: z.array(z.looseObject({
    name: z.string(),
    in: z.enum(["path", "query", "header"]),
    required: z.boolean(),
    schema: property,
  })),
  requestBody: z.looseObject({
    content: z.looseObject({
      "application/json": z.looseObject({ schema: body }).optional(),
      "application/octet-stream": z.unknown().optional(),
    }),
  }).optional(),
});
export type Operation = z.infer<typeof operation>;

/** Path → method in lower case → operation. */
export const PATHS = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) })
  .parse(openapiDocument(ROUTES)).paths;
