import { Allowed } from "../../components/allowed.tsx";
import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import type { FileRecord, SortField } from "../../api/files.ts";
import { formatAge, formatBytes, joinPath, nameOf, visible } from "../../format.ts";
import { Age, changedClass, ChangedMark, FolderCells, RowLink } from "../../components/list.tsx";
import { fileIcon } from "../../components/file_icon.ts";
import { Icon, IconButton } from "../../components/icon.tsx";
import { isMarked } from "../../state/live.ts";
import { goTo } from "../../state/router.ts";
import { download } from "../../state/transfers.ts";
import { isPressed } from "../../components/shortcut_table.ts";
import { keyAt, Pick, PickAll, type Selection } from "../../components/selection.tsx";
import { FolderMenu, type FolderQuestion } from "./folder_menu.tsx";
import { folderKey } from "./selected_actions.tsx";
import type { Sort } from "./use_listing.ts";

interface Properties {
  readonly projectId: string;
  readonly directory: string;
  readonly folders: readonly string[];
  readonly files: readonly FileRecord[];
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  readonly onDelete: (file: FileRecord) => void;
  readonly selection: Selection;
  /** Called with the choice in the menu of a folder. */
  readonly onFolder: (question: FolderQuestion) => void;
  /** Called with the key of the row in which Delete was pressed. */
  readonly onDeleteKey: (key: string) => void;
}

const COLUMNS: readonly (readonly [SortField, string, string])[] = [
  ["path", "Name", "name"],
  ["size", "Size", "number"],
  ["updated_at", "Modified", "when"],
];

export function FileTable(
  { projectId, directory, folders, files, sort, onSort, onDelete, selection, onFolder, onDeleteKey }:
    Properties,
) {
  const rowOf = useRows(projectId, selection, onDelete);
  return (
    <table class="list files">
      <caption class="visually-hidden">Files in {directory === "" ? "the project" : directory}</caption>
      <thead>
        <tr>
          <PickAll selection={selection} what="files and folders" />
          {COLUMNS.map(([field, text, kind]) => (
            <SortHeader key={field} {...{ field, text, kind, sort, onSort }} />
          ))}
          <th scope="col" class="number version">Version</th>
          <th scope="col" class="actions">
            <span class="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody
        onKeyDown={(event) => {
          const key = isPressed(event, "remove") ? keyAt(event.target) : undefined;
          if (key === undefined) selection.onKeyDown(event);
          else onDeleteKey(key);
        }}
      >
        {folders.map((name) => (
          <FolderRow
            key={`${name}/`}
            {...{ projectId, name, selection, onFolder }}
            path={joinPath(directory, name)}
          />
        ))}
        {files.map(rowOf)}
      </tbody>
    </table>
  );
}

interface SortProperties {
  readonly field: SortField;
  readonly text: string;
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
}

function SortHeader({ kind, ...rest }: SortProperties & { readonly kind: string }) {
  const { field, sort, onSort } = rest;
  return (
    <th scope="col" class={kind} aria-sort={sort.by === field ? SPOKEN[sort.order] : "none"}>
      <SortButton {...rest} />
      {field === "updated_at" && (
        <SortButton
          field="size"
          text="Size"
          kind="on-phone"
          {...{ sort, onSort }}
        />
      )}
    </th>
  );
}

const SPOKEN = { asc: "ascending", desc: "descending" } as const;

/** `on-phone`: for a column that a phone shows below another one. */
function SortButton({ field, text, sort, onSort, kind = "" }: SortProperties & { readonly kind?: string }) {
  const isSorted = sort.by === field;
  const flip = () => onSort({ by: field, order: isSorted && sort.order === "asc" ? "desc" : "asc" });
  return (
    <button type="button" class={`sort ${isSorted ? sort.order : ""} ${kind}`} onClick={flip}>
      {text}
      {isSorted && <Icon name="chevron" />}
      {isSorted && kind !== "" && <span class="visually-hidden">, {SPOKEN[sort.order]}</span>}
    </button>
  );
}

interface FolderRowProperties {
  readonly projectId: string;
  readonly name: string;
  readonly path: string;
  readonly selection: Selection;
  readonly onFolder: (question: FolderQuestion) => void;
}

function FolderRow({ projectId, name, path, selection, onFolder }: FolderRowProperties) {
  const key = folderKey(path);
  return (
    <tr data-key={key}>
      <Pick
        name={`${name}, folder`}
        isChosen={selection.has(key)}
        onChoose={(isRange) => selection.choose(key, isRange)}
      />
      <FolderCells to={{ name: "files", projectId, directory: path }} name={name} />
      <td class="actions">
        <FolderMenu projectId={projectId} path={path} onAsk={onFolder} />
      </td>
    </tr>
  );
}

/**
 * Returns a function that creates the row of a file. An unchanged row is reused, so that few of thousands are drawn again.
 */
function useRows(projectId: string, selection: Selection, onDelete: (file: FileRecord) => void) {
  const rows = useRef(new WeakMap<FileRecord, KnownRow>());
  const latest = useRef({ selection, onDelete });
  latest.current = { selection, onDelete };
  return (file: FileRecord): VNode => {
    const isChosen = selection.has(file.path);
    const isChanged = isMarked(file.id);
    const shows = `${projectId} ${isChosen} ${isChanged} ${formatAge(file.updatedAt)}`;
    const known = rows.current.get(file);
    if (known?.shows === shows) return known.row;
    const row = (
      <Row
        key={file.path}
        {...{ projectId, file, isChosen, isChanged }}
        onChoose={(isRange) => latest.current.selection.choose(file.path, isRange)}
        onDelete={() => latest.current.onDelete(file)}
      />
    );
    rows.current.set(file, { shows, row });
    return row;
  };
}

interface KnownRow {
  /** Everything in the row that does not come from the file, for comparison. */
  readonly shows: string;
  readonly row: VNode;
}

interface RowProperties {
  readonly projectId: string;
  readonly file: FileRecord;
  readonly isChosen: boolean;
  readonly isChanged: boolean;
  readonly onChoose: (isRange: boolean) => void;
  readonly onDelete: () => void;
}

function Row({ projectId, file, isChosen, isChanged, onChoose, onDelete }: RowProperties) {
  const { path, size, version, updatedAt } = file;
  const name = nameOf(path);
  return (
    <tr
      class={changedClass(isChanged)}
      data-key={path}
      onDblClick={() => goTo({ name: "file", projectId, path, tab: "content" })}
    >
      <Pick {...{ name, isChosen, onChoose }} />
      <td class="name">
        <RowLink
          to={{ name: "file", projectId, path, tab: "content" }}
          icon={fileIcon(file)}
          text={name}
          title={visible(path)}
        />
      </td>
      <td class="number">{formatBytes(size)}</td>
      <td class="when" data-size={formatBytes(size)}>
        <Age iso={updatedAt} />
        <ChangedMark isChanged={isChanged} />
      </td>
      <td class="number version">{version}</td>
      <td class="actions">
        <IconButton
          icon="download"
          label={`Download ${visible(name)}`}
          title="Download"
          onClick={() => download({ projectId, path }, version)}
        />
        <Allowed right="write">
          <IconButton icon="trash" label={`Delete ${visible(name)}`} title="Delete" onClick={onDelete} />
        </Allowed>
      </td>
    </tr>
  );
}
