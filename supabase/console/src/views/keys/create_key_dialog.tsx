import { useState } from "preact/hooks";
import { reasonFor } from "../../api/failure.ts";
import { createKey } from "../../api/projects.ts";
import type { NewKey } from "../../api/records.ts";
import { SelectField, TextField } from "../../components/field.tsx";
import { FormDialog } from "../../components/form_dialog.tsx";
import { FormProblem } from "../../components/states.tsx";
import { useSubmit } from "../../components/use_submit.ts";
import { isoOf } from "./expiry.ts";
import { ScopeFields } from "./scope_fields.tsx";

interface Properties {
  readonly projectId: string;
  readonly onClose: () => void;
  readonly onMade: (key: NewKey) => void;
}

const FIELDS = ["name", "environment", "scopes", "pathPrefix", "expiresAt"];
const EMPTY = { name: "", environment: "development", pathPrefix: "", expiry: "" };

export function CreateKeyDialog({ projectId, onClose, onMade }: Properties) {
  const [settings, setSettings] = useState(EMPTY);
  const [scopes, setScopes] = useState<readonly string[]>(["read", "write"]);
  const set = (field: keyof typeof EMPTY) => (value: string) => setSettings({ ...settings, [field]: value });
  const { isBusy, error, submit } = useSubmit(async () => {
    const { environment } = settings;
    const name = settings.name || undefined;
    const pathPrefix = settings.pathPrefix || undefined;
    const expiresAt = isoOf(settings.expiry);
    onMade(await createKey(projectId, { name, environment, scopes, pathPrefix, expiresAt }));
  });
  return (
    <FormDialog title="New API key" action="Create key" {...{ isBusy, submit, onClose }}>
      <TextField
        label="Name"
        value={settings.name}
        onInput={set("name")}
        hint="The agent or machine that uses the key."
        problem={reasonFor(error, "name")}
        input={{ autoFocus: true, autoComplete: "off" }}
      />
      <SelectField
        label="Environment"
        value={settings.environment}
        onChange={set("environment")}
        options={[["development", "Development"], ["production", "Production"]]}
        problem={reasonFor(error, "environment")}
      />
      <ScopeFields scopes={scopes} onChange={setScopes} problem={reasonFor(error, "scopes")} />
      <TextField
        label="Path prefix"
        value={settings.pathPrefix}
        onInput={set("pathPrefix")}
        hint="Optional: a folder such as agents/a. The key can read and write only below it."
        problem={reasonFor(error, "pathPrefix")}
        input={{ autoComplete: "off", spellcheck: false }}
      />
      <TextField
        label="Expires"
        type="datetime-local"
        value={settings.expiry}
        onInput={set("expiry")}
        hint="Optional, in your time zone. Without it, the key is valid until it is revoked."
        problem={reasonFor(error, "expiresAt")}
      />
      <FormProblem error={error} fields={FIELDS} />
    </FormDialog>
  );
}
