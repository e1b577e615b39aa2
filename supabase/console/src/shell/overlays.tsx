/** Overlays in front of every view, each loaded when it is first opened. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Project } from "../api/projects.ts";
import { overlay } from "../state/overlay.ts";
import { notifyProblem } from "../state/notices.ts";

/** The palette receives the next letters that are typed, so its code is loaded on the first of its two keys. */
function loadPalette() {
  return import("./palette/palette.tsx");
}

export function Overlays({ project }: { readonly project: Project }) {
  const open = overlay.value;
  const close = () => overlay.value = null;
  const Palette = useLoaded(open === "palette", async () => (await loadPalette()).Palette);
  const List = useLoaded(
    open === "shortcuts",
    async () => (await import("./shortcut_list.tsx")).ShortcutList,
  );
  const NewProject = useLoaded(
    open === "project",
    async () => (await import("./new_project_dialog.tsx")).NewProjectDialog,
  );
  useEffect(() => {
    const onModifier = ({ key }: KeyboardEvent) => {
      if (key !== "Control" && key !== "Meta") return;
      document.removeEventListener("keydown", onModifier);
      loadPalette().catch(() => {});
    };
    document.addEventListener("keydown", onModifier);
    return () => document.removeEventListener("keydown", onModifier);
  }, []);
  return (
    <>
      {Palette && <Palette key={project.id} {...{ project }} isOpen={open === "palette"} onClose={close} />}
      {NewProject && open === "project" && <NewProject onClose={close} />}
      {List && open === "shortcuts" && <List onClose={close} />}
    </>
  );
}

/** Returns null until the component was wanted once and is loaded. */
function useLoaded<P>(isWanted: boolean, load: () => Promise<ComponentType<P>>): ComponentType<P> | null {
  const [loaded, setLoaded] = useState<ComponentType<P> | null>(null);
  useEffect(() => {
    if (!isWanted || loaded !== null) return;
    load().then((component) => setLoaded(() => component), () => {
      overlay.value = null;
      notifyProblem("A part of the console could not be loaded. Reload the page.");
    });
  }, [isWanted]);
  return loaded;
}
