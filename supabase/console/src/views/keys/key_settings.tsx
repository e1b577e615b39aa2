/** The settings of a key: its name, scopes, folder, and expiry. */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { reasonFor } from "../../api/failure.ts";
import { changeKey, createKey, type Key, type NewKey } from "../../api/projects.ts";
import { FormDialog, FormProblem, SelectField, TextField, useSubmit } from "../../components/form.tsx";
import { notify } from "../../state/notices.ts";
import { isoOf, keyTitle, localOf } from "./key_status.ts";
import { SCOPE_MEANINGS } from "./scope_meanings.ts";

interface CreateProperties {
  readonly projectId: string;
  readonly onClose: () => void;
  readonly onMade: (key: NewKey) => void;
}

export function CreateKeyDialog({ projectId, onClose, onMade }: CreateProperties) {
  const [settings, setSettings] = useState<Settings>(
    { name: "", scopes: ["read", "write"], pathPrefix: "", expiry: "" },
  );
  const [environment, setEnvironment] = useState("development");
  const { isBusy, error, submit } = useSubmit(async () => {
    const { name, scopes, pathPrefix, expiry } = settings;
    const made = { name: name || undefined, scopes, pathPrefix: pathPrefix || undefined };
    onMade(await createKey(projectId, { ...made, environment, expiresAt: isoOf(expiry) }));
  });
  return (
    <FormDialog title="New API key" action="Create key" {...{ isBusy, submit, onClose }}>
      <Fields
        {...{ settings, setSettings, error }}
        nameHint="The agent or machine that uses the key."
        prefixHint="Optional: a folder such as agents/a. The key can read and write only below it."
        expiryHint="Optional, in your time zone. Without it, the key is valid until it is revoked."
      >
        <SelectField
          label="Environment"
          value={environment}
          onChange={setEnvironment}
          options={[["development", "Development"], ["production", "Production"]]}
          problem={reasonFor(error, "environment")}
        />
      </Fields>
    </FormDialog>
  );
}

interface EditProperties {
  readonly projectId: string;
  readonly edited: Key;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function EditKeyDialog({ projectId, edited, onClose, onDone }: EditProperties) {
  const shownExpiry = localOf(edited.expiresAt);
  const [settings, setSettings] = useState<Settings>({
    name: edited.name ?? "",
    scopes: edited.scopes,
    pathPrefix: edited.pathPrefix ?? "",
    expiry: shownExpiry,
  });
  const { isBusy, error, submit } = useSubmit(async () => {
    const { name, scopes, pathPrefix, expiry } = settings;
    // The field shows no seconds, so an unedited value is not sent.
    const expiresAt = expiry === shownExpiry ? undefined : isoOf(expiry);
    const changes = { name, scopes, pathPrefix: pathPrefix || undefined, expiresAt };
    notify(`${keyTitle(await changeKey(projectId, edited.id, changes))} was changed.`);
    onClose();
    onDone();
  });
  return (
    <FormDialog title={`Edit ${keyTitle(edited)}`} action="Save" {...{ isBusy, submit, onClose }}>
      <Fields
        {...{ settings, setSettings, error }}
        offered={edited.scopes}
        prefixHint="A folder at or below the present one. What a key may do can be narrowed, never widened."
        expiryHint="In your time zone."
      />
    </FormDialog>
  );
}

interface Settings {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly pathPrefix: string;
  /** In the format of a date field. */
  readonly expiry: string;
}

interface FieldsProperties {
  readonly settings: Settings;
  readonly setSettings: (settings: Settings) => void;
  readonly error: unknown;
  /** The scopes to choose from; all scopes if left out. */
  readonly offered?: readonly string[];
  readonly nameHint?: string;
  readonly prefixHint: string;
  readonly expiryHint: string;
  readonly children?: ComponentChildren;
}

function Fields({ settings, setSettings, error, offered, children, ...hints }: FieldsProperties) {
  const set = (field: keyof Settings) => (value: Settings[typeof field]) =>
    setSettings({ ...settings, [field]: value });
  return (
    <>
      <TextField
        label="Name"
        value={settings.name}
        onInput={set("name")}
        hint={hints.nameHint}
        problem={reasonFor(error, "name")}
        input={{ autoFocus: true, autoComplete: "off" }}
      />
      {children}
      <ScopeFields
        scopes={settings.scopes}
        {...{ offered }}
        onChange={set("scopes")}
        problem={reasonFor(error, "scopes")}
      />
      <TextField
        label="Path prefix"
        value={settings.pathPrefix}
        onInput={set("pathPrefix")}
        hint={hints.prefixHint}
        problem={reasonFor(error, "pathPrefix")}
        input={{ autoComplete: "off", spellcheck: false }}
      />
      <TextField
        label="Expires"
        type="datetime-local"
        value={settings.expiry}
        onInput={set("expiry")}
        hint={hints.expiryHint}
        problem={reasonFor(error, "expiresAt")}
      />
      <FormProblem error={error} fields={["name", "environment", "scopes", "pathPrefix", "expiresAt"]} />
    </>
  );
}

interface ScopeProperties {
  readonly scopes: readonly string[];
  readonly offered: readonly string[] | undefined;
  readonly onChange: (scopes: readonly string[]) => void;
  readonly problem: string | undefined;
}

const SCOPES = [["read", "Read"], ["write", "Write"], ["admin", "Admin"]] as const;

function ScopeFields({ scopes, offered, onChange, problem }: ScopeProperties) {
  const id = useId();
  return (
    <fieldset class="field" aria-describedby={problem && id}>
      <legend>Scopes</legend>
      {SCOPES.map(([scope, label]) => (
        <div key={scope}>
          <label class="check">
            <input
              type="checkbox"
              aria-describedby={`${id}-${scope}`}
              checked={scopes.includes(scope)}
              disabled={offered !== undefined && !offered.includes(scope)}
              onChange={({ currentTarget }) =>
                onChange(currentTarget.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))}
            />
            {label}
          </label>
          <p class="hint" id={`${id}-${scope}`}>{SCOPE_MEANINGS[scope]}</p>
        </div>
      ))}
      {problem && <p class="field-problem" id={id}>{problem}</p>}
    </fieldset>
  );
}
