import { useState } from "preact/hooks";
import { type Redacted, redactVersions } from "../../api/owning.ts";
import { reasonFor } from "../../api/failure.ts";
import { ConfirmDialog } from "../../components/confirm_dialog.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/form.tsx";
import { formatCount, nameOf, visible } from "../../format.ts";
import { notify } from "../../state/notices.ts";
import { hrefOf } from "../../state/router.ts";

interface Properties {
  readonly projectId: string;
  readonly path: string;
  readonly versions: readonly number[];
  readonly onErased: () => void;
  readonly onClose: () => void;
}

/**
 * Erases the content of versions, once the person has typed the file's name. Then it names other readable versions that
 * share a segment with the erased content.
 */
export function RedactDialog({ projectId, path, versions, onErased, onClose }: Properties) {
  const [note, setNote] = useState("");
  const [noteProblem, setNoteProblem] = useState<string | undefined>(undefined);
  const [remaining, setRemaining] = useState<Redacted["remaining"] | null>(null);
  const name = visible(nameOf(path));
  const what = versions.length === 1 ? `version ${versions[0]}` : formatCount(versions.length, "version");
  if (remaining !== null) return <Remaining {...{ projectId, remaining, onClose }} />;
  return (
    <ConfirmDialog
      title={`Erase the content of ${what} for good?`}
      action="Erase content"
      label={`Type the file's name, ${name}`}
      expected={{ text: name, problem: `must be ${name}` }}
      work={async () => {
        setNoteProblem(undefined);
        const redacted = await redactVersions({ projectId, path }, versions, note === "" ? undefined : note)
          .catch((failure) => {
            setNoteProblem(reasonFor(failure, "note"));
            throw failure;
          });
        onErased();
        notify(`Erased the content of ${what} of ${name} for good.`);
        if (redacted.remaining.length > 0) setRemaining(redacted.remaining);
        else onClose();
      }}
      onClose={onClose}
    >
      <p>
        The content and the note are erased; the number, the time and the writer stay in the history. You
        cannot undo this.
      </p>
      <TextField
        label="New note (optional)"
        value={note}
        onInput={setNote}
        hint="Such as why it was erased."
        problem={noteProblem}
        input={{ autoComplete: "off" }}
      />
    </ConfirmDialog>
  );
}

interface RemainingProperties {
  readonly projectId: string;
  readonly remaining: Redacted["remaining"];
  readonly onClose: () => void;
}

function Remaining({ projectId, remaining, onClose }: RemainingProperties) {
  return (
    <Dialog title="Check these, too" onClose={onClose}>
      <p>These versions are still readable, and share a part of the erased content.</p>
      <ul class="plain-list">
        {remaining.map(({ path, version }) => (
          <li key={`${path} ${version}`}>
            <a
              href={hrefOf({ name: "file", projectId, path, tab: "content", version })}
              onClick={onClose}
            >
              {visible(path)}, version {version}
            </a>
          </li>
        ))}
      </ul>
      <footer class="dialog-foot">
        <button type="button" class="primary" onClick={onClose}>Done</button>
      </footer>
    </Dialog>
  );
}
