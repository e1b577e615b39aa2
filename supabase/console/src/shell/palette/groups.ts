/** The entries of the palette for the typed text, in groups. The order of the groups does not depend on what has loaded. */
import type { Key, Project } from "../../api/projects.ts";
import type { Run } from "../../api/runs.ts";
import { type Command, commandsHere, runIn } from "../../components/commands.ts";
import { fileIcon } from "../../components/file_icon.ts";
import type { IconName } from "../../components/icon.tsx";
import { PALETTE_SHOWN_MAX } from "../../limits.ts";
import { signOut } from "../../session/session.ts";
import { overlay } from "../../state/overlay.ts";
import { currentDirectory, may, projects } from "../../state/projects.ts";
import { goTo } from "../../state/router.ts";
import { theme, THEMES } from "../../state/preferences.ts";
import { sectionsOf } from "../sections.ts";
import { bestOf } from "./match.ts";

export interface Entry {
  readonly id: string;
  readonly text: string;
  readonly about?: string | undefined;
  readonly icon: IconName;
  readonly run: () => void;
}

export interface Group {
  readonly title: string;
  readonly entries: readonly Entry[];
}

interface Known {
  readonly files: Iterable<string>;
  readonly folders: Iterable<string>;
  readonly runs: readonly Run[];
  readonly keys: readonly Key[];
}

/** With no `words`, returns actions and what can be opened, without files, folders, runs and keys. */
export function groupsOf(
  project: Project,
  words: readonly string[],
  query: string,
  known: Known,
): readonly Group[] {
  const { id: projectId } = project;
  const named = words.length === 0 ? [] : [
    {
      title: "Files",
      entries: best([...new Set(known.files)].map((path) => fileEntry(projectId, path)), words),
    },
    {
      title: "Folders",
      entries: best([...new Set(known.folders)].map((path) => folderEntry(projectId, path)), words),
    },
    { title: "Runs", entries: best(known.runs.map((run) => runEntry(projectId, run)), words) },
    { title: "API keys", entries: best(known.keys.map((key) => keyEntry(projectId, key)), words) },
    { title: "Search", entries: [searchEntry(projectId, query)] },
  ];
  const anywhere = actions(project);
  const ids = new Set(anywhere.map(({ id }) => id));
  const here = commandsHere().filter(({ id, isUnlisted }) => !ids.has(id) && !isUnlisted);
  return [
    { title: "In this view", entries: best(here, words) },
    { title: "Actions", entries: best(anywhere, words) },
    { title: "Go to", entries: best(sections(projectId), words) },
    { title: "Projects", entries: best(otherProjects(projectId), words) },
    ...named,
  ].filter(({ entries }) => entries.length > 0);
}

function best(entries: readonly Entry[], words: readonly string[]): readonly Entry[] {
  return bestOf(entries, words, ({ text }) => text, words.length === 0 ? Infinity : PALETTE_SHOWN_MAX);
}

function actions(project: Project): readonly Entry[] {
  const { id: projectId } = project;
  const here = commandsHere();
  const inView = (target: Parameters<typeof runIn>[0], id: string, text: string, icon: IconName): Command =>
    here.find((one) => one.id === id) ?? { id, text, icon, run: () => runIn(target, id) };
  const folder = { name: "files", projectId, directory: currentDirectory() } as const;
  const keys = { name: "keys", projectId } as const;
  const writing = [
    inView(folder, "new-file", "New file …", "plus"),
    inView(folder, "upload-files", "Upload files …", "upload"),
    inView(folder, "upload-folder", "Upload folder …", "folder"),
    inView({ name: "links", projectId }, "new-link", "New link …", "link"),
  ];
  return [
    ...may("write") ? writing : [],
    ...may("admin") ? [inView(keys, "new-key", "New API key …", "key")] : [],
    {
      id: "new-project",
      text: "New project …",
      icon: "plus",
      run: () => void (overlay.value = "project"),
    },
    ...THEMES.filter((one) => one !== theme.value).map((one) => ({
      id: `theme ${one}`,
      text: `Theme: ${one}`,
      icon: one,
      run: () => void (theme.value = one),
    })),
    {
      id: "shortcuts",
      text: "Keyboard shortcuts",
      icon: "command",
      run: () => void (overlay.value = "shortcuts"),
    },
    { id: "sign-out", text: "Sign out", icon: "signOut", run: () => void signOut() },
  ];
}

function sections(projectId: string): readonly Entry[] {
  return sectionsOf(projectId).map(({ icon, text, to }) => ({
    id: `go ${to.name}`,
    text,
    icon,
    run: () => goTo(to),
  }));
}

function otherProjects(projectId: string): readonly Entry[] {
  return (projects.value ?? []).filter(({ id }) => id !== projectId).map(({ id, name }) => ({
    id: `project ${id}`,
    text: `Switch to ${name}`,
    icon: "folder",
    run: () => goTo({ name: "files", projectId: id, directory: "" }),
  }));
}

function fileEntry(projectId: string, path: string): Entry {
  return {
    id: `file ${path}`,
    text: path,
    icon: fileIcon({ path }),
    run: () => goTo({ name: "file", projectId, path, tab: "content" }),
  };
}

function folderEntry(projectId: string, directory: string): Entry {
  return {
    id: `at ${directory}`,
    text: directory,
    icon: "folder",
    run: () => goTo({ name: "files", projectId, directory }),
  };
}

function runEntry(projectId: string, { runId, actors }: Run): Entry {
  return {
    id: `run ${runId}`,
    text: runId,
    about: actors.length === 0 ? undefined : `by ${actors.join(", ")}`,
    icon: "run",
    run: () => goTo({ name: "run", projectId, runId }),
  };
}

function keyEntry(projectId: string, key: Key): Entry {
  const target = { name: "keys", projectId } as const;
  const { id, kind, name, prefix, revokedAt } = key;
  return {
    id: `key ${id}`,
    text: name || prefix,
    about: name ? `${prefix}…` : undefined,
    icon: "key",
    run: () => revokedAt === null && kind === "key" ? runIn(target, `key ${id}`) : goTo(target),
  };
}

function searchEntry(projectId: string, q: string): Entry {
  return {
    id: "search",
    text: `Search in files for “${q}”`,
    icon: "search",
    run: () => goTo({ name: "search", projectId, q }),
  };
}
