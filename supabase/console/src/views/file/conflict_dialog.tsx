/** Shown if the file has changed since editing began: both texts side by side, and what to do. */
import { type FileRecord, readBytes } from "../../api/files.ts";
import { Comparison } from "../../code/code_view.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { FormProblem, useSubmit } from "../../components/form.tsx";
import { Pending } from "../../components/states.tsx";
import type { Draft } from "../../state/drafts.ts";
import { useLoad } from "../../state/use_load.ts";
import { decodeText } from "../../components/shown_type.ts";

interface Properties {
  readonly projectId: string;
  readonly record: FileRecord;
  readonly draft: Draft;
  /** The file's latest version. */
  readonly newest: number;
  readonly onClose: () => void;
  readonly onDiscard: () => void;
  /** Saves a new version over the one with this entity tag. */
  readonly onSaveAnyway: (etag: string) => Promise<void>;
}

export function ConflictDialog(properties: Properties) {
  const { projectId, record, draft, newest, onClose, onDiscard, onSaveAnyway } = properties;
  const { data, error, reload } = useLoad(`conflict ${record.path} ${newest}`, async (signal) => {
    const { bytes, etag } = await readBytes({ projectId, path: record.path }, newest, signal);
    return { text: decodeText(bytes), etag };
  });
  const { isBusy, error: problem, submit } = useSubmit(async () => {
    if (data?.etag) await onSaveAnyway(data.etag);
  });
  return (
    <Dialog title="The file has changed" onClose={onClose} isWide>
      <p>
        Version {newest} was saved while you edited version{" "}
        {draft.version}. Nothing has been overwritten: version {newest}{" "}
        is on the left, your text on the right.
      </p>
      {data === undefined && <Pending {...{ error, reload }} what="the newer version" />}
      {data?.text === null && <p class="note">Version {newest} is not text.</p>}
      {typeof data?.text === "string" && (
        <div class="comparison">
          <Comparison
            id={`conflict ${newest}`}
            before={data.text}
            after={draft.text}
            mimeType={record.mimeType}
            labels={[`Version ${newest}`, "Your text"]}
          />
        </div>
      )}
      <FormProblem error={problem} fields={[]} />
      <footer class="dialog-foot">
        <button type="button" class="danger" onClick={onDiscard}>Discard my changes</button>
        <button type="button" onClick={onClose}>Keep editing</button>
        <button type="button" class="primary" disabled={isBusy || !data?.etag} onClick={submit}>
          Save mine as the newest version
        </button>
      </footer>
    </Dialog>
  );
}
