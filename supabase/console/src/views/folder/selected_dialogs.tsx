/** The dialogs before selected files and folders are deleted or moved. */
import { countFiles } from "../../api/many.ts";
import { FormDialog, useSubmit } from "../../components/form.tsx";
import { Pending } from "../../components/states.tsx";
import { formatCount, nameOf } from "../../format.ts";
import { deleteSelected, describeRefusal, moveSelected, type Selected } from "../../state/many.ts";
import { useLoad } from "../../state/use_load.ts";
import { useState } from "preact/hooks";
import { isCode, reasonFor } from "../../api/failure.ts";
import { PathField } from "../../components/path_field.tsx";
import { InTheWay, useOverwrite } from "./folder_dialog.tsx";

interface DeleteSelectedDialogProperties {
  readonly projectId: string;
  readonly selected: Selected;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function DeleteSelectedDialog(
  { projectId, selected, onClose, onDone }: DeleteSelectedDialogProperties,
) {
  const { files, folders } = selected;
  const count = useLoad(`count ${projectId} ${folders.join("\n")}`, async (signal) => {
    const counts = await Promise.all(folders.map((folder) => countFiles(projectId, folder, signal)));
    return {
      count: counts.reduce((sum, { count }) => sum + count, files.length),
      isExact: counts.every(({ isExact }) => isExact),
    };
  });
  const { isBusy, error, submit } = useSubmit(async () => {
    await deleteSelected(projectId, selected);
    onClose();
    onDone();
  });
  const [folder = ""] = folders;
  const title = folders.length === 1 && files.length === 0
    ? `Delete ${nameOf(folder)}?`
    : `Delete ${formatCount(folders.length + files.length, "item")}?`;
  return (
    <FormDialog
      title={title}
      action="Delete"
      isDangerous
      isBusy={isBusy || count.data === undefined}
      {...{ submit, onClose }}
    >
      {count.data === undefined ? <Pending {...count} what="how many files there are" /> : (
        <p>
          {count.data.isExact ? "" : "More than "} {formatCount(count.data.count, "file")}{" "}
          will be deleted. You can restore deleted files with all versions.
        </p>
      )}
      {error !== undefined && (
        <p class="form-problem" role="alert">Nothing was deleted. {describeRefusal(error)}</p>
      )}
    </FormDialog>
  );
}

interface MoveSelectedDialogProperties {
  readonly projectId: string;
  readonly directory: string;
  readonly selected: Selected;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Moves all of the selection into another folder, or nothing. */
export function MoveSelectedDialog(
  { projectId, directory, selected, onClose, onDone }: MoveSelectedDialogProperties,
) {
  const [destination, setDestination] = useState(directory);
  const { isOverwriting, overwrite } = useOverwrite();
  const { isBusy, error, submit } = useSubmit(async () => {
    await moveSelected(projectId, selected, destination.replace(/^\/+|\/+$/g, ""), isOverwriting);
    onClose();
    onDone();
  });
  const what = formatCount(selected.files.length + selected.folders.length, "item");
  const problem = isCode(error, "INVALID_PATH") ? error.message : reasonFor(error, "destination");
  return (
    <FormDialog title={`Move ${what}`} action="Move" {...{ isBusy, submit, onClose }}>
      <PathField
        projectId={projectId}
        label="To folder"
        value={destination}
        onInput={setDestination}
        hint="Leave empty for the top of the project. A new folder is created."
        problem={problem}
        isFolder
        autoFocus
      />
      {problem === undefined && <InTheWay {...{ error, isOverwriting, overwrite }} />}
    </FormDialog>
  );
}
