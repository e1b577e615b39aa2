/** Asks before folders are deleted: how many files they have is not seen in the list. */
import { countFiles } from "../../api/many.ts";
import { FormDialog, useSubmit } from "../../components/form.tsx";
import { Pending } from "../../components/states.tsx";
import { formatCount, nameOf } from "../../format.ts";
import { deleteSelected, describeRefusal, type Selected } from "../../state/many.ts";
import { useLoad } from "../../state/use_load.ts";

interface Properties {
  readonly projectId: string;
  readonly selected: Selected;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function DeleteSelectedDialog({ projectId, selected, onClose, onDone }: Properties) {
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
          {count.data.isExact ? "" : "More than "}
          {formatCount(count.data.count, "file")} {count.data.count === 1 ? "goes" : "go"}{" "}
          to the deleted files, with all versions, and can be restored.
        </p>
      )}
      {error !== undefined && (
        <p class="form-problem" role="alert">Nothing was deleted. {describeRefusal(error)}</p>
      )}
    </FormDialog>
  );
}
