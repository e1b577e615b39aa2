/** The steps to an agent's first call: an address, a key, and the settings of its client. */
import { useState } from "preact/hooks";
import { createKey, type NewKey } from "../../api/projects.ts";
import { CodeBlock } from "../../components/copy.tsx";
import { Pending } from "../../components/states.tsx";
import { config } from "../../config.ts";
import { visible } from "../../format.ts";
import { keepMadeKey, madeKey } from "../../state/keys.ts";
import { useLoad } from "../../state/use_load.ts";
import { type Client, fill, loadClients, NO_KEY } from "./clients.ts";
import { FirstAppCall, FirstCall } from "./first_call.tsx";
import { reasonFor } from "../../api/failure.ts";
import { FormProblem, SelectField, TextField, useSubmit } from "../../components/form.tsx";

export function ConnectView({ projectId }: { readonly projectId: string }) {
  const made = madeKey(projectId);
  const [isMaking, setMaking] = useState(false);
  const baseUrl = config().functionUrl;
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
        <p class="hint">API base URL. For MCP with a key, append /mcp; for an app that signs in, /connect.</p>
        <CodeBlock text={baseUrl} what="the address" />
      </section>
      <section class="card" aria-labelledby="connect-key">
        <h2 id="connect-key">Key</h2>
        {made !== undefined && <Made made={made} />}
        {made === undefined || isMaking
          ? <KeyForm projectId={projectId} onMade={keep} />
          : <button type="button" class="apart" onClick={() => setMaking(true)}>Create another key</button>}
      </section>
      {made !== undefined && <FirstCall key={made.id} {...{ projectId, made }} />}
      <section class="card" aria-labelledby="connect-client">
        <h2 id="connect-client">Client</h2>
        {made === undefined && <p class="note">Create a key above to fill it in.</p>}
        <Clients {...{ projectId, baseUrl }} apiKey={made?.key ?? NO_KEY} />
      </section>
    </section>
  );
}

function Made({ made: { key, pathPrefix } }: { readonly made: NewKey }) {
  return (
    <>
      <p class="note" role="status">
        Copy the key now: only its hash is stored, and this tab forgets it when you reload or close it.
      </p>
      <CodeBlock text={key} what="the key" />
      {pathPrefix && <p class="hint">It reaches only what is below {visible(pathPrefix)}.</p>}
    </>
  );
}

interface ClientsProperties {
  readonly baseUrl: string;
  readonly apiKey: string;
}

function Clients({ projectId, baseUrl, apiKey }: ClientsProperties & { readonly projectId: string }) {
  const { data: clients, error, reload } = useLoad("clients", loadClients);
  const [name, setName] = useState<string | null>(null);
  if (clients === undefined) return <Pending {...{ error, reload }} what="the clients" />;
  // A first agent is on this machine more often than not, and the card above creates its key.
  const chosen = clients.find((one) => one.name === name) ??
    clients.find(({ signIn }) => signIn.length === 0);
  return (
    <>
      <div class="clients" role="group" aria-label="Clients">
        {clients.map((client) => (
          <button
            key={client.name}
            type="button"
            class="toggle"
            aria-pressed={client === chosen}
            onClick={() => setName(client.name)}
          >
            {client.name}
          </button>
        ))}
      </div>
      {chosen !== undefined && <Steps client={chosen} baseUrl={baseUrl} apiKey={apiKey} />}
      {chosen !== undefined && chosen.signIn.length > 0 && (
        <FirstAppCall key={chosen.name} projectId={projectId} title={chosen.name} />
      )}
    </>
  );
}

interface StepsProperties extends ClientsProperties {
  readonly client: Client;
}

function Steps({ client: { name, steps, signIn }, baseUrl, apiKey }: StepsProperties) {
  return (
    <>
      {steps.map((step, index) => (
        <div key={step.text} class="step">
          <p>{step.text}</p>
          <CodeBlock
            text={fill(step, baseUrl, apiKey)}
            what={index === 0 ? `the settings of ${name}` : `part ${index + 1} of ${name}`}
          />
          {index === 0 && signIn.length > 0 && <ol>{signIn.map((text) => <li key={text}>{text}</li>)}</ol>}
        </div>
      ))}
    </>
  );
}

interface Properties {
  readonly projectId: string;
  readonly onMade: (key: NewKey) => void;
}

const SCOPES: Readonly<Record<string, readonly string[]>> = { write: ["read", "write"], read: ["read"] };

/** Only the choices that a first key needs; "API keys" offers all. */
function KeyForm({ projectId, onMade }: Properties) {
  const [name, setName] = useState("agent");
  const [may, setMay] = useState("write");
  const { isBusy, error, submit } = useSubmit(async () => {
    const scopes = SCOPES[may] ?? [];
    onMade(await createKey(projectId, { name: name || undefined, environment: "development", scopes }));
  });
  return (
    <form onSubmit={submit} noValidate>
      <div class="key-choices">
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          hint="The agent or machine that uses it."
          problem={reasonFor(error, "name")}
          input={{ autoComplete: "off" }}
        />
        <SelectField
          label="Permission"
          value={may}
          onChange={setMay}
          options={[["write", "Read and write"], ["read", "Read only"]]}
          problem={reasonFor(error, "scopes")}
        />
      </div>
      <FormProblem error={error} fields={["name", "scopes"]} />
      <button type="submit" class="primary" disabled={isBusy}>Create key</button>
    </form>
  );
}
