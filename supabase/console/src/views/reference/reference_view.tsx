/** @jsxImportSource preact */
/// <reference lib="dom" />
/** The API as it describes itself in `/openapi.json`, with a form for each request. */
import { useState } from "preact/hooks";
import { Field, TextField } from "../../components/field.tsx";
import { Loading, Problem } from "../../components/states.tsx";
import { madeKey } from "../../state/made_key.ts";
import { hrefOf } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";
import { type ApiDocument, documentUrl, loadDocument, type Operation, operationsOf } from "./document.ts";
import { OperationView } from "./operation_view.tsx";
import { Prose } from "./prose.tsx";

export function ReferenceView({ projectId }: { readonly projectId: string }) {
  const { data: document, error, reload } = useLoad("openapi", loadDocument);
  const [apiKey, setApiKey] = useState(madeKey(projectId)?.key ?? "");
  const [wanted, setWanted] = useState("");
  return (
    <section class="view reference" aria-labelledby="reference-title">
      <div class="view-head">
        <h1 id="reference-title">API reference</h1>
        <a class="button" href={documentUrl()} target="_blank" rel="noreferrer">openapi.json</a>
      </div>
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      {document === undefined ? error === undefined && <Loading what="the API reference" /> : (
        <>
          <Prose text={document.info.description ?? document.info.title} />
          <div class="card request-fields">
            <KeyField projectId={projectId} value={apiKey} onInput={setApiKey} />
            <TextField
              label="Find"
              value={wanted}
              onInput={setWanted}
              hint="A part of a path, of a method or of what it does."
              input={{ autoComplete: "off", spellcheck: false }}
            />
          </div>
          <Tags document={document} wanted={wanted} apiKey={apiKey} />
        </>
      )}
    </section>
  );
}

interface KeyFieldProperties {
  readonly projectId: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

function KeyField({ projectId, value, onInput }: KeyFieldProperties) {
  const isMade = value !== "" && value === madeKey(projectId)?.key;
  return (
    <div>
      <Field label="Key to send requests with">
        {(attributes) => (
          <input
            {...attributes}
            type="password"
            value={value}
            onInput={({ currentTarget }) => onInput(currentTarget.value.trim())}
            autoComplete="off"
            spellcheck={false}
            placeholder="oa_..."
          />
        )}
      </Field>
      <p class="hint">
        {isMade ? "The one made under " : "Paste one, or make one under "}
        <a href={hrefOf({ name: "connect", projectId })}>Connect</a>. Requests do what they say.
      </p>
    </div>
  );
}

interface TagsProperties {
  readonly document: ApiDocument;
  readonly wanted: string;
  readonly apiKey: string;
}

function Tags({ document, wanted, apiKey }: TagsProperties) {
  const operations = operationsOf(document).filter((one) => isWanted(one, wanted));
  if (operations.length === 0) return <p>No request has this in its method, path or description.</p>;
  return (
    <>
      {document.tags.map(({ name, description }) => {
        const own = operations.filter(({ tags }) => tags[0] === name);
        if (own.length === 0) return null;
        return (
          <section key={name} class="step" aria-label={name}>
            <h2>{name}</h2>
            {description !== undefined && <p class="hint">{description}</p>}
            <ul class="operations">
              {own.map((operation) => (
                <li key={operation.operationId}>
                  <OperationView {...{ document, operation, apiKey }} />
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </>
  );
}

function isWanted({ method, path, summary, operationId }: Operation, wanted: string): boolean {
  const text = `${method} ${path} ${summary} ${operationId}`.toLowerCase();
  return text.includes(wanted.trim().toLowerCase());
}
