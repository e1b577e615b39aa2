/** Uploads files and folders that were chosen, or dropped on a folder. */
import { useState } from "preact/hooks";
import { formatNumber, joinPath } from "../../format.ts";
import { UPLOAD_FILES_MAX } from "../../limits.ts";
import { notify, notifyProblem } from "../../state/notices.ts";
import { upload } from "../../state/transfers.ts";

interface ChosenFile {
  /** The path below the chosen folder: `photos/2026/a.jpg`. */
  readonly path: string;
  readonly file: File;
}

export function uploadAll(projectId: string, directory: string, chosen: readonly ChosenFile[]): void {
  if (chosen.length > UPLOAD_FILES_MAX) {
    return notifyProblem(
      `An upload can have at most ${
        formatNumber(UPLOAD_FILES_MAX)
      } files. Nothing was uploaded: select fewer.`,
    );
  }
  if (chosen.length === 0) notify("There are no files in this folder.");
  for (const { path, file } of chosen) upload(projectId, joinPath(directory, path), file);
}

/** Returns the files of an input element for files or for a folder. */
export function chosenFiles(files: FileList | null): ChosenFile[] {
  return [...files ?? []].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** Returns the dropped files, with everything below dropped folders; at most one more than an upload allows. */
async function droppedFiles({ items }: DataTransfer): Promise<ChosenFile[]> {
  const found: ChosenFile[] = [];
  // The items must be read before the first `await`; after it they no longer exist.
  const waiting = [...items].map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  for (let next = waiting.shift(); next !== undefined && found.length <= UPLOAD_FILES_MAX;) {
    if (next instanceof File) found.push({ path: next.name, file: next });
    else if (next !== null && isFile(next)) {
      found.push({ path: next.fullPath.replace(/^\//, ""), file: await fileOf(next) });
    } else if (next !== null && isFolder(next)) waiting.unshift(...await entriesOf(next));
    next = waiting.shift();
  }
  return found;
}

// Compares a property, because Chromium does not expose these classes.
function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** The browser returns the entries in parts; an empty part is the last. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  while (entries.length <= UPLOAD_FILES_MAX) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject)
    );
    if (part.length === 0) break;
    entries.push(...part);
  }
  return entries.sort((a, b) => a.name < b.name ? -1 : 1);
}

/** Returns whether files are dragged over an element, and the handlers that make it a drop target. */
export function useDropPlace(onFiles: (files: readonly ChosenFile[]) => void) {
  const [isOver, setOver] = useState(false);
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  return {
    isOver,
    handlers: {
      onDragOver: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: (event: DragEvent) => {
        const { currentTarget, relatedTarget } = event;
        const isInside = currentTarget instanceof Node && relatedTarget instanceof Node &&
          currentTarget.contains(relatedTarget);
        if (!isInside) setOver(false);
      },
      onDrop: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer === null) return;
        droppedFiles(event.dataTransfer).then(
          onFiles,
          () => notifyProblem("The browser could not read what was dropped. Nothing was uploaded."),
        );
      },
    },
  };
}
