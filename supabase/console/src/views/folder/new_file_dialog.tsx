import { useState } from "preact/hooks";
import { reasonForPath } from "../../api/failure.ts";
import { createFile } from "../../api/files.ts";
import { FormDialog, FormProblem, TextField, useSubmit } from "../../components/form.tsx";
import { endUndo } from "../../state/notices.ts";
import { goTo } from "../../state/router.ts";

interface Properties {
  readonly projectId: string;
  readonly directory: string;
  readonly onClose: () => void;
}

/** Creates an empty file and opens it for editing. */
export function NewFileDialog({ projectId, directory, onClose }: Properties) {
  const [path, setPath] = useState(directory === "" ? "" : `${directory}/`);
  const { isBusy, error, submit } = useSubmit(async () => {
    const made = await createFile(projectId, path);
    endUndo({ projectId, path: made.path });
    onClose();
    goTo({ name: "file", projectId, path: made.path, tab: "edit" });
  });
  const problem = reasonForPath(error, "path");
  return (
    <FormDialog title="New file" action="Create file" {...{ isBusy, submit, onClose }}>
      <TextField
        label="Path"
        value={path}
        onInput={setPath}
        hint="Including folders, such as notes/plan.md. The extension determines the type."
        problem={problem}
        input={{ autoFocus: true, autoComplete: "off", spellcheck: false }}
      />
      {problem === undefined && <FormProblem error={error} fields={["path"]} />}
    </FormDialog>
  );
}
