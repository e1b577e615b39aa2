import { useState } from "preact/hooks";
import { isCode, reasonFor } from "../../api/failure.ts";
import { FormDialog, useSubmit } from "../../components/form.tsx";
import { PathField } from "../../components/path_field.tsx";
import { formatCount } from "../../format.ts";
import { moveSelected, type Selected } from "../../state/many.ts";
import { InTheWay, useOverwrite } from "./in_the_way.tsx";

interface Properties {
  readonly projectId: string;
  readonly directory: string;
  readonly selected: Selected;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Moves what is chosen into another folder: all of it, or nothing. */
export function MoveSelectedDialog({ projectId, directory, selected, onClose, onDone }: Properties) {
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
        hint="Empty: the top of the project. A folder that is not there yet is made."
        problem={problem}
        isFolder
        autoFocus
      />
      {problem === undefined && <InTheWay {...{ error, isOverwriting, overwrite }} />}
    </FormDialog>
  );
}
