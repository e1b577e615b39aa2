/** Creates a project, or tells at once that this person may not and why. */
import { useEffect, useRef, useState } from "preact/hooks";
import { reasonFor } from "../api/failure.ts";
import { createProject, readAccount } from "../api/projects.ts";
import { Dialog } from "../components/dialog.tsx";
import { DialogForm, FormProblem, TextField, useSubmit } from "../components/form.tsx";
import { Loading } from "../components/states.tsx";
import { WhyNoProject } from "../components/why_no_project.tsx";
import { notify } from "../state/notices.ts";
import { updateProject } from "../state/projects.ts";
import { goTo } from "../state/router.ts";
import { useLoad } from "../state/use_load.ts";

interface Properties {
  readonly onClose: () => void;
}

export function NewProjectDialog({ onClose }: Properties) {
  const { data: account, error } = useLoad("account", readAccount);
  return (
    <Dialog title="New project" onClose={onClose}>
      {account === undefined && error === undefined
        ? <Loading what="what you may do" />
        : account?.mayCreateProjects === false
        ? (
          <div role="status">
            <WhyNoProject account={account} />
          </div>
        )
        // Without an answer, the form is shown, and the service decides.
        : <NewProjectForm onClose={onClose} />}
    </Dialog>
  );
}

function NewProjectForm({ onClose }: Properties) {
  const [name, setName] = useState("");
  const { isBusy, error, submit } = useSubmit(async () => {
    const made = await createProject(name);
    updateProject(made);
    onClose();
    goTo({ name: "files", projectId: made.id, directory: "" });
    notify(`Project ${made.name} is ready.`);
  });
  const form = useRef<HTMLDivElement>(null);
  // The dialog opened before this field existed, so the field takes the focus here.
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const problem = reasonFor(error, "name", "PROJECT_NAME_TAKEN");
  return (
    <div ref={form}>
      <DialogForm action="Create project" {...{ isBusy, submit, onClose }}>
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          hint="A project has its own files, keys and limits."
          problem={problem}
          input={{ autoComplete: "off" }}
        />
        {problem === undefined && <FormProblem error={error} fields={["name"]} />}
      </DialogForm>
    </div>
  );
}
