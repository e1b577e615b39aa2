import { useState } from "preact/hooks";
import { reasonFor } from "../../api/failure.ts";
import { createKey, type NewKey } from "../../api/projects.ts";
import { FormProblem, SelectField, TextField, useSubmit } from "../../components/form.tsx";

interface Properties {
  readonly projectId: string;
  readonly onMade: (key: NewKey) => void;
}

const SCOPES: Readonly<Record<string, readonly string[]>> = { write: ["read", "write"], read: ["read"] };

/** The few choices that a first key needs; "API keys" has all of them. */
export function KeyForm({ projectId, onMade }: Properties) {
  const [name, setName] = useState("agent");
  const [may, setMay] = useState("write");
  const { isBusy, error, submit } = useSubmit(async () => {
    const scopes = SCOPES[may] ?? [];
    onMade(
      await createKey(projectId, {
        name: name || undefined,
        environment: "development",
        scopes,
        pathPrefix: undefined,
        expiresAt: undefined,
      }),
    );
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
          label="It may"
          value={may}
          onChange={setMay}
          options={[["write", "read and write"], ["read", "read only"]]}
          problem={reasonFor(error, "scopes")}
        />
      </div>
      <FormProblem error={error} fields={["name", "scopes"]} />
      <button type="submit" class="primary" disabled={isBusy}>Make the key</button>
    </form>
  );
}
