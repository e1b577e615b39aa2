/** @jsxImportSource preact */
/// <reference lib="dom" />
import type { SortField } from "../../api/files.ts";
import type { FileRecord } from "../../api/records.ts";
import { formatBytes, joinPath, nameOf } from "../../format.ts";
import { Age } from "../../components/age.tsx";
import { changedClass, ChangedMark } from "../../components/changed_mark.tsx";
import { Icon } from "../../components/icon.tsx";
import { goTo, hrefOf } from "../../state/router.ts";
import { download } from "../../state/transfers.ts";
import { moveInList } from "../../components/list_navigation.ts";
import type { Sort } from "./use_listing.ts";

interface Properties {
  readonly projectId: string;
  readonly directory: string;
  readonly folders: readonly string[];
  readonly files: readonly FileRecord[];
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  readonly onDelete: (file: FileRecord) => void;
}

const COLUMNS: readonly (readonly [SortField, string, string])[] = [
  ["path", "Name", "name"],
  ["size", "Size", "number"],
  ["updated_at", "Modified", "when"],
];

export function FileTable({ projectId, directory, folders, files, sort, onSort, onDelete }: Properties) {
  return (
    <table class="list files">
      <caption class="visually-hidden">Files in {directory === "" ? "the project" : directory}</caption>
      <thead>
        <tr>
          {COLUMNS.map(([field, text, kind]) => (
            <SortHeader key={field} {...{ field, text, kind, sort, onSort }} />
          ))}
          <th scope="col" class="number version">Version</th>
          <th scope="col" class="actions">
            <span class="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody onKeyDown={moveInList}>
        {folders.map((name) => (
          <tr key={`${name}/`}>
            <td class="name" colSpan={5}>
              <a
                class="row-link"
                href={hrefOf({ name: "files", projectId, directory: joinPath(directory, name) })}
              >
                <Icon name="folder" />
                {name}
                <span class="visually-hidden">, folder</span>
              </a>
            </td>
          </tr>
        ))}
        {files.map((file) => <Row key={file.path} {...{ projectId, file, onDelete }} />)}
      </tbody>
    </table>
  );
}

interface HeaderProperties {
  readonly field: SortField;
  readonly text: string;
  readonly kind: string;
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
}

function SortHeader({ field, text, kind, sort, onSort }: HeaderProperties) {
  const isSorted = sort.by === field;
  const direction = sort.order === "asc" ? "ascending" : "descending";
  const flip = () => onSort({ by: field, order: isSorted && sort.order === "asc" ? "desc" : "asc" });
  return (
    <th scope="col" class={kind} aria-sort={isSorted ? direction : "none"}>
      <button type="button" class={isSorted ? `sort ${sort.order}` : "sort"} onClick={flip}>
        {text}
        {isSorted && <Icon name="chevron" />}
      </button>
    </th>
  );
}

interface RowProperties {
  readonly projectId: string;
  readonly file: FileRecord;
  readonly onDelete: (file: FileRecord) => void;
}

function Row({ projectId, file, onDelete }: RowProperties) {
  const { id, path, size, version, updatedAt } = file;
  const name = nameOf(path);
  return (
    <tr
      class={changedClass(id)}
      onKeyDown={(event) => {
        if (event.key === "Delete") onDelete(file);
      }}
      onDblClick={() => goTo({ name: "file", projectId, path, tab: "content" })}
    >
      <td class="name">
        <a class="row-link" href={hrefOf({ name: "file", projectId, path, tab: "content" })} title={path}>
          <Icon name="file" />
          {name}
        </a>
      </td>
      <td class="number">{formatBytes(size)}</td>
      <td class="when">
        <Age iso={updatedAt} />
        <ChangedMark fileId={id} />
      </td>
      <td class="number version">{version}</td>
      <td class="actions">
        <button
          type="button"
          class="icon-button"
          aria-label={`Download ${name}`}
          title="Download"
          onClick={() => download(projectId, path, version)}
        >
          <Icon name="download" />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label={`Delete ${name}`}
          title="Delete"
          onClick={() => onDelete(file)}
        >
          <Icon name="trash" />
        </button>
      </td>
    </tr>
  );
}
