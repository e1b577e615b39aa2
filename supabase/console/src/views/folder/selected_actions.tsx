/** The actions for the selected files and folders of a list. */
import { Allowed } from "../../components/allowed.tsx";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { FileRecord } from "../../api/files.ts";
import { Icon } from "../../components/icon.tsx";
import { keepFocus, type Selection, SelectionBar, useSelection } from "../../components/selection.tsx";
import { joinPath } from "../../format.ts";
import { downloadSelected } from "../../state/archive.ts";
import { announceChange } from "../../state/changes.ts";
import { deleteSelected, describeRefusal, type Selected } from "../../state/many.ts";
import { notifyProblem } from "../../state/notices.ts";
import { DeleteSelectedDialog, MoveSelectedDialog } from "./selected_dialogs.tsx";

interface Chosen {
  readonly selection: Selection;
  readonly selected: Selected;
}

/** Returns the folder's key, which ends in a slash; the path of a file never does. */
export function folderKey(path: string): string {
  return `${path}/`;
}

/** Returns undefined for the key of a file. */
export function pathOfFolder(key: string): string | undefined {
  return key.endsWith("/") ? key.slice(0, -1) : undefined;
}

export function useChosen(
  directory: string,
  folders: readonly string[],
  files: readonly FileRecord[],
): Chosen {
  const paths = folders.map((name) => joinPath(directory, name));
  const selection = useSelection([...paths.map(folderKey), ...files.map(({ path }) => path)]);
  return {
    selection,
    selected: {
      files: files.filter(({ path }) => selection.has(path)),
      folders: paths.filter((path) => selection.has(folderKey(path))),
    },
  };
}

interface SelectedActions {
  /** Deletes the selection; asks first if it contains folders. */
  readonly remove: () => void;
  /** The selection bar, and the dialog that it has opened. */
  readonly bar: ComponentChildren;
}

export function useSelectedActions(
  projectId: string,
  directory: string,
  { selection, selected }: Chosen,
): SelectedActions {
  const [open, setOpen] = useState<{ readonly what: "move" | "delete"; readonly selected: Selected } | null>(
    null,
  );
  const onDone = () => {
    selection.clear();
    keepFocus(selection.chosen);
  };
  const remove = () =>
    selected.folders.length > 0
      ? setOpen({ what: "delete", selected })
      : void removeFiles(projectId, selected).then((isDone) => isDone && onDone());
  const shared = { projectId, onDone, onClose: () => setOpen(null) };
  const bar = (
    <>
      <SelectionBar selection={selection}>
        <button type="button" onClick={() => downloadSelected(projectId, selected)}>
          <Icon name="download" />Download ZIP
        </button>
        <Allowed right="write">
          <button type="button" onClick={() => setOpen({ what: "move", selected })}>Move …</button>
          <button type="button" class="danger" onClick={remove}>
            <Icon name="trash" />Delete
          </button>
        </Allowed>
      </SelectionBar>
      {open?.what === "move" && (
        <MoveSelectedDialog {...shared} directory={directory} selected={open.selected} />
      )}
      {open?.what === "delete" && <DeleteSelectedDialog {...shared} selected={open.selected} />}
    </>
  );
  return { remove, bar };
}

/** Returns whether the files were deleted. */
async function removeFiles(projectId: string, selected: Selected): Promise<boolean> {
  try {
    await deleteSelected(projectId, selected);
    return true;
  } catch (error) {
    // The list on screen may be outdated.
    announceChange({});
    notifyProblem(`Nothing was deleted. ${describeRefusal(error)}`, { projectId, path: "" });
    return false;
  }
}
