/** Creates a key that is confined to a branch, and shows what to paste into the settings of its agent. */
import { useState } from "preact/hooks";
import type { Branch } from "../../api/branches.ts";
import { createKey } from "../../api/projects.ts";
import { reasonFor } from "../../api/failure.ts";
import { fill, loadClients } from "../../components/clients.ts";
import { CodeBlock } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { DialogForm, FormProblem, SelectField, TextField, useSubmit } from "../../components/form.tsx";
import { Pending } from "../../components/states.tsx";
import { config } from "../../config.ts";
import { useLoad } from "../../state/use_load.ts";

interface Properties {
  readonly projectId: string;
  readonly branch: Branch;
  readonly onClose: () => void;
}

export function KeyDialog({ projectId, branch: { name: branch, path, expiresAt }, onClose }: Properties) {
  const [name, setName] = useState(`agent in ${branch}`);
  const [key, setKey] = useState<string | null>(null);
  const { isBusy, error, submit } = useSubmit(async () => {
    const settings = { name: name || undefined, environment: "development", scopes: ["read", "write"] };
    setKey((await createKey(projectId, { ...settings, pathPrefix: path, expiresAt })).key);
  });
  if (key !== null) {
    return (
      <Dialog title={`A key for ${branch}`} onClose={onClose}>
        <p class="note" role="status">
          Copy the key now: only its hash is stored, and it is not shown again.
        </p>
        <CodeBlock text={key} what="the key" />
        <Lines apiKey={key} />
        <footer class="dialog-foot">
          <button type="button" class="primary" onClick={onClose}>Done</button>
        </footer>
      </Dialog>
    );
  }
  return (
    <Dialog title={`A key for ${branch}`} onClose={onClose}>
      <DialogForm action="Make the key" {...{ isBusy, submit, onClose }}>
        <p class="hint">
          It reads and writes in this branch alone, until the branch closes. The agent may mark the branch as
          ready.
        </p>
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          hint="The agent or machine that uses it."
          problem={reasonFor(error, "name")}
          input={{ autoComplete: "off", autoFocus: true }}
        />
        <FormProblem error={error} fields={["name"]} />
      </DialogForm>
    </Dialog>
  );
}

/** The settings of the client that the person chooses. */
function Lines({ apiKey }: { readonly apiKey: string }) {
  const { data: clients, error, reload } = useLoad("clients", loadClients);
  const [name, setName] = useState("");
  if (clients === undefined) return <Pending {...{ error, reload }} what="the clients" />;
  const chosen = clients.find((one) => one.name === name) ?? clients[0];
  return (
    <>
      <SelectField
        label="Client"
        value={chosen?.name ?? ""}
        onChange={setName}
        options={clients.map((one) => [one.name, one.name])}
      />
      {chosen?.steps.map((step) => (
        <div key={step.text} class="step">
          <p>{step.text}</p>
          <CodeBlock
            text={fill(step, config().functionUrl, apiKey)}
            what={`the settings of ${chosen.name}`}
          />
        </div>
      ))}
    </>
  );
}
