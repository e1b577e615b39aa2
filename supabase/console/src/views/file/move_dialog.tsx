import { useState } from "preact/hooks";
import { reasonForPath } from "../../api/failure.ts";
import { moveFile } from "../../api/files.ts";
import { FormDialog, FormProblem, TextField, useSubmit } from "../../components/form.tsx";
import { endUndo, notify } from "../../state/notices.ts";
import { goTo } from "../../state/router.ts";

interface Properties {
  readonly projectId: string;
  readonly path: string;
  readonly onClose: () => void;
}

/** The versions so far stay at the old path, which becomes a deleted file; the history leads there. */
export function MoveDialog({ projectId, path, onClose }: Properties) {
  const [destination, setDestination] = useState(path);
  const { isBusy, error, submit } = useSubmit(async () => {
    const moved = await moveFile(projectId, path, destination);
    onClose();
    endUndo({ projectId, path: moved.path });
    notify(`Moved to ${moved.path}.`, { projectId, path: moved.path });
    goTo({ name: "file", projectId, path: moved.path, tab: "content" });
  });
  const problem = reasonForPath(error, "destination");
  return (
    <FormDialog title="Move or rename" action="Move" {...{ isBusy, submit, onClose }}>
      <TextField
        label="New path"
        value={destination}
        onInput={setDestination}
        hint="The versions so far stay at the old path; the history of the file goes on to show them."
        problem={problem}
        input={{ autoFocus: true, autoComplete: "off", spellcheck: false }}
      />
      {problem === undefined && <FormProblem error={error} fields={["destination"]} />}
    </FormDialog>
  );
}
