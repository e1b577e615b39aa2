/** Asks for a time in the past. */
import { useState } from "preact/hooks";
import { localSeconds } from "../format.ts";
import { FormDialog, TextField, useSubmit } from "./form.tsx";

interface Properties {
  readonly title: string;
  /** An ISO time; an hour ago by default. */
  readonly start?: string | undefined;
  readonly onChoose: (at: string) => void;
  readonly onClose: () => void;
}

const HOUR_MILLISECONDS = 3_600_000;

export function TimeDialog({ title, start, onChoose, onClose }: Properties) {
  const [text, setText] = useState(
    () => localSeconds(start ?? new Date(Date.now() - HOUR_MILLISECONDS).toISOString()),
  );
  const time = new Date(text).getTime();
  const problem = Number.isNaN(time)
    ? "must be a date and a time"
    : time > Date.now()
    ? "must not be in the future"
    : undefined;
  const { isBusy, submit } = useSubmit(() => {
    onClose();
    onChoose(new Date(time).toISOString());
    return Promise.resolve();
  });
  return (
    <FormDialog
      title={title}
      action="Show"
      isBusy={isBusy || problem !== undefined}
      {...{ submit, onClose }}
    >
      <TextField
        label="Time"
        type="datetime-local"
        value={text}
        onInput={setText}
        hint="In the time zone of this browser. Versions written at exactly that time are included."
        problem={problem}
        input={{ autoFocus: true, step: "1" }}
      />
    </FormDialog>
  );
}
