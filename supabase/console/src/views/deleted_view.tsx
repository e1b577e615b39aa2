/** Files whose latest version is a tombstone, in all folders. */
import { Allowed } from "../components/allowed.tsx";
import { useState } from "preact/hooks";
import { type FileRecord, listFiles } from "../api/files.ts";
import { Age, ListTable, RowLink } from "../components/list.tsx";
import { fileIcon } from "../components/file_icon.ts";
import { Icon } from "../components/icon.tsx";
import { MenuButton } from "../components/menu_button.tsx";
import { Pager } from "../components/pager.tsx";
import { Empty, Pending } from "../components/states.tsx";
import { visible } from "../format.ts";
import { useLoad } from "../state/use_load.ts";
import { useLive } from "../state/live.ts";
import { usePacedCall } from "../state/paced.ts";
import { announceChange, useChanges } from "../state/changes.ts";
import { type DeletedPlace, goTo } from "../state/router.ts";
import {
  keepFocus,
  Pick,
  PickAll,
  type Selection,
  SelectionBar,
  useSelection,
} from "../components/selection.tsx";
import { restore } from "../state/remove_file.ts";
import { FILES_PER_PAGE } from "../limits.ts";
import { PurgeDialog } from "./erase/purge_dialog.tsx";
import { describeRefusal, restoreSelected } from "../state/many.ts";
import { notifyProblem } from "../state/notices.ts";

export function DeletedView({ place }: { readonly place: DeletedPlace }) {
  const { projectId, first: offset = 0 } = place;
  const { data, error, reload } = useLoad(`deleted ${projectId} ${offset}`, (signal) =>
    listFiles(projectId, {
      directory: "",
      recursive: true,
      deleted: true,
      sortBy: "updated_at",
      sortOrder: "desc",
      offset,
    }, signal));
  useChanges(reload);
  const selection = useSelection((data?.files ?? []).map(({ path }) => path));
  const refresh = usePacedCall(projectId, reload);
  useLive(projectId, (changes) => {
    const isShown = (path: string | undefined) => data?.files.some((file) => file.path === path) ?? true;
    if (changes === null || changes.some(({ deleted, path }) => deleted || isShown(path))) refresh();
  });
  return (
    <section class="view" aria-labelledby="deleted-title">
      <div class="view-head">
        <h1 id="deleted-title">Deleted files</h1>
      </div>
      {data === undefined
        ? <Pending {...{ error, reload }} what="deleted files" />
        : data.files.length === 0
        ? (
          <Empty icon="trash" title="Nothing is deleted.">
            <p>Deleted files keep all their versions and can be restored here.</p>
          </Empty>
        )
        : <Table {...{ projectId, files: data.files, selection }} />}
      {data && (
        <Pager
          label="Pages of deleted files"
          first={offset}
          count={data.files.length}
          perPage={FILES_PER_PAGE}
          total={data.total ?? 0}
          isExact={data.totalIsExact}
          hasNext={data.hasMore}
          onShow={(first) => goTo({ ...place, first })}
        />
      )}
      <Allowed right="write">
        <RestoreSelected {...{ projectId, selection, files: data?.files ?? [] }} />
      </Allowed>
    </section>
  );
}

interface TableProperties {
  readonly projectId: string;
  readonly files: readonly FileRecord[];
  readonly selection: Selection;
}

function Table({ projectId, files, selection }: TableProperties) {
  const [erasing, setErasing] = useState<string | null>(null);
  return (
    <>
      <ListTable
        class="list deleted"
        caption="Deleted files"
        before={<PickAll selection={selection} what="deleted files" />}
        columns={[["Path"], ["Deleted", "when"], ["Actions", "actions"]]}
        onKeyDown={selection.onKeyDown}
      >
        {files.map(({ path, version, updatedAt }) => (
          <tr key={path} data-key={path}>
            <Pick
              name={path}
              isChosen={selection.has(path)}
              onChoose={(isRange) => selection.choose(path, isRange)}
            />
            <td class="name">
              <RowLink
                to={{ name: "file", projectId, path, tab: "history" }}
                icon={fileIcon({ path })}
                text={path}
              />
            </td>
            <td class="when">
              <Age iso={updatedAt} />
            </td>
            <td class="actions">
              <Allowed right="write">
                <button
                  type="button"
                  aria-label={`Restore ${visible(path)}`}
                  onClick={() => restore({ projectId, path }, version - 1)}
                >
                  <Icon name="restore" />Restore
                </button>
              </Allowed>
              <Allowed right="admin">
                <MenuButton
                  label={`Actions for ${visible(path)}`}
                  actions={[{ text: "Erase for good …", isDangerous: true, run: () => setErasing(path) }]}
                >
                  <Icon name="more" />
                </MenuButton>
              </Allowed>
            </td>
          </tr>
        ))}
      </ListTable>
      {erasing !== null && <PurgeDialog {...{ projectId }} path={erasing} onClose={() => setErasing(null)} />}
    </>
  );
}

interface Properties {
  readonly projectId: string;
  readonly files: readonly FileRecord[];
  readonly selection: Selection;
}

function RestoreSelected({ projectId, files, selection }: Properties) {
  const [isBusy, setBusy] = useState(false);
  const restore = async () => {
    setBusy(true);
    try {
      await restoreSelected(projectId, files.filter(({ path }) => selection.has(path)));
      selection.clear();
      keepFocus(selection.chosen);
    } catch (error) {
      // The list on screen may be outdated.
      announceChange({});
      notifyProblem(`Nothing was restored. ${describeRefusal(error)}`, { projectId, path: "" });
    } finally {
      setBusy(false);
    }
  };
  return (
    <SelectionBar selection={selection}>
      <button type="button" disabled={isBusy} onClick={restore}>
        <Icon name="restore" />Restore
      </button>
    </SelectionBar>
  );
}
