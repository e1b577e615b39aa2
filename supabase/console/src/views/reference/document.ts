/// <reference lib="dom" />
/** The parts of an OpenAPI 3.1 document that the page shows. */
import * as z from "zod/mini";
import { config } from "../../config.ts";

/** A JSON Schema, or a reference to one. */
export interface Schema {
  readonly $ref?: string | undefined;
  readonly type?: string | readonly string[] | undefined;
  readonly description?: string | undefined;
  readonly const?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly default?: unknown;
  readonly format?: string | undefined;
  readonly pattern?: string | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly required?: readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly items?: Schema | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly oneOf?: readonly Schema[] | undefined;
  readonly allOf?: readonly Schema[] | undefined;
}

const text = z.optional(z.string());
const count = z.optional(z.number());
const schemaSchema: z.ZodMiniType<Schema> = z.lazy(() =>
  z.object({
    $ref: text,
    type: z.optional(z.union([z.string(), z.array(z.string())])),
    description: text,
    const: z.optional(z.unknown()),
    enum: z.optional(z.array(z.unknown())),
    default: z.optional(z.unknown()),
    format: text,
    pattern: text,
    minimum: count,
    maximum: count,
    minLength: count,
    maxLength: count,
    minItems: count,
    maxItems: count,
    required: z.optional(z.array(z.string())),
    properties: z.optional(z.record(z.string(), schemaSchema)),
    items: z.optional(schemaSchema),
    anyOf: z.optional(z.array(schemaSchema)),
    oneOf: z.optional(z.array(schemaSchema)),
    allOf: z.optional(z.array(schemaSchema)),
  })
);

const parameterSchema = z.object({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z.boolean(),
  description: text,
  allowEmptyValue: z.optional(z.boolean()),
  schema: schemaSchema,
  example: z.optional(z.unknown()),
});
export type Parameter = z.infer<typeof parameterSchema>;

const contentSchema = z.record(
  z.string(),
  z.object({
    schema: z.optional(schemaSchema),
    example: z.optional(z.unknown()),
    examples: z.optional(z.record(z.string(), z.object({ value: z.unknown() }))),
  }),
);
export type Content = z.infer<typeof contentSchema>;

const responseSchema = z.object({
  $ref: text,
  description: text,
  content: z.optional(contentSchema),
});
export type Response = z.infer<typeof responseSchema>;

const operationSchema = z.object({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: text,
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(parameterSchema),
  requestBody: z.optional(z.object({ content: contentSchema })),
  responses: z.record(z.string(), responseSchema),
});

const documentSchema = z.object({
  info: z.object({ title: z.string(), version: z.string(), description: text }),
  tags: z.array(z.object({ name: z.string(), description: text })),
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.object({
    schemas: z.record(z.string(), schemaSchema),
    responses: z.record(z.string(), responseSchema),
  }),
});
export type ApiDocument = z.infer<typeof documentSchema>;

export interface Operation extends z.infer<typeof operationSchema> {
  /** In capitals. */
  readonly method: string;
  /** With its parameters in braces. */
  readonly path: string;
}

export function documentUrl(): string {
  return `${config().functionUrl}/openapi.json`;
}

/** Throws if it cannot be had, or is none. */
export async function loadDocument(signal: AbortSignal): Promise<ApiDocument> {
  const response = await fetch(documentUrl(), { signal });
  if (!response.ok) throw new Error(`The API's description could not be loaded (status ${response.status}).`);
  return parseDocument(await response.json());
}

/** Throws for what is no such document. */
export function parseDocument(document: unknown): ApiDocument {
  return documentSchema.parse(document);
}

/** In the order of the document. */
export function operationsOf({ paths }: ApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    }))
  );
}

/** A key can be sent with it, or nothing need be. */
export function takesKey({ security }: Operation): boolean {
  return security.length === 0 || security.some((one) => "apiKey" in one);
}

/** The response itself, where there is a reference to one. */
export function responseOf(document: ApiDocument, response: Response): Response {
  return document.components.responses[nameOf(response.$ref)] ?? response;
}

/** The schema itself, and the name that it is known by. */
export function schemaOf(document: ApiDocument, schema: Schema): { schema: Schema; name: string } {
  const name = nameOf(schema.$ref);
  return { schema: document.components.schemas[name] ?? schema, name };
}

function nameOf(reference = ""): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

/** The first example of a content, as JSON for people; empty where there is none. */
export function exampleText(content: Content[string] | undefined): string {
  const [first] = Object.values(content?.examples ?? {});
  const example = content?.example ?? first?.value;
  return example === undefined
    ? ""
    : typeof example === "string"
    ? example
    : JSON.stringify(example, null, 2);
}
