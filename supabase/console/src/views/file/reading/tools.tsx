/** The tools above a text: its forms, wrapping, the line to go to, and copying. */
import { useEffect, useRef, useState } from "preact/hooks";
import { CopyButton } from "../../../components/copy.tsx";
import { Icon } from "../../../components/icon.tsx";
import { isPressed, keyNames, SHORTCUTS } from "../../../components/shortcut_table.ts";
import { type FilePlace, hrefOf, replaceWith } from "../../../state/router.ts";
import { wrapsLines } from "../../../state/preferences.ts";
import { type Form, FORM_NAMES } from "./form.ts";

interface Properties {
  readonly place: FilePlace;
  readonly form: Form;
  readonly isSource: boolean;
  /** The text to copy; left out if it is not complete. */
  readonly text?: string | undefined;
  /** What the number counts; a table counts rows. */
  readonly counted?: "line" | "row";
  /** Called with the number of the line or row to go to, and with the last line of a range. */
  readonly onGo: (number: number, last?: number) => void;
}

export function ReadingTools({ place, form, isSource, text, counted = "line", onGo }: Properties) {
  const { path, line, lastLine } = place;
  return (
    <div class="reading-tools">
      {form !== "source" && <Forms {...{ place, isSource }} name={FORM_NAMES[form]} />}
      {isSource && (
        <button
          type="button"
          class="toggle"
          aria-pressed={wrapsLines.value}
          onClick={() => wrapsLines.value = !wrapsLines.value}
        >
          <Icon name="wrap" />Wrap lines
        </button>
      )}
      <GoTo counted={counted} onGo={onGo} />
      {text !== undefined && <CopyButton text={text} what={`content of ${path}`} />}
      {line !== undefined && (
        <CopyButton
          text={new URL(hrefOf(place), globalThis.location.href).href}
          what={lastLine === undefined ? `to line ${line}` : `to lines ${line} to ${lastLine}`}
          label="Copy link"
        />
      )}
    </div>
  );
}

interface FormsProperties {
  readonly place: FilePlace;
  readonly isSource: boolean;
  readonly name: string;
}

function Forms({ place, isSource, name }: FormsProperties) {
  const choices = [
    [name, !isSource, undefined],
    ["Source", isSource, "source"],
  ] as const;
  return (
    <div class="choices" role="group" aria-label="Show as">
      {choices.map(([text, isChosen, show]) => (
        <button
          key={text}
          type="button"
          class="toggle"
          aria-pressed={isChosen}
          onClick={() => replaceWith({ ...place, show, line: undefined, heading: undefined })}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

/** A field for a line number; Ctrl-G focuses it. */
function GoTo({ counted = "line", onGo }: Pick<Properties, "counted" | "onGo">) {
  const field = useRef<HTMLInputElement>(null);
  const [value, setValue] = useState("");
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!isPressed(event, "goTo")) return;
      event.preventDefault();
      field.current?.select();
      field.current?.focus();
    };
    // Handled before the text, which may have its own handler for the key.
    document.addEventListener("keydown", onKeyDown, true);
    return () => document.removeEventListener("keydown", onKeyDown, true);
  }, []);
  return (
    <form
      class="go-to"
      onSubmit={(event) => {
        event.preventDefault();
        const [number = 0, last] = value.split("-").map(Number);
        if (number >= 1) onGo(number, last);
      }}
    >
      <input
        ref={field}
        aria-label={`Go to ${counted}`}
        title={keyNames(SHORTCUTS.goTo.keys[0]).join("-")}
        placeholder={counted === "line" ? "Line" : "Row"}
        inputMode={counted === "line" ? "text" : "numeric"}
        pattern={counted === "line" ? "[1-9][0-9]{0,9}(-[1-9][0-9]{0,9})?" : "[1-9][0-9]{0,9}"}
        autoComplete="off"
        required
        value={value}
        onInput={({ currentTarget }) => setValue(currentTarget.value)}
      />
      <button type="submit" class="go">Go</button>
    </form>
  );
}
