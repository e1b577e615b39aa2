/** Ignores a file that is dropped outside of a folder; by default the browser would leave the console and open it. */
import { useEffect } from "preact/hooks";

export function useStrayDrops(): void {
  useEffect(() => {
    const ignore = (event: DragEvent) => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "none";
    };
    document.addEventListener("dragover", ignore);
    document.addEventListener("drop", ignore);
    return () => {
      document.removeEventListener("dragover", ignore);
      document.removeEventListener("drop", ignore);
    };
  }, []);
}
