/** The commands of the view on screen: views register them, and the command palette lists them. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { goTo, place, type ProjectPlace } from "../state/router.ts";
import type { IconName } from "./icon.tsx";

export interface Command {
  /** The same id for the same command in every view: `new-file`. */
  readonly id: string;
  readonly text: string;
  /** The name of what the command changes. */
  readonly about?: string;
  readonly icon: IconName;
  readonly run: () => void;
  /** Only `runIn` runs it; the palette does not list it. */
  readonly isUnlisted?: boolean;
}

const sources = signal<ReadonlySet<() => readonly Command[]>>(new Set());
/** A command to run once its view is shown. */
let wanted: { readonly id: string; readonly target: ProjectPlace } | null = null;

/** Offers commands while the calling component is shown. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands);
  latest.current = commands;
  useEffect(() => {
    const source = () => latest.current;
    sources.value = new Set([...sources.peek(), source]);
    return () => {
      sources.value = new Set([...sources.peek()].filter((other) => other !== source));
    };
  }, []);
  useEffect(() => {
    if (wanted === null) return;
    const { id, target } = wanted;
    const here = place.value;
    if (here.name !== target.name || here.projectId !== target.projectId) {
      wanted = null;
      return;
    }
    const found = commands.find((command) => command.id === id);
    if (found === undefined) return;
    wanted = null;
    found.run();
  }, [commands.map(({ id }) => id).join(" ")]);
}

/** Returns the commands of the view on screen, in the order of its parts. */
export function commandsHere(): readonly Command[] {
  return [...sources.value].flatMap((source) => source());
}

/** Runs a command of the view on screen, or navigates to the view that has it and runs it there. */
export function runIn(target: ProjectPlace, id: string): void {
  const found = commandsHere().find((command) => command.id === id);
  if (found !== undefined) return found.run();
  wanted = { id, target };
  goTo(target);
}
