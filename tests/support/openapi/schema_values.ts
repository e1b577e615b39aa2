/** Random values that a JSON Schema of /openapi.json allows, often at its bounds. */
import type { Random } from "../random.ts";

type Json = Readonly<Record<string, unknown>>;

/** Longest text that is generated, even if the schema allows a longer one. */
const TEXT_LENGTH_MAX = 400;
const LIST_LENGTH_MAX = 4;

const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns a useful value for a field of which the schema allows any text, but only a few texts have an effect. */
export type Meaning = (name: string) => string | undefined;

export class SchemaValues {
  constructor(
    readonly random: Random,
    readonly components: Json,
    readonly meaning: Meaning,
  ) {}

  /** Returns a value that the schema allows; `name` is the field's or parameter's. */
  of(schema: unknown, name: string): unknown {
    if (!isJson(schema)) return null;
    const { random } = this;
    const { $ref, anyOf, oneOf } = schema;
    if (typeof $ref === "string") return this.of(this.components[$ref.split("/").at(-1) ?? ""], name);
    for (const choice of [anyOf, oneOf]) if (Array.isArray(choice)) return this.of(random.pick(choice), name);
    if ("const" in schema) return schema["const"];
    if (Array.isArray(schema["enum"])) return random.pick(schema["enum"]);
    switch (schema["type"]) {
      case "string":
        return this.#text(schema, name);
      case "integer":
      case "number":
        return this.#number(schema, name);
      case "boolean":
        return random.below(2) === 0;
      case "array": {
        const { minItems } = schema;
        const least = typeof minItems === "number" ? minItems : 0;
        return Array.from(
          { length: least + random.below(LIST_LENGTH_MAX) },
          () => this.of(schema["items"], name),
        );
      }
      case "object":
        return this.#record(schema);
      default:
        return null;
    }
  }

  #record({ properties, required }: Json): Json {
    const names = Array.isArray(required) ? required : [];
    const all = isJson(properties) ? Object.entries(properties) : [];
    return Object.fromEntries(
      all.filter(([name]) => names.includes(name) || this.random.below(3) === 0)
        .map(([name, schema]) => [name, this.of(schema, name)]),
    );
  }

  #number({ minimum, maximum }: Json, name: string): number {
    const meant = Number(this.meaning(name));
    if (Number.isInteger(meant) && this.random.below(10) > 0) return meant;
    const least = typeof minimum === "number" ? minimum : 0;
    const most = typeof maximum === "number" ? maximum : 2 ** 31 - 1;
    return this.random.pick([
      least,
      least,
      Math.min(least + 1, most),
      most,
      least + this.random.below(Math.min(most - least, 50) + 1),
    ]);
  }

  #text({ format, minLength, maxLength }: Json, name: string): string {
    const { random } = this;
    if (format === "date-time") return new Date(random.below(2 ** 31) * 1000).toISOString();
    const meant = this.meaning(name);
    if (meant !== undefined && random.below(10) > 0) return meant;
    if (format === "uuid") {
      return crypto.randomUUID().replace(/^.{8}/, random.below(2 ** 31).toString(16).padStart(8, "0"));
    }
    const least = typeof minLength === "number" ? minLength : 0;
    const most = Math.min(typeof maxLength === "number" ? maxLength : TEXT_LENGTH_MAX, TEXT_LENGTH_MAX);
    const length = random.pick([least, Math.min(least + 3, most), Math.min(least + 20, most), most]);
    return Array.from({ length }, () => random.pick([..."abcé✓ \n-_.0"])).join("");
  }
}
