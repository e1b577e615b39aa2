import { useEffect, useRef } from "preact/hooks";
import type { Project } from "../api/projects.ts";
import { Icon, IconButton } from "../components/icon.tsx";
import { closeMenu, isMenuOpen, overlay } from "../state/overlay.ts";
import { goTo, hrefOf, place } from "../state/router.ts";
import { FolderTree } from "./folder_tree.tsx";
import { type Section, sectionsOf } from "./sections.ts";
import { UsageBars } from "../components/usage_bars.tsx";
import { projects } from "../state/projects.ts";

export function Sidebar({ project }: { readonly project: Project }) {
  const projectId = project.id;
  const closeButton = useRef<HTMLButtonElement>(null);
  const isOpen = isMenuOpen.value;
  useEffect(() => {
    if (!isOpen) return;
    closeButton.current?.focus();
    const onKey = ({ key }: KeyboardEvent) => {
      // If a dialog is open, Escape closes the dialog and not the menu.
      if (key === "Escape" && !document.querySelector("dialog[open]")) closeMenu("button");
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [isOpen]);
  return (
    <aside class="sidebar" aria-label="Project and folders" onClick={closeAfterChoice}>
      <div class="sidebar-head">
        <a class="brand" href={hrefOf({ name: "files", projectId, directory: "" })}>
          <img src="icon.svg" alt="" width="22" height="22" />Filestore
        </a>
        <button
          ref={closeButton}
          type="button"
          class="icon-button menu-close"
          aria-label="Close menu"
          onClick={() => closeMenu("button")}
        >
          <Icon name="close" />
        </button>
      </div>
      <ProjectSwitcher project={project} />
      <nav aria-label="Sections">
        <ul class="menu">
          {sectionsOf(projectId).map((section) => <Item key={section.text} {...section} />)}
        </ul>
      </nav>
      <FolderTree key={projectId} projectId={projectId} />
      <a class="usage-link" href={hrefOf({ name: "settings", projectId })}>
        <span class="visually-hidden">Usage of this project:</span>
        <UsageBars project={project} isShort />
      </a>
    </aside>
  );
}

/** Closes the menu after a choice, even if the link leads to the current place. */
function closeAfterChoice({ target }: MouseEvent): void {
  if (target instanceof Element && target.closest("a")) closeMenu("view");
}

/** The menu item of places that have no item of their own. */
const PARENTS: Readonly<Record<string, string>> = { file: "files", run: "runs", branch: "branches" };

function Item({ icon, text, to }: Section) {
  const { name } = place.value;
  const here = PARENTS[name] ?? name;
  return (
    <li>
      <a href={hrefOf(to)} aria-current={here === to.name ? "page" : undefined}>
        <Icon name={icon} />
        {text}
      </a>
    </li>
  );
}

function ProjectSwitcher({ project }: { readonly project: Project }) {
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
      <IconButton
        icon="plus"
        label="New project"
        title="New project"
        onClick={() => overlay.value = "project"}
      />
    </div>
  );
}
