import type { Project } from "../api/records.ts";
import { Icon } from "../components/icon.tsx";
import { overlay } from "../state/overlay.ts";
import { projects } from "../state/projects.ts";
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
