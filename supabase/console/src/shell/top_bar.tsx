/** @jsxImportSource preact */
/// <reference lib="dom" />
import { useEffect, useState } from "preact/hooks";
import type { Project } from "../api/records.ts";
import { Icon } from "../components/icon.tsx";
import { isMenuOpen } from "../state/menu.ts";
import { goTo, place } from "../state/router.ts";
import { account, signOut } from "../session/session.ts";
import { nextTheme, theme } from "../state/theme.ts";

export function TopBar({ project }: { readonly project: Project }) {
  return (
    <header class="top-bar">
      <button
        type="button"
        class="icon-button menu-open-button"
        aria-label="Menu"
        aria-expanded={isMenuOpen.value}
        onClick={() => isMenuOpen.value = true}
      >
        <Icon name="menu" />
      </button>
      <SearchField projectId={project.id} />
      <span class="account" title={account.value?.email}>{account.value?.email}</span>
      <button
        type="button"
        class="icon-button"
        aria-label={`Theme: ${theme.value}`}
        title={`Theme: ${theme.value}`}
        onClick={() => theme.value = nextTheme()}
      >
        <Icon name={theme.value} />
      </button>
      <button type="button" class="icon-button" aria-label="Sign out" title="Sign out" onClick={signOut}>
        <Icon name="signOut" />
      </button>
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
    if (text.trim() !== "") goTo({ name: "search", projectId, q: text.trim() });
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
