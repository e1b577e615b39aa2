/** Asks for confirmation of an irreversible action: the person types the name of what it affects. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { reasonFor } from "../api/failure.ts";
import { FormDialog, FormProblem, TextField, useSubmit } from "./form.tsx";

interface Properties {
  readonly title: string;
  readonly action: string;
  readonly label: string;
  /** Runs the action once the typed text matches. The dialog shows what it throws. */
  readonly work: (typed: string) => Promise<void>;
  /** Given if the service does not compare the typed text: the expected text, and the message for any other. */
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
