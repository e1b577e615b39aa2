/** The schemas of /openapi.json for checking answers: compiled once, and without additional properties. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const COMPONENTS = "#/components/schemas/";

/** Compiles schemas of one document, each when it is first used. */
export class StrictSchemas {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: true, allErrors: false });
  readonly #compiled = new Map<object, ValidateFunction>();

  constructor(components: Readonly<Record<string, unknown>>) {
    addFormats.default(this.#ajv);
    for (const [name, schema] of Object.entries(components)) {
      this.#ajv.addSchema(Object(closed(schema)), name);
    }
  }

  /** Describes what is wrong with the value; null if nothing is. */
  complaint(schema: object, value: unknown): string | null {
    const validate = this.#compiled.get(schema) ?? this.#ajv.compile(Object(closed(schema)));
    this.#compiled.set(schema, validate);
    return validate(value) ? null : this.#ajv.errorsText(validate.errors, { dataVar: "body" }) +
      ` ${JSON.stringify(validate.errors?.map(({ params }) => params))}`;
  }
}

/**
 * Records in the document allow further fields, so that clients accept later ones. Here an undocumented field is a
 * fault.
 */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    copy[name] = name === "$ref" ? String(value).replace(COMPONENTS, "") : closed(value);
  }
  const isRecord = copy["type"] === "object" && typeof copy["properties"] === "object";
  return isRecord && copy["additionalProperties"] === undefined
    ? { ...copy, additionalProperties: false }
    : copy;
}
