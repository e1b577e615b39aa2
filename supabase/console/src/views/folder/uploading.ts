/// <reference lib="dom" />
/** Uploads the files that were chosen, or dropped on a folder. */
import { useState } from "preact/hooks";
import { formatCount, joinPath } from "../../format.ts";
import { UPLOAD_FILES_MAX } from "../../limits.ts";
import { notifyProblem } from "../../state/notices.ts";
import { upload } from "../../state/transfers.ts";

export function uploadAll(projectId: string, directory: string, files: FileList | null): void {
  const chosen = [...files ?? []];
  if (chosen.length > UPLOAD_FILES_MAX) {
    return notifyProblem(
      `${
        formatCount(chosen.length, "file")
      } are too many for one upload: choose at most ${UPLOAD_FILES_MAX}.`,
    );
  }
  for (const file of chosen) upload(projectId, joinPath(directory, file.name), file);
}

/** Returns whether files are dragged over an element, and the handlers that make it a drop target. */
export function useDropPlace(onFiles: (files: FileList) => void) {
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
        if (event.dataTransfer) onFiles(event.dataTransfer.files);
      },
    },
  };
}
