/** One file: its content, editing, history, comparison. */
import { useRef, useState } from "preact/hooks";
import type { FileRecord } from "../../api/files.ts";
import { Breadcrumbs } from "../../components/breadcrumbs.tsx";
import { remove } from "../../state/remove_file.ts";
import { directoryOf, formatBytes, nameOf } from "../../format.ts";
import { Age } from "../../components/list.tsx";
import { useCommands } from "../../components/commands.ts";
import { Icon } from "../../components/icon.tsx";
import { Pending } from "../../components/states.tsx";
import { useChanges } from "../../state/changes.ts";
import { type FilePlace, type FileTab, goTo, hrefOf } from "../../state/router.ts";
import { download, isUploading } from "../../state/transfers.ts";
import { draftKey, drafts } from "../../state/drafts.ts";
import { mayBeEdited } from "../../components/shown_type.ts";
import { PurgeDialog } from "../erase/purge_dialog.tsx";
import { CompareTab } from "./compare_tab.tsx";
import { ContentTab } from "./content_tab.tsx";
import { EditTab } from "./edit_tab.tsx";
import { HistoryTab } from "./history_tab.tsx";
import { LinksDialog, MoveDialog } from "./file_dialogs.tsx";
import { useRecord } from "./use_record.ts";

export function FileView({ place }: { readonly place: FilePlace }) {
  const { projectId, path, tab } = place;
  const { data, error, reload, onSaved } = useRecord(projectId, path);
  const last = useRef<FileRecord | null>(null);
  if (data) last.current = data;
  useChanges(({ path: changed }) => {
    // A batch of uploads reports its changed files only at its end.
    if (changed !== undefined || !isUploading()) reload();
  }, path);
  return (
    <section class="view" aria-label="File">
      <div class="view-head">
        <Breadcrumbs projectId={projectId} path={path} />
        {data && <Tools place={place} record={data} />}
      </div>
      {data && <Facts record={data} />}
      {data === null && (
        <p class="note" role="status">
          This file is deleted. Its history has all versions; restore one to recover the file.
        </p>
      )}
      {data !== undefined && <Tabs place={place} isDeleted={data === null} />}
      {data === undefined && <Pending {...{ error, reload }} what="the file" />}
      {data !== undefined && (
        <Tab
          {...{ place, record: data, last: last.current, onSaved }}
          tab={data === null && tab === "content" && place.version === undefined ? "history" : tab}
        />
      )}
    </section>
  );
}

interface TabProperties {
  readonly place: FilePlace;
  /** Null: the file is deleted. */
  readonly record: FileRecord | null;
  /** The file's record before its deletion. */
  readonly last: FileRecord | null;
  readonly onSaved: (saved: FileRecord) => void;
}

function Tab({ place, record, last, onSaved, tab }: TabProperties & { readonly tab: FileTab }) {
  if (tab === "history") return <HistoryTab place={place} latest={record?.version ?? null} />;
  if (tab === "compare") return <CompareTab place={place} latest={record?.version ?? null} />;
  // A draft is kept even if the file is deleted.
  const hasDraft = drafts.value.has(draftKey(place));
  const edited = record ?? (hasDraft ? last : null);
  if (tab === "edit" && edited) {
    return <EditTab place={place} record={edited} isDeleted={record === null} onSaved={onSaved} />;
  }
  return <ContentTab place={place} latest={record} />;
}

function Facts({ record }: { readonly record: FileRecord }) {
  return (
    <p class="facts">
      <span>{record.mimeType}</span>
      <span>{formatBytes(record.size)}</span>
      <span>version {record.version}</span>
      <span>
        changed <Age iso={record.updatedAt} />
      </span>
    </p>
  );
}

function Tools({ place, record }: { readonly place: FilePlace; readonly record: FileRecord }) {
  const { projectId, path } = place;
  const [isMoving, setMoving] = useState(false);
  const [isErasing, setErasing] = useState(false);
  const [isLinking, setLinking] = useState(false);
  const deleteFile = async () => {
    if (await remove(place)) goTo({ name: "files", projectId, directory: directoryOf(path) });
  };
  const downloadShown = () => download(place, place.version ?? record.version);
  const about = nameOf(path);
  const show = (tab: FileTab) => () => goTo({ name: "file", projectId, path, tab });
  useCommands([
    ...mayBeEdited(record)
      ? [{ id: "edit-file", text: "Edit", about, icon: "edit", run: show("edit") } as const]
      : [],
    { id: "download-file", text: "Download", about, icon: "download", run: downloadShown },
    { id: "file-history", text: "History", about, icon: "history", run: show("history") },
    { id: "compare-file", text: "Compare versions", about, icon: "copy", run: show("compare") },
    { id: "file-links", text: "Links …", about, icon: "link", run: () => setLinking(true) },
    { id: "move-file", text: "Move or rename …", about, icon: "edit", run: () => setMoving(true) },
    { id: "delete-file", text: "Delete", about, icon: "trash", run: () => void deleteFile() },
    { id: "erase-file", text: "Erase for good …", about, icon: "trash", run: () => setErasing(true) },
  ]);
  return (
    <div class="tools">
      <button type="button" onClick={downloadShown}>
        <Icon name="download" />Download
      </button>
      {mayBeEdited(record) && (
        <a class="button" href={hrefOf({ name: "file", projectId, path, tab: "edit" })}>
          <Icon name="edit" />Edit
        </a>
      )}
      <button type="button" onClick={() => setLinking(true)}>Links</button>
      <button type="button" onClick={() => setMoving(true)}>Move</button>
      <button type="button" class="danger" onClick={deleteFile}>
        <Icon name="trash" />Delete
      </button>
      <button type="button" class="danger" onClick={() => setErasing(true)}>Erase for good …</button>
      {isErasing && (
        <PurgeDialog
          {...{ projectId, path }}
          onErased={() => goTo({ name: "files", projectId, directory: directoryOf(path) })}
          onClose={() => setErasing(false)}
        />
      )}
      {isLinking && (
        <LinksDialog
          {...{ projectId, path }}
          version={place.version ?? record.version}
          onClose={() => setLinking(false)}
        />
      )}
      {isMoving && <MoveDialog projectId={projectId} path={path} onClose={() => setMoving(false)} />}
    </div>
  );
}

const TABS: readonly (readonly [FileTab, string])[] = [
  ["content", "Content"],
  ["history", "History"],
  ["compare", "Compare"],
];

function Tabs({ place, isDeleted }: { readonly place: FilePlace; readonly isDeleted: boolean }) {
  const { projectId, path } = place;
  const current = place.tab === "edit" ? "content" : place.tab;
  return (
    <nav class="tabs" aria-label="Views of the file">
      {TABS.filter(([tab]) => !(isDeleted && tab === "content")).map(([tab, text]) => (
        <a
          key={tab}
          href={hrefOf({ name: "file", projectId, path, tab })}
          aria-current={current === tab ? "page" : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
  );
}
