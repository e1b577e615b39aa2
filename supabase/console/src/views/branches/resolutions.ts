/** What a person has chosen for files in conflict, until the branch is merged or updated. */
import { useState } from "preact/hooks";
import type { BranchChange, Resolution } from "../../api/branches.ts";

export interface Resolutions {
  /** By path. */
  readonly all: ReadonlyMap<string, Resolution>;
  readonly of: (change: BranchChange) => Resolution | undefined;
  readonly set: (change: BranchChange, resolution: Resolution | undefined) => void;
  readonly clear: () => void;
}

interface Chosen {
  readonly resolution: Resolution;
  /** The versions that the person saw. */
  readonly seen: string;
}

/**
 * `changes` are those on the page. A choice counts while its file is on the page, with the versions that the person has
 * seen.
 */
export function useResolutions(changes: readonly BranchChange[]): Resolutions {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Chosen>>(new Map());
  const shown = new Map(changes.map((change) => [change.path, change]));
  const isValid = ([path, { seen }]: readonly [string, Chosen]) => {
    const change = shown.get(path);
    return change !== undefined && seen === versionsOf(change);
  };
  const all = new Map([...chosen].filter(isValid).map(([path, { resolution }]) => [path, resolution]));
  return {
    all,
    of: ({ path }) => all.get(path),
    set: (change, resolution) => {
      const next = new Map(chosen);
      if (resolution === undefined) next.delete(change.path);
      else next.set(change.path, { resolution, seen: versionsOf(change) });
      setChosen(next);
    },
    clear: () => setChosen(new Map()),
  };
}

function versionsOf({ branch, current }: BranchChange): string {
  return `${branch} ${current}`;
}
