/** @jsxImportSource preact */
/// <reference lib="dom" />
/** The subfolders and files of a folder. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../../components/icon.tsx";
import { Pager } from "../../components/pager.tsx";
import { Empty, Loading, Problem } from "../../components/states.tsx";
import { hrefOf } from "../../state/router.ts";
import { uploadsSettled } from "../../state/transfers.ts";
import { Breadcrumbs } from "../../components/breadcrumbs.tsx";
import { FileTable } from "./file_table.tsx";
import { enterList } from "../../components/list_navigation.ts";
import { NewFileDialog } from "./new_file_dialog.tsx";
import { remove } from "../../state/remove_file.ts";
import { uploadAll, useDropPlace } from "./uploading.ts";
import { type Sort, useListing } from "./use_listing.ts";

interface Properties {
  readonly projectId: string;
  readonly directory: string;
}

export function FolderView({ projectId, directory }: Properties) {
  const [sort, setSort] = useState<Sort>({ by: "path", order: "asc" });
  const [filter, setFilter] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const listing = useListing(projectId, directory, sort, filter);
  const { reload, files, folders } = listing;
  const dropPlace = useDropPlace((dropped) => uploadAll(projectId, directory, dropped));
  const settled = uploadsSettled.value;
  useEffect(() => {
    if (settled > 0) reload();
  }, [settled]);
  const isEmpty = files.length === 0 && folders.length === 0;
  return (
    <section class={dropPlace.isOver ? "view drop-over" : "view"} aria-label="Folder" {...dropPlace.handlers}>
      <div class="view-head">
        <Breadcrumbs projectId={projectId} path={directory} />
        <Tools projectId={projectId} directory={directory} />
      </div>
      <FilterField
        value={filter}
        onInput={setFilter}
        onKeyDown={(event) =>
          enterList(event, list.current)}
      />
      {listing.isFilterPartial && (
        <p class="hint">
          Shows names on this page that contain the text, and all names in the folder that begin with it.
        </p>
      )}
      <div ref={list} aria-busy={listing.isLoading}>
        {listing.error !== undefined
          ? <Problem error={listing.error} onRetry={reload} />
          : listing.data === undefined
          ? <Loading what="files" />
          : isEmpty
          ? <EmptyFolder {...{ projectId, filter, isSearching: listing.isSearching, directory }} />
          : (
            <FileTable
              {...{ projectId, directory, folders, files, sort }}
              onSort={setSort}
              onDelete={({ path }) => remove(projectId, path, reload)}
            />
          )}
      </div>
      {filter === "" && (
        <Pager
          label="Pages of files"
          first={listing.first}
          count={listing.count}
          total={listing.total}
          hasNext={listing.data?.hasMore ?? false}
          onPrevious={listing.previous}
          onNext={listing.next}
        />
      )}
    </section>
  );
}

interface FilterProperties {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

function FilterField({ value, onInput, onKeyDown }: FilterProperties) {
  return (
    <div class="filter">
      <Icon name="search" />
      <label class="visually-hidden" for="filter">Filter by name</label>
      <input
        id="filter"
        type="search"
        placeholder="Filter by name  ( / )"
        value={value}
        data-filter=""
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

function Tools({ projectId, directory }: Properties) {
  const [isCreating, setCreating] = useState(false);
  return (
    <div class="tools">
      <button type="button" onClick={() => setCreating(true)}>
        <Icon name="plus" />New file
      </button>
      <label class="button primary">
        <Icon name="upload" />Upload files
        <input
          type="file"
          multiple
          class="visually-hidden"
          onChange={({ currentTarget }) => {
            uploadAll(projectId, directory, currentTarget.files);
            currentTarget.value = "";
          }}
        />
      </label>
      {isCreating && (
        <NewFileDialog
          projectId={projectId}
          directory={directory}
          onClose={() => setCreating(false)}
        />
      )}
    </div>
  );
}

interface EmptyFolderProperties extends Properties {
  readonly filter: string;
  readonly isSearching: boolean;
}

function EmptyFolder({ projectId, directory, filter, isSearching }: EmptyFolderProperties) {
  if (isSearching) return <Loading what="more names" />;
  if (filter !== "") {
    return (
      <Empty icon="search" title={`No name contains “${filter}”.`}>
        <p>Clear the filter to see all files.</p>
      </Empty>
    );
  }
  return (
    <Empty icon="folder" title={directory === "" ? "There are no files yet." : "This folder has no files."}>
      <p>
        Drop files here, upload some, or let an agent write:{" "}
        <a href={hrefOf({ name: "keys", projectId })}>create an API key</a> for it.
      </p>
    </Empty>
  );
}
