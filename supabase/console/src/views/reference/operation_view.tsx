/** @jsxImportSource preact */
/// <reference lib="dom" />
/** One operation: what it takes, what it answers, and a form that sends it. Drawn when it is unfolded. */
import { useState } from "preact/hooks";
import { CodeBlock } from "../../components/code_block.tsx";
import {
  type ApiDocument,
  type Content,
  exampleText,
  type Operation,
  type Response,
  responseOf,
  schemaOf,
  takesKey,
} from "./document.ts";
import { Prose } from "./prose.tsx";
import { RequestForm } from "./request_form.tsx";
import { SchemaView } from "./schema_view.tsx";
import { boundsOf, typeOf } from "./schema_text.ts";

interface Properties {
  readonly document: ApiDocument;
  readonly operation: Operation;
  readonly apiKey: string;
}

export function OperationView({ document, operation, apiKey }: Properties) {
  const [isOpen, setOpen] = useState(false);
  const { method, path, summary } = operation;
  return (
    <details class="operation" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span class={`method ${method.toLowerCase()}`}>{method}</span>
        <code>{path}</code>
        <span>{summary.replaceAll("`", "")}</span>
      </summary>
      {isOpen && <Body {...{ document, operation, apiKey }} />}
    </details>
  );
}

function Body({ document, operation, apiKey }: Properties) {
  const { description, parameters, requestBody, responses, operationId } = operation;
  return (
    <div class="operation-body">
      {description !== undefined && <Prose text={description} />}
      {parameters.length > 0 && <Parameters document={document} operation={operation} />}
      {requestBody !== undefined && (
        <>
          <h3>Body</h3>
          <ContentView
            document={document}
            content={requestBody.content}
            what={`the body of ${operationId}`}
          />
        </>
      )}
      <h3>Try it</h3>
      {takesKey(operation) ? <RequestForm {...{ document, operation, apiKey }} /> : (
        <p class="hint">
          No key may do this: it takes the token of an account, or the operator’s secret key.
        </p>
      )}
      <h3>Answers</h3>
      {Object.entries(responses).map(([status, response]) => (
        <ResponseView key={status} {...{ document, status, response, operationId }} />
      ))}
    </div>
  );
}

function Parameters({ document, operation: { parameters } }: Omit<Properties, "apiKey">) {
  return (
    <>
      <h3>Parameters</h3>
      <dl class="members">
        {parameters.map((parameter) => {
          const { name, in: place, required, description, schema } = parameter;
          const bounds = boundsOf(schemaOf(document, schema).schema);
          return (
            <div key={`${place} ${name}`}>
              <dt>
                <code>{name}</code>{" "}
                <span class="hint">
                  in {place}, {parameter.allowEmptyValue ? "without a value" : typeOf(document, schema)}
                  {required ? ", required" : ""}
                </span>
              </dt>
              <dd>
                {description !== undefined && <Prose text={description} />}
                {bounds !== "" && <p class="hint">{bounds}</p>}
              </dd>
            </div>
          );
        })}
      </dl>
    </>
  );
}

interface ResponseProperties {
  readonly document: ApiDocument;
  readonly status: string;
  readonly response: Response;
  readonly operationId: string;
}

function ResponseView({ document, status, response, operationId }: ResponseProperties) {
  const [isOpen, setOpen] = useState(false);
  const { description = "", content } = responseOf(document, response);
  const title = (
    <>
      <code>{status}</code> {description.replaceAll("`", "")}
    </>
  );
  if (content === undefined) return <p>{title}</p>;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && (
        <ContentView document={document} content={content} what={`the answer ${status} of ${operationId}`} />
      )}
    </details>
  );
}

interface ContentProperties {
  readonly document: ApiDocument;
  readonly content: Content;
  readonly what: string;
}

function ContentView({ document, content, what }: ContentProperties) {
  return (
    <>
      {Object.entries(content).map(([type, one]) => {
        const example = exampleText(one);
        return (
          <div key={type} class="step">
            <p class="hint">{type}</p>
            {one.schema?.description !== undefined && <Prose text={one.schema.description} />}
            {one.schema !== undefined && <SchemaView document={document} schema={one.schema} />}
            {example !== "" && <CodeBlock text={example} what={`an example of ${what}`} />}
          </div>
        );
      })}
    </>
  );
}
