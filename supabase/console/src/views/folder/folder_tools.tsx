/** The buttons of a folder: new file, upload, and the ones given as children. */
import { may } from "../../state/projects.ts";
import { Allowed } from "../../components/allowed.tsx";
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { useCommands } from "../../components/commands.ts";
import { Icon } from "../../components/icon.tsx";
import { chosenFiles, uploadAll } from "./uploading.ts";
import { reasonForPath } from "../../api/failure.ts";
import { createFile } from "../../api/files.ts";
import { FormDialog, FormProblem, TextField, useSubmit } from "../../components/form.tsx";
import { endUndo } from "../../state/notices.ts";
import { goTo } from "../../state/router.ts";

interface FolderToolsProperties {
  readonly projectId: string;
  readonly directory: string;
  readonly children?: ComponentChildren;
}

export function FolderTools({ projectId, directory, children }: FolderToolsProperties) {
  const [isCreating, setCreating] = useState(false);
  const filesInput = useRef<HTMLInputElement>(null);
  const folderInput = useRef<HTMLInputElement>(null);
  const about = directory === "" ? "in the project" : `in ${directory}`;
  const commands = [
    { id: "new-file", text: "New file …", about, icon: "plus", run: () => setCreating(true) },
    {
      id: "upload-files",
      text: "Upload files …",
      about,
      icon: "upload",
      run: () => filesInput.current?.click(),
    },
    {
      id: "upload-folder",
      text: "Upload folder …",
      about,
      icon: "folder",
      run: () => folderInput.current?.click(),
    },
  ] as const;
  useCommands(may("write") ? commands : []);
  const uploadChosen = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    uploadAll(projectId, directory, chosenFiles(currentTarget.files));
    currentTarget.value = "";
  };
  return (
    <div class="tools">
      <Allowed right="write">
        <button type="button" onClick={() => setCreating(true)}>
          <Icon name="plus" />New file
        </button>
        <label class="button">
          <Icon name="folder" />Upload folder
          <input
            ref={(input) => {
              folderInput.current = input;
              chooseFolder(input);
            }}
            type="file"
            class="visually-hidden"
            onChange={uploadChosen}
          />
        </label>
        <label class="button primary">
          <Icon name="upload" />Upload files
          <input ref={filesInput} type="file" multiple class="visually-hidden" onChange={uploadChosen} />
        </label>
      </Allowed>
      {children}
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

/** Set here because the JSX types lack this attribute. */
function chooseFolder(input: HTMLInputElement | null): void {
  if (input !== null) input.webkitdirectory = true;
}

interface NewFileDialogProperties {
  readonly projectId: string;
  readonly directory: string;
  readonly onClose: () => void;
}

/** Creates an empty file and opens it for editing. */
function NewFileDialog({ projectId, directory, onClose }: NewFileDialogProperties) {
  const [path, setPath] = useState(directory === "" ? "" : `${directory}/`);
  const { isBusy, error, submit } = useSubmit(async () => {
    const made = await createFile({ projectId, path });
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
