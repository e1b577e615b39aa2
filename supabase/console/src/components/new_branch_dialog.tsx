/** Creates a branch of a folder, and opens it. */
import { useState } from "preact/hooks";
import { createBranch } from "../api/branches.ts";
import { ApiFailure, isCode, reasonFor } from "../api/failure.ts";
import { visible } from "../format.ts";
import { describeRefusal } from "../state/many.ts";
import { goTo } from "../state/router.ts";
import { FormDialog, FormProblem, SelectField, TextField, useSubmit } from "./form.tsx";
import { PathField } from "./path_field.tsx";

interface Properties {
  readonly projectId: string;
  /** Empty for the root. */
  readonly directory: string;
  readonly onClose: () => void;
}

/** Days until an unmerged branch is closed. */
const DAYS = [["1", "for a day"], ["7", "for 7 days"], ["30", "for 30 days"], ["90", "for 90 days"]] as const;
const DAY_SECONDS = 86_400;

export function NewBranchDialog({ projectId, directory: start, onClose }: Properties) {
  const [name, setName] = useState("");
  const [directory, setDirectory] = useState(start);
  const [title, setTitle] = useState("");
  const [days, setDays] = useState("30");
  const { isBusy, error, submit } = useSubmit(async () => {
    const folder = directory.replace(/^\/+|\/+$/g, "");
    const expiresIn = Number(days) * DAY_SECONDS;
    const branch = { name, directory: folder, title: title || undefined, expiresIn };
    await createBranch(projectId, branch);
    onClose();
    goTo({ name: "branch", projectId, branch: name });
  });
  const paths = isCode(error, "PATH_TOO_LONG") ? error.details.paths ?? [] : [];
  const nameProblem = reasonFor(error, "name", "BRANCH_ALREADY_EXISTS");
  const folderProblem = reasonFor(error, "directory", "INVALID_PATH");
  const isOther = error !== undefined && nameProblem === undefined && folderProblem === undefined;
  return (
    <FormDialog title="New branch" action="Create branch" {...{ isBusy, submit, onClose }}>
      <p class="hint">
        A copy of a folder to work apart in. Nothing outside shows it, and nothing changes outside, until it
        is merged.
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
        hint="Empty: the whole project."
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
      <SelectField label="It stays open" value={days} onChange={setDays} options={DAYS} />
      {isOther && (
        <FormProblem
          error={error instanceof ApiFailure && error.issues.length > 0 ? error : describeRefusal(error)}
          fields={["title"]}
        />
      )}
      {paths.length > 0 && <ul class="paths">{paths.map((path) => <li key={path}>{visible(path)}</li>)}</ul>}
    </FormDialog>
  );
}
