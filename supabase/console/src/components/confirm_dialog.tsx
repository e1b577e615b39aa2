/** Asks before something that cannot be undone: what it is about has to be typed. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { reasonFor } from "../api/failure.ts";
import { FormDialog, FormProblem, TextField, useSubmit } from "./form.tsx";

interface Properties {
  readonly title: string;
  readonly action: string;
  readonly label: string;
  /** Does it, where what was typed is what has to be; what it throws is shown. */
  readonly work: (typed: string) => Promise<void>;
  /** Where the service does not compare what was typed: what it has to be, and what to say of anything else. */
  readonly expected?: { readonly text: string; readonly problem: string };
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function ConfirmDialog({ title, action, label, work, expected, onClose, children }: Properties) {
  const [typed, setTyped] = useState("");
  const [isWrong, setWrong] = useState(false);
  const { isBusy, error, submit } = useSubmit(async () => {
    const isOther = expected !== undefined && typed !== expected.text;
    setWrong(isOther);
    if (!isOther) await work(typed);
  });
  return (
    <FormDialog title={title} action={action} isDangerous {...{ isBusy, submit, onClose }}>
      {children}
      <TextField
        label={label}
        value={typed}
        onInput={setTyped}
        problem={isWrong ? expected?.problem : reasonFor(error, "confirm")}
        input={{ autoComplete: "off", spellcheck: false }}
      />
      <FormProblem error={error} fields={["confirm"]} />
    </FormDialog>
  );
}
