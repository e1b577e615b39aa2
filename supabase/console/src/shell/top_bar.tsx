import { useEffect, useState } from "preact/hooks";
import type { Project } from "../api/projects.ts";
import { Icon, IconButton } from "../components/icon.tsx";
import { keyNames, SHORTCUTS } from "../components/shortcut_table.ts";
import { isMenuOpen, MENU_BUTTON, overlay } from "../state/overlay.ts";
import { goTo, place } from "../state/router.ts";
import { account, signOut } from "../session/session.ts";
import { nextTheme, theme } from "../state/preferences.ts";

export function TopBar({ project }: { readonly project: Project }) {
  return (
    <header class="top-bar">
      <button
        type="button"
        id={MENU_BUTTON}
        class="icon-button menu-open-button"
        aria-label="Menu"
        aria-expanded={isMenuOpen.value}
        onClick={() => isMenuOpen.value = true}
      >
        <Icon name="menu" />
      </button>
      <SearchField projectId={project.id} />
      <IconButton
        icon="command"
        label="Commands"
        title={`Commands (${keyNames(SHORTCUTS.palette.keys[0]).join("-")})`}
        aria-haspopup="dialog"
        onClick={() => overlay.value = "palette"}
      />
      <span class="account" title={account.value?.email}>{account.value?.email}</span>
      <IconButton
        icon={theme.value}
        label={`Theme: ${theme.value}`}
        title={`Theme: ${theme.value}`}
        onClick={() => theme.value = nextTheme()}
      />
      <IconButton icon="signOut" label="Sign out" title="Sign out" onClick={signOut} />
    </header>
  );
}

function SearchField({ projectId }: { readonly projectId: string }) {
  const here = place.value;
  const asked = here.name === "search" ? here.q : "";
  const [text, setText] = useState(asked);
  useEffect(() => setText(asked), [asked]);
  const submit = (event: Event) => {
    event.preventDefault();
    const q = text.trim();
    if (q === "") return;
    // A new query keeps the mode, the folder and the file-name pattern.
    goTo(here.name === "search" ? { ...here, q, first: undefined } : { name: "search", projectId, q });
  };
  return (
    <form class="search-field" role="search" onSubmit={submit}>
      <Icon name="search" />
      <label class="visually-hidden" for="search">Search in files</label>
      <input
        id="search"
        type="search"
        placeholder="Search in files"
        value={text}
        data-filter=""
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}
