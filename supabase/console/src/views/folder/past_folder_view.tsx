/** A folder as it was at a time, to read, to download, and to restore. */
import { Allowed } from "../../components/allowed.tsx";
import { useState } from "preact/hooks";
import { type FileList, listFiles } from "../../api/files.ts";
import { Age, FolderCells, ListTable, moveInList, RowLink } from "../../components/list.tsx";
import { Breadcrumbs } from "../../components/breadcrumbs.tsx";
import { fileIcon } from "../../components/file_icon.ts";
import { Icon } from "../../components/icon.tsx";
import { PastBanner } from "../../components/past_banner.tsx";
import { Empty, Pending } from "../../components/states.tsx";
import { formatBytes, formatCount, joinPath, nameOf, visible } from "../../format.ts";
import { downloadFolder } from "../../state/archive.ts";
import { type FilesPlace, goTo } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";
import { FolderDialog } from "./folder_dialog.tsx";
import { isCode } from "../../api/failure.ts";
import { planRestore, restoreFolder } from "../../api/many.ts";
import { FormDialog, useSubmit } from "../../components/form.tsx";
import { UndoPlan } from "../../components/undo_plan.tsx";
import { describeRefusal, finish, refresh } from "../../state/many.ts";

export function PastFolderView({ place, at }: { readonly place: FilesPlace; readonly at: string }) {
  const { projectId, directory, after } = place;
  const { data, error, reload } = useLoad(
    `past ${projectId} ${directory} ${at} ${after}`,
    (signal) => listFiles(projectId, { directory, at, after }, signal),
  );
  const next = data?.hasMore ? data.next ?? data.files.at(-1)?.path : undefined;
  return (
    <section class="view" aria-label="Folder as it was">
      <PastBanner at={at} placeAt={(time) => ({ name: "files", projectId, directory, at: time })}>
        <Tools {...{ projectId, directory, at }} />
      </PastBanner>
      <div class="view-head">
        <Breadcrumbs projectId={projectId} path={directory} at={at} />
      </div>
      {data === undefined ? <Pending {...{ error, reload }} what="the folder as it was" /> : (
        <>
          <Table {...{ projectId, directory, at }} list={data} isFirst={after === undefined} />
          <LeftOut list={data} />
        </>
      )}
      {next !== undefined && (
        <button type="button" onClick={() => goTo({ ...place, after: next })}>More files</button>
      )}
    </section>
  );
}

interface ToolProperties {
  readonly projectId: string;
  readonly directory: string;
  readonly at: string;
}

function Tools({ projectId, directory, at }: ToolProperties) {
  const [open, setOpen] = useState<"restore" | "copy" | null>(null);
  const onClose = () => setOpen(null);
  return (
    <>
      <Allowed right="write">
        <button type="button" onClick={() => setOpen("restore")}>
          <Icon name="restore" />
          {directory === "" ? "Restore the project to this time …" : "Restore this folder to this time …"}
        </button>
        {directory !== "" && (
          <button type="button" onClick={() => setOpen("copy")}>Copy from this time …</button>
        )}
      </Allowed>
      <button type="button" onClick={() => downloadFolder(projectId, directory, at)}>
        <Icon name="download" />Download ZIP
      </button>
      {open === "restore" && <RestoreFolderDialog {...{ projectId, directory, at, onClose }} />}
      {open === "copy" && (
        <FolderDialog
          kind="copy"
          path={directory}
          {...{ projectId, at, onClose }}
          onDone={(made) => goTo({ name: "files", projectId, directory: made })}
        />
      )}
    </>
  );
}

interface TableProperties extends ToolProperties {
  readonly list: FileList;
  readonly isFirst: boolean;
}

function Table({ projectId, directory, at, list, isFirst }: TableProperties) {
  const folders = isFirst ? list.directories ?? [] : [];
  if (folders.length === 0 && list.files.length === 0) {
    return <Empty icon="folder" title="There were no files then." />;
  }
  return (
    <ListTable
      class="list files"
      caption="Files as they were"
      columns={[["Name", "name"], ["Size", "number"], ["Modified", "when"], ["Version", "number version"]]}
      onKeyDown={moveInList}
    >
      {folders.map((name) => (
        <tr key={`${name}/`}>
          <FolderCells
            to={{ name: "files", projectId, directory: joinPath(directory, name), at }}
            name={name}
          />
        </tr>
      ))}
      {list.files.map(({ path, mimeType, size, version, updatedAt }) => (
        <tr key={path}>
          <td class="name">
            <RowLink
              to={{ name: "file", projectId, path, tab: "content", at }}
              icon={fileIcon({ path, mimeType })}
              text={nameOf(path)}
            />
          </td>
          <td class="number">{formatBytes(size)}</td>
          <td class="when">
            <Age iso={updatedAt} />
          </td>
          <td class="number version">{version}</td>
        </tr>
      ))}
    </ListTable>
  );
}

function LeftOut({ list: { trimmed = [], hasMoreDirectories } }: { readonly list: FileList }) {
  return (
    <>
      {trimmed.length > 0 && (
        <details class="plan">
          <summary>
            {formatCount(trimmed.length, "file")} existed in a version that retention has deleted since
          </summary>
          <ul>{trimmed.map((path) => <li key={path}>{visible(path)}</li>)}</ul>
        </details>
      )}
      {hasMoreDirectories && <p class="hint">There may have been more folders than those shown.</p>}
    </>
  );
}

interface RestoreFolderDialogProperties {
  readonly projectId: string;
  readonly directory: string;
  readonly at: string;
  readonly onClose: () => void;
}

function RestoreFolderDialog({ projectId, directory, at, onClose }: RestoreFolderDialogProperties) {
  const plan = useLoad(
    `restore ${projectId} ${directory} ${at}`,
    (signal) => planRestore(projectId, directory, at, signal),
  );
  const { data } = plan;
  const { isBusy, error, submit } = useSubmit(async () => {
    const { runId, actions } = await restoreFolder(projectId, directory, at);
    onClose();
    goTo({ name: "files", projectId, directory });
    if (runId !== null) finish(projectId, { runId, count: actions.length }, "Restored", "restoring");
    refresh(projectId, actions.map(({ path }) => path));
  });
  return (
    <FormDialog
      title={directory === "" ? "Restore the project?" : `Restore ${nameOf(directory)}?`}
      action="Restore"
      isBusy={isBusy || data === undefined || data.actions.length === 0}
      {...{ submit, onClose }}
    >
      {isCode(plan.error, "TOO_MANY_FILES")
        ? <p class="form-problem" role="alert">{describeRefusal(plan.error)}</p>
        : data === undefined
        ? <Pending {...plan} what="the plan" />
        : <UndoPlan plan={data} gone="created later" same="it was then" />}
      <p class="hint">Each file gets a new version; later versions stay in its history.</p>
      {error !== undefined && (
        <p class="form-problem" role="alert">Nothing was restored. {describeRefusal(error)}</p>
      )}
    </FormDialog>
  );
}
