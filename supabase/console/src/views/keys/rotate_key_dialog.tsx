/** @jsxImportSource preact */
/// <reference lib="dom" />
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
const OVERLAPS = [
  ["0", "Ends at once"],
  ["3600", "Works for one more hour"],
  ["86400", "Works for one more day"],
  ["604800", "Works for seven more days"],
] as const;

export function RotateKeyDialog({ projectId, old, onClose, onMade }: Properties) {
  const [overlap, setOverlap] = useState("3600");
  const { isBusy, error, submit } = useSubmit(async () => {
    onMade(await rotateKey(projectId, old.id, Number(overlap)));
  });
  return (
    <FormDialog title={`Rotate ${keyTitle(old)}`} action="Rotate key" {...{ isBusy, submit, onClose }}>
      <p>A new key with the same name, scopes and path takes the place of this one.</p>
      <SelectField
        label="The old key"
        value={overlap}
        onChange={setOverlap}
        options={OVERLAPS}
        problem={reasonFor(error, "overlapSeconds")}
      />
      <FormProblem error={error} fields={["overlapSeconds"]} />
    </FormDialog>
  );
}
