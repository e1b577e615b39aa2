import { may } from "../../state/projects.ts";
import { Allowed } from "../../components/allowed.tsx";
import { useRef, useState } from "preact/hooks";
import { keepFocus } from "../../components/selection.tsx";
import { Breadcrumbs } from "../../components/breadcrumbs.tsx";
import { enterList } from "../../components/list.tsx";
import { Near } from "../../components/near.tsx";
import { Empty, Loading, Pending } from "../../components/states.tsx";
import { formatNumber } from "../../format.ts";
import { FOLDERS_LISTED_MAX } from "../../limits.ts";
import { remove } from "../../state/remove_file.ts";
import { type FilesPlace, hrefOf, replaceWith } from "../../state/router.ts";
import { FileTable } from "./file_table.tsx";
import { FolderMenu, type FolderQuestion, FolderQuestionDialog } from "./folder_menu.tsx";
import { FolderTools } from "./folder_tools.tsx";
import { FilterField, type NameScan, ScanProgress, useFilter } from "./name_filter.tsx";
import { pathOfFolder, useChosen, useSelectedActions } from "./selected_actions.tsx";
import { EarlierFiles, MoreFiles } from "./more_files.tsx";
import { uploadAll, useDropPlace } from "./uploading.ts";
import { type Sort, sortOf, useListing } from "./use_listing.ts";

export function FolderView({ place }: { readonly place: FilesPlace }) {
  const { projectId, directory } = place;
  const { filter, setFilter, keepFilter } = useFilter(place);
  const list = useRef<HTMLDivElement>(null);
  const listing = useListing(place, filter);
  const { files, folders, scan } = listing;
  const chosen = useChosen(directory, folders, files);
  const actions = useSelectedActions(projectId, directory, chosen);
  const [question, ask] = useState<FolderQuestion | null>(null);
  const removeOne = async (path: string) => {
    if (await remove({ projectId, path })) keepFocus([path]);
  };
  const onDeleteKey = (key: string) => {
    if (!may("write")) return;
    const path = pathOfFolder(key);
    if (chosen.selection.has(key)) actions.remove();
    else if (path !== undefined) ask({ what: "delete", path, isPage: false });
    else void removeOne(key);
  };
  const dropPlace = useDropPlace((dropped) => may("write") && uploadAll(projectId, directory, dropped));
  const isEmpty = files.length === 0 && folders.length === 0;
  const onSort = ({ by, order }: Sort) =>
    replaceWith({ ...place, filter, sort: by, order, first: undefined, after: undefined });
  return (
    <section class={dropPlace.isOver ? "view drop-over" : "view"} aria-label="Folder" {...dropPlace.handlers}>
      <div class="view-head">
        <Breadcrumbs projectId={projectId} path={directory} />
        <FolderTools projectId={projectId} directory={directory}>
          <FolderMenu projectId={projectId} path={directory} isPage onAsk={ask} />
        </FolderTools>
      </div>
      <FilterField
        value={filter}
        onInput={setFilter}
        onLeave={keepFilter}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            keepFilter();
          }
          enterList(event, list.current);
        }}
      />
      {scan && <ScanProgress {...{ scan, filter }} total={listing.total} count={listing.foundCount} />}
      {filter === "" && <EarlierFiles listing={listing} />}
      <div ref={list} aria-busy={listing.isLoading}>
        {listing.data === undefined
          ? <Pending {...listing} what="files" />
          : isEmpty
          ? <EmptyFolder {...{ place, filter, isSearching: listing.isSearching, scan }} />
          : (
            <FileTable
              {...{ projectId, directory, folders, files, onSort }}
              selection={chosen.selection}
              sort={sortOf(place)}
              onFolder={ask}
              onDeleteKey={onDeleteKey}
              onDelete={({ path }) => void removeOne(path)}
            />
          )}
      </div>
      {folders.length === FOLDERS_LISTED_MAX && (
        <p class="hint">Only the first {formatNumber(FOLDERS_LISTED_MAX)} folders are shown.</p>
      )}
      {filter === "" && <MoreFiles {...{ listing, list }} />}
      {actions.bar}
      {question && (
        <FolderQuestionDialog
          {...{ projectId, question }}
          onClose={() => ask(null)}
        />
      )}
    </section>
  );
}

interface EmptyFolderProperties {
  readonly place: FilesPlace;
  readonly filter: string;
  readonly isSearching: boolean;
  readonly scan: NameScan | null;
}

function EmptyFolder({ place, filter, isSearching, scan }: EmptyFolderProperties) {
  const { projectId, directory, first = 0 } = place;
  if (isSearching) return <Loading what="more names" />;
  if (filter !== "" && scan?.isComplete === false) return null;
  if (filter !== "") {
    return (
      <Empty icon="search" title={`No name contains “${filter}”.`}>
        <p>Clear the filter to see all files.</p>
      </Empty>
    );
  }
  if (first > 0) {
    return (
      <Empty icon="folder" title="There are no files on this page.">
        <a href={hrefOf({ name: "files", projectId, directory })}>Show the first page</a>
      </Empty>
    );
  }
  return (
    <Empty icon="folder" title={directory === "" ? "There are no files yet." : "This folder has no files."}>
      <Allowed right="write">
        <p>
          Drop files or folders here, upload some, or let an agent write:{" "}
          <a href={hrefOf({ name: "keys", projectId })}>create an API key</a> for it.
        </p>
      </Allowed>
      {directory !== "" && <Near {...{ projectId }} path={directory} />}
    </Empty>
  );
}
