/** @jsxImportSource preact */
/// <reference lib="dom" />
/** From nothing to the first call of an agent: an address, a key, and the settings of its client. */
import { useState } from "preact/hooks";
import type { NewKey } from "../../api/records.ts";
import { CodeBlock } from "../../components/code_block.tsx";
import { config } from "../../config.ts";
import { keepMadeKey, madeKey } from "../../state/made_key.ts";
import { type Client, CLIENTS, fill, type Group, NO_KEY } from "./clients.ts";
import { FirstCall } from "./first_call.tsx";
import { KeyForm } from "./key_form.tsx";

const GROUPS: readonly Group[] = ["Clients", "Frameworks", "Programs"];

export function ConnectView({ projectId }: { readonly projectId: string }) {
  const made = madeKey(projectId);
  const [isMaking, setMaking] = useState(false);
  const [name, setName] = useState(CLIENTS[0]?.name);
  const baseUrl = config().functionUrl;
  const client = CLIENTS.find((one) => one.name === name);
  const keep = (key: NewKey) => {
    keepMadeKey(projectId, key);
    setMaking(false);
  };
  return (
    <section class="view connect" aria-labelledby="connect-title">
      <div class="view-head">
        <h1 id="connect-title">Connect</h1>
        <a class="button" href={`${baseUrl}/openapi.json`} target="_blank" rel="noopener noreferrer">
          API reference (OpenAPI)
        </a>
      </div>
      <section class="card" aria-labelledby="connect-address">
        <h2 id="connect-address">Address</h2>
        <p class="hint">Of the API; MCP clients take it with /mcp at its end.</p>
        <CodeBlock text={baseUrl} what="the address" />
      </section>
      <section class="card" aria-labelledby="connect-key">
        <h2 id="connect-key">Key</h2>
        {made !== undefined && <Made made={made} />}
        {made === undefined || isMaking
          ? <KeyForm projectId={projectId} onMade={keep} />
          : <button type="button" class="apart" onClick={() => setMaking(true)}>Make another key</button>}
      </section>
      <section class="card" aria-labelledby="connect-client">
        <h2 id="connect-client">Client</h2>
        <Choice chosen={name} onChoose={setName} />
        {made === undefined && <p class="note">Make a key above, and it is put in for you.</p>}
        {client !== undefined && <Steps client={client} baseUrl={baseUrl} apiKey={made?.key ?? NO_KEY} />}
      </section>
      {made !== undefined && <FirstCall key={made.id} {...{ projectId, made }} />}
    </section>
  );
}

function Made({ made: { key } }: { readonly made: NewKey }) {
  return (
    <>
      <p class="note" role="status">
        Copy the key now: only its hash is stored, and this tab forgets it when it is reloaded or closed.
      </p>
      <CodeBlock text={key} what="the key" />
    </>
  );
}

interface ChoiceProperties {
  readonly chosen: string | undefined;
  readonly onChoose: (name: string) => void;
}

function Choice({ chosen, onChoose }: ChoiceProperties) {
  return (
    <div class="clients">
      {GROUPS.map((group) => (
        <div key={group} class="client-group" role="group" aria-label={group}>
          <span class="hint">{group}</span>
          {CLIENTS.filter((one) => one.group === group).map(({ name }) => (
            <button
              key={name}
              type="button"
              class="toggle"
              aria-pressed={name === chosen}
              onClick={() => onChoose(name)}
            >
              {name}
            </button>
          ))}
        </div>
      ))}
    </div>
  );
}

interface StepsProperties {
  readonly client: Client;
  readonly baseUrl: string;
  readonly apiKey: string;
}

function Steps({ client: { name, steps }, baseUrl, apiKey }: StepsProperties) {
  return (
    <>
      {steps.map((step, index) => (
        <div key={step.text} class="step">
          <p>{step.text}</p>
          <CodeBlock
            text={fill(step, baseUrl, apiKey)}
            what={index === 0 ? `the settings of ${name}` : `the variable of ${name}`}
          />
        </div>
      ))}
    </>
  );
}
