import { useState } from "preact/hooks";
import { reasonFor } from "../../api/failure.ts";
import { changeKey } from "../../api/projects.ts";
import type { Key } from "../../api/records.ts";
import { TextField } from "../../components/field.tsx";
import { FormDialog } from "../../components/form_dialog.tsx";
import { FormProblem } from "../../components/states.tsx";
import { useSubmit } from "../../components/use_submit.ts";
import { notify } from "../../state/notices.ts";
import { isoOf, localOf } from "./expiry.ts";
import { keyTitle } from "./key_status.ts";
import { ScopeFields } from "./scope_fields.tsx";

interface Properties {
  readonly projectId: string;
  readonly edited: Key;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const FIELDS = ["name", "scopes", "pathPrefix", "expiresAt"];

export function EditKeyDialog({ projectId, edited, onClose, onDone }: Properties) {
  const shownExpiry = localOf(edited.expiresAt);
  const [name, setName] = useState(edited.name ?? "");
  const [scopes, setScopes] = useState<readonly string[]>(edited.scopes);
  const [pathPrefix, setPathPrefix] = useState(edited.pathPrefix ?? "");
  const [expiry, setExpiry] = useState(shownExpiry);
  const { isBusy, error, submit } = useSubmit(async () => {
    const changed = await changeKey(projectId, edited.id, {
      name,
      scopes,
      pathPrefix: pathPrefix || undefined,
      // The field shows no seconds: what was not touched stays as it is.
      expiresAt: expiry === shownExpiry ? undefined : isoOf(expiry),
    });
    notify(`${keyTitle(changed)} was changed.`);
    onClose();
    onDone();
  });
  return (
    <FormDialog title={`Edit ${keyTitle(edited)}`} action="Save" {...{ isBusy, submit, onClose }}>
      <TextField
        label="Name"
        value={name}
        onInput={setName}
        problem={reasonFor(error, "name")}
        input={{ autoFocus: true, autoComplete: "off" }}
      />
      <ScopeFields
        scopes={scopes}
        offered={edited.scopes}
        onChange={setScopes}
        problem={reasonFor(error, "scopes")}
      />
      <TextField
        label="Path prefix"
        value={pathPrefix}
        onInput={setPathPrefix}
        hint="A folder at or below the present one. What a key may do can be narrowed, never widened."
        problem={reasonFor(error, "pathPrefix")}
        input={{ autoComplete: "off", spellcheck: false }}
      />
      <TextField
        label="Expires"
        type="datetime-local"
        value={expiry}
        onInput={setExpiry}
        hint="In your time zone."
        problem={reasonFor(error, "expiresAt")}
      />
      <FormProblem error={error} fields={FIELDS} />
    </FormDialog>
  );
}
