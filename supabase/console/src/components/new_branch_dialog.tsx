/** Creates a branch of a folder, and opens it. */
import { useState } from "preact/hooks";
import { createBranch } from "../api/branches.ts";
import { reasonFor } from "../api/failure.ts";
import { goTo } from "../state/router.ts";
import { FormDialog, FormProblem, TextField, useSubmit } from "./form.tsx";
import { PathField } from "./path_field.tsx";

interface Properties {
  readonly projectId: string;
  /** Empty for the root. */
  readonly directory: string;
  readonly onClose: () => void;
}

export function NewBranchDialog({ projectId, directory: start, onClose }: Properties) {
  const [name, setName] = useState("");
  const [directory, setDirectory] = useState(start);
  const [title, setTitle] = useState("");
  const { isBusy, error, submit } = useSubmit(async () => {
    const folder = directory.replace(/^\/+|\/+$/g, "");
    await createBranch(projectId, { name, directory: folder, title: title || undefined });
    onClose();
    goTo({ name: "branch", projectId, branch: name });
  });
  const nameProblem = reasonFor(error, "name", "BRANCH_ALREADY_EXISTS");
  const folderProblem = reasonFor(error, "directory", "INVALID_PATH");
  const isBeside = nameProblem !== undefined || folderProblem !== undefined;
  return (
    <FormDialog title="New branch" action="Create branch" {...{ isBusy, submit, onClose }}>
      <p class="hint">
        A branch is a copy of a folder. The folder does not change until you merge the branch, which closes
        after 30 days.
      </p>
      <TextField
        label="Name"
        value={name}
        onInput={setName}
        hint="Letters, digits, dots, hyphens and underscores. It cannot be used again."
        problem={nameProblem}
        input={{ autoFocus: true, autoComplete: "off", spellcheck: false }}
      />
      <PathField
        projectId={projectId}
        label="Folder"
        value={directory}
        onInput={setDirectory}
        hint="Leave empty for the whole project."
        problem={folderProblem}
        isFolder
      />
      <TextField
        label="Title"
        value={title}
        onInput={setTitle}
        hint="Optional: what it is for."
        problem={reasonFor(error, "title")}
        input={{ autoComplete: "off" }}
      />
      {!isBeside && <FormProblem error={error} fields={["title"]} />}
    </FormDialog>
  );
}
