/** @jsxImportSource preact */
/** A schema, unfolded: the fields of objects and of what lists hold, with type, bounds and meaning. */
import { type ApiDocument, type Schema, schemaOf } from "./document.ts";
import { Prose } from "./prose.tsx";
import { boundsOf, membersOf, typeOf } from "./schema_text.ts";

interface Properties {
  readonly document: ApiDocument;
  readonly schema: Schema;
  /** The named schemas around it: what holds itself is not unfolded again. */
  readonly around?: readonly string[];
}

export function SchemaView({ document, schema: given, around = [] }: Properties) {
  const { schema, name } = schemaOf(document, given);
  if (name !== "" && around.includes(name)) return <p class="hint">A {name} again.</p>;
  const inner = { document, around: name === "" ? around : [...around, name] };
  if (schema.items !== undefined) return <SchemaView {...inner} schema={schema.items} />;
  const { fields, choices } = membersOf(document, schema);
  return (
    <>
      {fields.length > 0 && (
        <dl class="members">
          {fields.map(({ name, isRequired, schema }) => (
            <div key={name}>
              <dt>
                <code>{name}</code>{" "}
                <span class="hint">
                  {typeOf(document, schema)}
                  {isRequired ? ", required" : ""}
                </span>
              </dt>
              <Meaning schema={schema} inner={inner} />
            </div>
          ))}
        </dl>
      )}
      {choices.map((choice, index) => (
        <div key={index}>
          {index > 0 && <p class="hint">or</p>}
          <SchemaView {...inner} schema={choice} />
        </div>
      ))}
    </>
  );
}

interface MeaningProperties {
  readonly schema: Schema;
  readonly inner: Omit<Properties, "schema">;
}

function Meaning({ schema, inner }: MeaningProperties) {
  const bounds = boundsOf(schemaOf(inner.document, schema).schema);
  return (
    <dd>
      {schema.description !== undefined && <Prose text={schema.description} />}
      {bounds !== "" && <p class="hint">{bounds}</p>}
      <SchemaView {...inner} schema={schema} />
    </dd>
  );
}
