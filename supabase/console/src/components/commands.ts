/** What can be done in the view that is shown: views say it, and the command palette lists it. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { goTo, type Place, place } from "../state/router.ts";
import type { IconName } from "./icon.tsx";

export interface Command {
  /** The same for the same thing in every view: `new-file`. */
  readonly id: string;
  readonly text: string;
  /** What it is done to. */
  readonly about?: string;
  readonly icon: IconName;
  readonly run: () => void;
  /** Only for `runIn`. */
  readonly isUnlisted?: boolean;
}

type Target = Exclude<Place, { readonly name: "home" }>;

const sources = signal<ReadonlySet<() => readonly Command[]>>(new Set());
/** A command to run in a view that is not there yet. */
let wanted: { readonly id: string; readonly target: Target } | null = null;

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

/** Those of the view that is shown, in the order of its parts. */
export function commandsHere(): readonly Command[] {
  return [...sources.value].flatMap((source) => source());
}

/** Runs a command of the view that is shown, or goes to the view that has it and runs it there. */
export function runIn(target: Target, id: string): void {
  const found = commandsHere().find((command) => command.id === id);
  if (found !== undefined) return found.run();
  wanted = { id, target };
  goTo(target);
}
