/** The text editor. A save succeeds only over the edited version; a newer version is shown, never overwritten. */
import { useState } from "preact/hooks";
import { ApiFailure, isCode } from "../../api/failure.ts";
import { type FileAt, type FileRecord, overwriteFile, readBytes } from "../../api/files.ts";
import { CodeView } from "../../code/code_view.tsx";
import { formatBytes, visible } from "../../format.ts";
import { TEXT_PREVIEW_BYTES_MAX } from "../../limits.ts";
import { Empty, Pending } from "../../components/states.tsx";
import { FormProblem, useSubmit } from "../../components/form.tsx";
import { discardDraft, type Draft, draftKey, drafts, keepDraft } from "../../state/drafts.ts";
import { useLoad } from "../../state/use_load.ts";
import { endUndo, notify } from "../../state/notices.ts";
import { type FilePlace, goTo } from "../../state/router.ts";
import { ConflictDialog } from "./conflict_dialog.tsx";
import { decodeText, mayBeEdited, shownType } from "../../components/shown_type.ts";
import { NewerVersion } from "./newer_version.tsx";

interface Properties {
  readonly place: FilePlace;
  readonly record: FileRecord;
  /** The file was deleted while it was edited. */
  readonly isDeleted: boolean;
  readonly onSaved: (saved: FileRecord) => void;
}

export function EditTab({ place, record, isDeleted, onSaved }: Properties) {
  const { projectId, path } = place;
  const key = draftKey(place);
  // A draft continues from its own version; without a draft, editing starts from the latest version.
  const [version, setVersion] = useState(() => drafts.value.get(key)?.version ?? record.version);
  const isEditable = mayBeEdited(record);
  const { data, error, reload } = useLoad(`edit ${projectId} ${path} ${version}`, async (signal) => {
    const draft = drafts.value.get(key);
    if (draft !== undefined) return draft;
    if (!isEditable) return null;
    return await loadOriginal(place, version, signal);
  });
  if (data === undefined) return <Pending {...{ error, reload }} what="the text" />;
  if (data !== null) {
    const loadLatest = () => {
      discardDraft(key);
      setVersion(record.version);
    };
    return <Editor key={data.version} {...{ place, record, isDeleted, onSaved, loadLatest }} start={data} />;
  }
  return (
    <Empty icon="edit" title="This file cannot be edited here.">
      <p>
        Only text of up to {formatBytes(TEXT_PREVIEW_BYTES_MAX)}{" "}
        can be edited. Download the file, edit it, and upload it again.
      </p>
    </Empty>
  );
}

async function loadOriginal(file: FileAt, version: number, signal: AbortSignal): Promise<Draft | null> {
  const { bytes, etag } = await readBytes(file, version, signal);
  const text = decodeText(bytes);
  if (text === null) return null;
  if (etag === null) throw new ApiFailure("UNEXPECTED_ANSWER", "The response has no ETag.", 200);
  return { text, version, etag };
}

interface EditorProperties extends Properties {
  readonly start: Draft;
  readonly loadLatest: () => void;
}

function Editor({ place, record, isDeleted, onSaved, start, loadLatest }: EditorProperties) {
  const { projectId, path } = place;
  const key = draftKey(place);
  const draft = drafts.value.get(key);
  const [conflict, setConflict] = useState<number | null>(null);
  const leave = () => goTo({ name: "file", projectId, path, tab: "content" });
  const save = async (etag: string) => {
    const text = drafts.value.get(key)?.text;
    if (text === undefined) return leave();
    try {
      const saved = await overwriteFile(place, text, etag);
      discardDraft(key);
      endUndo(place);
      notify(`Saved as version ${saved.version}.`, place);
      onSaved(saved);
      leave();
    } catch (error) {
      const newer = isCode(error, "PRECONDITION_FAILED") ? error.details.version : undefined;
      if (newer === undefined) throw error;
      setConflict(newer);
    }
  };
  const { isBusy, error, submit } = useSubmit(() => save(start.etag));
  const discard = () => {
    discardDraft(key);
    leave();
  };
  return (
    <form class="editor" onSubmit={submit}>
      <div class="editor-head">
        <p role="status">
          {draft ? "Unsaved changes." : "No changes yet."} Editing version {start.version}.
        </p>
        <button type="button" onClick={discard}>{draft ? "Discard changes" : "Close"}</button>
        <button type="submit" class="primary" disabled={isBusy || !draft}>Save</button>
      </div>
      <NewerVersion
        {...{ place, record, isDeleted, loadLatest }}
        base={start.version}
        hasDraft={draft !== undefined}
        onCompare={() => setConflict(record.version)}
      />
      <FormProblem error={error} fields={[]} />
      <CodeView
        id={`${key} ${start.version}`}
        text={start.text}
        mimeType={shownType(record)}
        label={`Edit ${visible(path)}`}
        onChange={(text) => keepDraft(key, { ...start, text })}
        onSave={() => submit(new Event("submit"))}
      />
      {conflict !== null && draft && (
        <ConflictDialog
          {...{ projectId, record, draft }}
          newest={conflict}
          onClose={() => setConflict(null)}
          onDiscard={discard}
          onSaveAnyway={save}
        />
      )}
    </form>
  );
}
