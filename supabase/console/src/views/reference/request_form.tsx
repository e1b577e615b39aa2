/** @jsxImportSource preact */
/// <reference lib="dom" />
/** Sends a request with the chosen key, and shows what comes back. */
import { useState } from "preact/hooks";
import { CodeBlock } from "../../components/code_block.tsx";
import { Field, SelectField, TextField } from "../../components/field.tsx";
import { FormProblem } from "../../components/states.tsx";
import { useSubmit } from "../../components/use_submit.ts";
import { config } from "../../config.ts";
import { type Answer, send } from "./answer.ts";
import { type ApiDocument, exampleText, type Operation, type Parameter, schemaOf } from "./document.ts";
import { curlLine, fieldOf, fieldsOf, missingIn, PRESENT, requestOf, type Values } from "./request.ts";

interface Properties {
  readonly document: ApiDocument;
  readonly operation: Operation;
  readonly apiKey: string;
}

export function RequestForm({ document, operation, apiKey }: Properties) {
  const content = operation.requestBody?.content ?? {};
  const types = Object.keys(content);
  const [values, setValues] = useState(() => startingValues(operation));
  const [type, setType] = useState(types[0] ?? "");
  const [text, setText] = useState(() => exampleText(content[type]));
  const [answer, setAnswer] = useState<Answer | null>(null);
  const body = types.length === 0 ? null : { type, text };
  const request = requestOf(config().functionUrl, operation, values, body, apiKey);
  const { isBusy, error, submit } = useSubmit(async () => {
    const [missing] = missingIn(operation, values);
    if (missing !== undefined) throw new Error(`${missing} is required.`);
    if (apiKey === "" && operation.security.length > 0) {
      throw new Error("Put in a key at the top of this page.");
    }
    setAnswer(await send(request));
  });
  const set = (name: string) => (value: string) => setValues({ ...values, [name]: value });
  return (
    <form onSubmit={submit} noValidate>
      <div class="request-fields">
        {fieldsOf(operation).map((one) => (
          <ParameterField
            key={fieldOf(one)}
            document={document}
            parameter={one}
            value={values[fieldOf(one)] ?? ""}
            onInput={set(fieldOf(one))}
          />
        ))}
      </div>
      {types.length > 1 && (
        <SelectField
          label="Content type"
          value={type}
          onChange={(next) => {
            setType(next);
            setText(exampleText(content[next]));
          }}
          options={types.map((one) => [one, one])}
        />
      )}
      {body !== null && (
        <Field label="Body">
          {(attributes) => (
            <textarea
              {...attributes}
              rows={Math.min(12, text.split("\n").length + 1)}
              spellcheck={false}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          )}
        </Field>
      )}
      <FormProblem error={error} fields={[]} />
      <button type="submit" class="primary" disabled={isBusy}>Send</button>
      <details>
        <summary>As a command</summary>
        <CodeBlock text={curlLine(request)} what={`the command for ${operation.operationId}`} />
      </details>
      {answer !== null && <AnswerView answer={answer} id={operation.operationId} />}
    </form>
  );
}

function AnswerView(
  { answer: { status, facts, text }, id }: { readonly answer: Answer; readonly id: string },
) {
  return (
    <div class="step">
      <p role="status">
        <span class={status < 400 ? "tag active" : "tag danger"}>{status}</span>{" "}
        <span class="hint">{facts.join(" · ")}</span>
      </p>
      {text !== "" && <CodeBlock text={text} what={`the answer of ${id}`} />}
    </div>
  );
}

/** What a request cannot do without. */
function startingValues(operation: Operation): Values {
  const required = fieldsOf(operation).filter((one) => one.required);
  return Object.fromEntries(required.map((one) => [fieldOf(one), String(one.example ?? "")]));
}

interface FieldProperties {
  readonly document: ApiDocument;
  readonly parameter: Parameter;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

function ParameterField({ document, parameter, value, onInput }: FieldProperties) {
  const { name, required, example, allowEmptyValue } = parameter;
  const { schema } = schemaOf(document, parameter.schema);
  const label = `${name} (${parameter.in}${required ? ", required" : ""})`;
  const choices = allowEmptyValue
    ? [PRESENT]
    : schema.enum?.map(String) ?? (schema.type === "boolean" ? ["true", "false"] : undefined);
  if (choices !== undefined) {
    return (
      <SelectField
        label={label}
        value={value}
        onChange={onInput}
        options={[["", "–"], ...choices.map((one) => [one, one] as const)]}
      />
    );
  }
  return (
    <TextField
      label={label}
      value={value}
      onInput={onInput}
      input={{
        autoComplete: "off",
        spellcheck: false,
        placeholder: String(example ?? schema.default ?? ""),
      }}
    />
  );
}
