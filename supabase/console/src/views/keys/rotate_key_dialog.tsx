import { useState } from "preact/hooks";
import { reasonFor } from "../../api/failure.ts";
import { rotateKey } from "../../api/projects.ts";
import type { Key, NewKey } from "../../api/records.ts";
import { SelectField } from "../../components/field.tsx";
import { FormDialog } from "../../components/form_dialog.tsx";
import { FormProblem } from "../../components/states.tsx";
import { useSubmit } from "../../components/use_submit.ts";
import { keyTitle } from "./key_status.ts";

interface Properties {
  readonly projectId: string;
  readonly old: Key;
  readonly onClose: () => void;
  readonly onMade: (key: NewKey) => void;
}

/** In seconds, up to the API's longest, a week. */
const GRACE_PERIODS = [
  ["0", "Ends at once"],
  ["3600", "Works for one more hour"],
  ["86400", "Works for one more day"],
  ["604800", "Works for seven more days"],
] as const;

export function RotateKeyDialog({ projectId, old, onClose, onMade }: Properties) {
  const [gracePeriod, setGracePeriod] = useState("3600");
  const { isBusy, error, submit } = useSubmit(async () => {
    onMade(await rotateKey(projectId, old.id, Number(gracePeriod)));
  });
  return (
    <FormDialog title={`Rotate ${keyTitle(old)}`} action="Rotate key" {...{ isBusy, submit, onClose }}>
      <p>A new key with the same name, scopes and path prefix replaces this one.</p>
      <SelectField
        label="The old key"
        value={gracePeriod}
        onChange={setGracePeriod}
        options={GRACE_PERIODS}
        problem={reasonFor(error, "gracePeriodSeconds")}
      />
      <FormProblem error={error} fields={["gracePeriodSeconds"]} />
    </FormDialog>
  );
}
