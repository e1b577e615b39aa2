/** One file: its content, with its history beside it, editing, and comparison. */
import { may } from "../../state/projects.ts";
import { useRef } from "preact/hooks";
import { isCode } from "../../api/failure.ts";
import type { FileRecord } from "../../api/files.ts";
import { Breadcrumbs } from "../../components/breadcrumbs.tsx";
import { formatBytes } from "../../format.ts";
import { Age } from "../../components/list.tsx";
import { Icon } from "../../components/icon.tsx";
import { Pending } from "../../components/states.tsx";
import { useChanges } from "../../state/changes.ts";
import { type FilePlace, hrefOf } from "../../state/router.ts";
import { isUploading } from "../../state/transfers.ts";
import { draftKey, drafts } from "../../state/drafts.ts";
import { CompareTab } from "./compare_tab.tsx";
import { ContentTab } from "./content_tab.tsx";
import { EditTab } from "./edit_tab.tsx";
import { FileTools } from "./file_tools.tsx";
import { HistoryPanel } from "./history_panel.tsx";
import { MissingFile } from "./missing_file.tsx";
import { useRecord } from "./use_record.ts";

export function FileView({ place }: { readonly place: FilePlace }) {
  const { projectId, path } = place;
  const { data, error, reload, onSaved } = useRecord(projectId, path);
  const last = useRef<FileRecord | null>(null);
  if (data) last.current = data;
  const isMissing = isCode(error, "FILE_NOT_FOUND");
  useChanges(({ path: changed }) => {
    // A batch of uploads reports its changed files only at its end.
    if (changed !== undefined || !isUploading()) reload();
  }, path);
  return (
    <section class="view" aria-label="File">
      <header class="file-head">
        <div class="view-head">
          <Breadcrumbs projectId={projectId} path={path} />
          {data && <FileTools place={place} record={data} />}
        </div>
        {data && <Facts place={place} record={data} />}
      </header>
      {data === null && (
        <p class="note" role="status">
          This file is deleted. Its{" "}
          <a href={hrefOf({ name: "file", projectId, path, tab: "history" })}>history</a>{" "}
          has all versions; restore one to recover the file.
        </p>
      )}
      {data === undefined && (isMissing
        ? <MissingFile {...{ projectId, path }} onMade={reload} />
        : <Pending {...{ error, reload }} what="the file" />)}
      {data !== undefined && <Tab {...{ place, record: data, last: last.current, onSaved }} />}
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

function Tab({ place, record, last, onSaved }: TabProperties) {
  const { tab, version } = place;
  const latest = record?.version ?? null;
  if (tab === "compare") return <CompareTab {...{ place, latest }} />;
  // A draft is kept even if the file is deleted.
  const hasDraft = drafts.value.has(draftKey(place));
  const edited = record ?? (hasDraft ? last : null);
  if (tab === "edit" && edited && may("write")) {
    return <EditTab place={place} record={edited} isDeleted={record === null} onSaved={onSaved} />;
  }
  const hasContent = record !== null || version !== undefined;
  if (hasContent && tab !== "history") return <ContentTab place={place} latest={record} />;
  return (
    <div class={hasContent ? "beside" : ""}>
      <HistoryPanel {...{ place, latest }} />
      {hasContent && (
        <div class="beside-content">
          <ContentTab place={place} latest={record} />
        </div>
      )}
    </div>
  );
}

/** Version, size and age in one line, which opens and closes the history. */
function Facts({ place, record }: { readonly place: FilePlace; readonly record: FileRecord }) {
  const { projectId, path, version } = place;
  const isOpen = place.tab === "history";
  return (
    <a
      class="file-facts"
      href={hrefOf({ name: "file", projectId, path, version, tab: isOpen ? "content" : "history" })}
      aria-expanded={isOpen}
    >
      <Icon name="history" />
      <span title={`Type: ${record.mimeType}`}>
        Version {record.version} · {formatBytes(record.size)} · <Age iso={record.updatedAt} />
      </span>
      <span class="file-facts-action">{isOpen ? "Hide history" : "History"}</span>
    </a>
  );
}
