/** The command palette: one field for files, folders, runs, keys, views and actions. It keeps the names it has read. */
import { useEffect, useState } from "preact/hooks";
import type { Project } from "../../api/projects.ts";
import { listRuns } from "../../api/runs.ts";
import { formatNumber } from "../../format.ts";
import { ensureKeys, keysOf } from "../../state/keys.ts";
import { useLoad } from "../../state/use_load.ts";
import { groupsOf } from "./groups.ts";
import { wordsOf } from "./match.ts";
import { PaletteDialog } from "./palette_dialog.tsx";
import { useAsked } from "./use_asked.ts";
import { type Names, useNames } from "./use_names.ts";

interface Properties {
  readonly project: Project;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function Palette({ project, isOpen, onClose }: Properties) {
  const { id: projectId } = project;
  const [query, setQuery] = useState("");
  const words = wordsOf(query);
  const [hasTyped, setTyped] = useState(false);
  const isWanted = isOpen && hasTyped;
  const names = useNames(projectId, isWanted);
  const asked = useAsked(projectId, query, isWanted && !names.isComplete && !names.isReading);
  const { data: runs = [] } = useLoad(
    `palette runs ${projectId} ${isWanted}`,
    async (signal) => isWanted ? (await listRuns(projectId, undefined, signal)).runs : [],
  );
  useEffect(() => {
    if (isWanted) void ensureKeys(projectId);
  }, [isWanted]);
  useEffect(() => {
    if (isOpen) return;
    setQuery("");
    setTyped(false);
  }, [isOpen]);
  if (!isOpen) return null;
  const type = (text: string) => {
    setQuery(text);
    if (wordsOf(text).length > 0) setTyped(true);
  };
  const groups = groupsOf(project, words, query.trim(), {
    files: [...names.paths, ...asked.files],
    folders: [...foldersOf(names.paths), ...asked.folders],
    runs,
    keys: keysOf(projectId) ?? [],
  });
  const isBusy = isWanted && (names.isReading || asked.isBusy);
  const status = words.length === 0 ? "" : statusOf(names, isBusy, asked.isAnswered);
  return <PaletteDialog {...{ query, groups, status, onClose }} onInput={type} />;
}

/** Tells what the list leaves out, and why. */
function statusOf({ paths, total, isComplete }: Names, isBusy: boolean, isAnswered: boolean): string {
  if (isBusy) return "Searching …";
  if (isComplete) return "";
  const all = total === null ? "" : `of ${total} `;
  const others = isAnswered ? ", and others by search" : "";
  return `Searched ${formatNumber(paths.length)} ${all}files by name${others}.`;
}

function foldersOf(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      // The set already has the folders above it.
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}
