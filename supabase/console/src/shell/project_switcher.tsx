/** @jsxImportSource preact */
/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { createProject } from "../api/projects.ts";
import { reasonFor } from "../api/failure.ts";
import type { Project } from "../api/records.ts";
import { TextField } from "../components/field.tsx";
import { FormDialog } from "../components/form_dialog.tsx";
import { Icon } from "../components/icon.tsx";
import { FormProblem } from "../components/states.tsx";
import { useSubmit } from "../components/use_submit.ts";
import { notify } from "../state/notices.ts";
import { overlay } from "../state/overlay.ts";
import { projects, updateProject } from "../state/projects.ts";
import { goTo } from "../state/router.ts";

export function ProjectSwitcher({ project }: { readonly project: Project }) {
  return (
    <div class="switcher">
      <label class="visually-hidden" for="project-switcher">Project</label>
      <select
        id="project-switcher"
        value={project.id}
        onChange={(event) => goTo({ name: "files", projectId: event.currentTarget.value, directory: "" })}
      >
        {(projects.value ?? []).map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
      </select>
      <button
        type="button"
        class="icon-button"
        aria-label="New project"
        title="New project"
        onClick={() => overlay.value = "project"}
      >
        <Icon name="plus" />
      </button>
    </div>
  );
}

export function NewProjectDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const { isBusy, error, submit } = useSubmit(async () => {
    const made = await createProject(name);
    updateProject(made);
    onClose();
    goTo({ name: "files", projectId: made.id, directory: "" });
    notify(`Project ${made.name} is ready.`);
  });
  const problem = reasonFor(error, "name", "PROJECT_NAME_TAKEN");
  return (
    <FormDialog title="New project" action="Create project" {...{ isBusy, submit, onClose }}>
      <TextField
        label="Name"
        value={name}
        onInput={setName}
        hint="A project has its own files, keys and limits."
        problem={problem}
        input={{ autoFocus: true, autoComplete: "off" }}
      />
      {problem === undefined && <FormProblem error={error} fields={["name"]} />}
    </FormDialog>
  );
}
