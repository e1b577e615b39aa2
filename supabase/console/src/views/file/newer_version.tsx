/** Shows in the editor that there is a newer version, or that the file was deleted, and offers what to do. */
import { useEffect, useReducer, useState } from "preact/hooks";
import type { FileRecord } from "../../api/files.ts";
import { Icon } from "../../components/icon.tsx";
import { visible } from "../../format.ts";
import { ensureKeys, writerName } from "../../state/keys.ts";
import { knownChange, useLive } from "../../state/live.ts";
import { restore } from "../../state/remove_file.ts";
import type { FilePlace } from "../../state/router.ts";

interface Properties {
  readonly place: FilePlace;
  /** The latest version; of a deleted file, the last one with content. */
  readonly record: FileRecord;
  readonly isDeleted: boolean;
  readonly base: number;
  readonly hasDraft: boolean;
  readonly onCompare: () => void;
  readonly loadLatest: () => void;
}

export function NewerVersion(properties: Properties) {
  const { place: { projectId, path }, record, isDeleted, base, hasDraft, onCompare, loadLatest } = properties;
  const newest = record.version + (isDeleted ? 1 : 0);
  const [dismissed, dismiss] = useState(base);
  const isShown = newest > dismissed;
  // The feed may deliver the version's writer only after the save was answered, so the text is drawn again then.
  const [, draw] = useReducer<number, void>((count) => count + 1, 0);
  useLive(projectId, () => draw());
  useEffect(() => {
    if (isShown) void ensureKeys(projectId);
  }, [projectId, isShown]);
  // The status element is rendered before its text, because a screen reader announces only text that is added.
  if (!isShown) return <div role="status" />;
  const by = writerOf(projectId, path, newest);
  return (
    <div role="status">
      <div class="note newer-version">
        <span>
          {isDeleted ? `The file was deleted${by}` : `Version ${newest} was written${by}`};{" "}
          {hasDraft ? `your draft is based on version ${base}.` : `you are viewing version ${base}.`}
        </span>
        {isDeleted
          ? (
            <button type="button" onClick={() => void restore({ projectId, path }, record.version)}>
              <Icon name="restore" />Restore version {record.version}
            </button>
          )
          : hasDraft
          ? (
            <>
              <button type="button" onClick={onCompare}>Compare and choose</button>
              <button type="button" onClick={loadLatest}>Discard my draft, edit version {newest}</button>
            </>
          )
          : <button type="button" onClick={loadLatest}>Edit version {newest}</button>}
        <button type="button" onClick={() => dismiss(newest)}>Keep editing</button>
      </div>
    </div>
  );
}

/** ` by planner/2.1 with the key agent`, or an empty text if the writer is unknown. */
function writerOf(projectId: string, path: string, version: number): string {
  const change = knownChange({ projectId, path }, version);
  if (change === undefined) return "";
  const writer = writerName(projectId, change.keyId, change.account);
  return change.actor === undefined ? ` by ${writer}` : ` by ${visible(change.actor)} (${writer})`;
}
