/**
 * Changes of many files at once, as the contract defines them: the version that each file gets. Whole histories, in
 * memory.
 */
import { isInBranch } from "./model_branches.ts";
import { compareUtf8 } from "./model_content.ts";
import { type File, kept, type Model, type Refused, refused, type Version } from "./model.ts";

/** A past state of the project: after a commit, or at the end of a millisecond. */
export type Moment =
  & { /** The moment as it is sent. */ readonly at: string }
  & ({ readonly commit: number } | { readonly time: string });

/** A change of every file below a folder. */
export interface FolderChange {
  readonly kind: "copy_folder" | "move_folder" | "delete_folder";
  readonly path: string;
  readonly destination: string;
  readonly overwrite: boolean;
  /** Only for a copy. */
  readonly moment?: Moment | undefined;
  readonly run?: string | undefined;
  readonly key?: string | undefined;
}

export interface Undo {
  readonly kind: "undo_run";
  readonly undoes: string;
  readonly onConflict: "refuse" | "skip" | "overwrite";
  readonly dryRun: boolean;
  /** The run id of the undo itself. */
  readonly run: string;
  readonly key?: string | undefined;
}

export interface RestoreFolder {
  readonly kind: "restore_folder";
  readonly directory: string;
  readonly moment: Moment;
  readonly dryRun: boolean;
  readonly run: string;
  readonly key?: string | undefined;
}

/** The version to add at a path. Null: a tombstone. */
export interface Step {
  readonly path: string;
  readonly content: { readonly path: string; readonly version: Version } | null;
}

/** The answer to an undo or restore, without its run ids. */
export interface BackPlan {
  readonly actions: readonly {
    readonly path: string;
    readonly action: "restore" | "delete";
    readonly from: number;
    readonly to: number | null;
    /** True, since the model writes everything with one key. */
    readonly own?: true;
  }[];
  readonly unchanged: readonly string[];
  readonly conflicts: readonly {
    readonly path: string;
    readonly version: number;
    readonly runId: string | null;
    readonly actor: null;
    readonly own?: true;
    readonly reason?: "gone" | "moved";
  }[];
  readonly trimmed?: readonly string[];
}

/** The file's version at that moment; undefined: it had none, "trimmed": the version is no longer known. */
export function versionAt(file: File, moment: Moment | undefined): Version | "trimmed" | undefined {
  if (!moment) return file.versions.at(-1);
  if ("time" in moment && file.createdAt > moment.time) return undefined;
  const then = kept(file).findLast((version) =>
    "commit" in moment ? version.commit <= moment.commit : version.at <= moment.time
  );
  return then ?? (file.first > 1 ? "trimmed" : undefined);
}

/** Whether the file's content at that moment is no longer known. */
function isGone(then: Version | "trimmed" | undefined): then is Version | "trimmed" {
  return then === "trimmed" || (then?.redacted === true && !then.deleted);
}

function below(model: Model, directory: string): File[] {
  const prefix = directory === "" ? "" : `${directory}/`;
  return [...model.files.values()].filter((file) => file.path.startsWith(prefix) && !isInBranch(file))
    .toSorted((a, b) => compareUtf8(a.path, b.path));
}

/** Such a request is refused before its idempotency key is examined. */
export function isIntoItself({ kind, path, destination }: FolderChange): boolean {
  return kind !== "delete_folder" && `${destination}/`.startsWith(`${path}/`);
}

export function planFolder(
  model: Model,
  change: FolderChange,
): Refused | { readonly steps: Step[]; readonly trimmed: string[] } {
  const { kind, path, destination, overwrite, moment } = change;
  const trimmed: string[] = [];
  const sources = below(model, path).flatMap((file) => {
    const version = versionAt(file, moment);
    if (moment && isGone(version)) trimmed.push(file.path);
    else if (version && version !== "trimmed" && !version.deleted) return [{ path: file.path, version }];
    return [];
  });
  if (sources.length === 0) return refused("FILE_NOT_FOUND", trimmed.length > 0 ? { trimmed } : {});
  const left = kind === "copy_folder" ? [] : sources.map((source) => source.path);
  const made = kind === "delete_folder" ? [] : sources.map((content) => ({
    path: destination + content.path.slice(path.length),
    content,
  }));
  const there = made.map((step) => step.path).filter((target) =>
    !left.includes(target) && model.files.get(target)?.versions.at(-1)?.deleted === false
  );
  if (there.length > 0 && !overwrite) {
    return refused("FILE_ALREADY_EXISTS", { paths: there.toSorted(compareUtf8).slice(0, 20) });
  }
  const gone = left.filter((source) => made.every((step) => step.path !== source));
  return { steps: [...gone.map((path) => ({ path, content: null })), ...made], trimmed };
}

/** The run, the runs that have undone it, the runs that have undone those, and so on. */
function ownRuns(model: Model, run: string): Set<string> {
  const own = new Set([run]);
  for (const one of own) for (const undoing of model.undos.get(one) ?? []) own.add(undoing);
  return own;
}

/** Whether both have the same content, or neither is there. */
export function isSame(one: Version | undefined, other: Version | undefined): boolean {
  const [isLive, wasLive] = [one?.deleted === false, other?.deleted === false];
  if (!one || !other || !isLive || !wasLive) return isLive === wasLive;
  return one.type === other.type && one.bytes.toHex() === other.bytes.toHex() &&
    one.pieces.join() === other.pieces.join();
}

function action(path: string, from: Version, to: Version | undefined): BackPlan["actions"][number] {
  const isBack = to?.deleted === false;
  return { path, action: isBack ? "restore" : "delete", from: from.version, to: isBack ? to.version : null };
}

export function planUndo(model: Model, { undoes, onConflict, dryRun }: Undo): Refused | BackPlan {
  const meant = below(model, "").filter((file) => kept(file).some(({ run }) => run === undoes));
  if (meant.length === 0) return refused("RUN_NOT_FOUND");
  const own = ownRuns(model, undoes);
  const actions: BackPlan["actions"][number][] = [];
  const unchanged: string[] = [];
  const conflicts: BackPlan["conflicts"][number][] = [];
  for (const file of meant) {
    const { path, versions } = file;
    const first = versions.findIndex(({ run, version }) => run === undoes && version >= file.first);
    const [base, last] = [versions[first - 1], versions.at(-1)];
    if (!last) continue;
    if (base && (base.version < file.first || isGone(base))) {
      conflicts.push({ path, version: base.version, runId: null, actor: null, reason: "gone" });
      continue;
    }
    if (isSame(last, base)) {
      unchanged.push(path);
      continue;
    }
    const foreign = versions.findLast(({ run, undone }, index) =>
      index > first && run !== undoes && !(undone !== undefined && own.has(undone))
    );
    if (foreign) {
      conflicts.push({ path, version: foreign.version, runId: foreign.run ?? null, actor: null, own: true });
      if (onConflict !== "overwrite") continue;
    } else {
      const moves = versions.slice(first).filter(({ run, operation }) =>
        run === undoes && operation === "move"
      );
      const isSplit = moves.some(({ moved }) => moved && !meant.includes(moved));
      if (moves[0] && isSplit) {
        const { version } = moves[0];
        conflicts.push({ path, version, runId: undoes, actor: null, own: true, reason: "moved" });
        if (onConflict !== "overwrite") continue;
      }
    }
    actions.push({ ...action(path, last, base), own: true });
  }
  const isRefused = conflicts.length > 0 && onConflict === "refuse" && !dryRun;
  return isRefused ? refused("RUN_CONFLICT", { conflicts }) : { actions, unchanged, conflicts };
}

export function planRestore(model: Model, { directory, moment }: RestoreFolder): BackPlan {
  const actions: BackPlan["actions"][number][] = [];
  const unchanged: string[] = [];
  const trimmed: string[] = [];
  for (const file of below(model, directory)) {
    const [last, then] = [file.versions.at(-1), versionAt(file, moment)];
    if (!last || last === then) continue;
    if (isGone(then)) trimmed.push(file.path);
    else if (isSame(last, then)) unchanged.push(file.path);
    else actions.push(action(file.path, last, then));
  }
  return { actions, unchanged, conflicts: [], ...(trimmed.length > 0 && { trimmed }) };
}

/** The steps that carry out the plan. */
export function stepsOf(model: Model, { actions }: BackPlan): Step[] {
  return actions.map(({ path, to }) => {
    const version = to === null ? undefined : model.files.get(path)?.versions[to - 1];
    return { path, content: version ? { path, version } : null };
  });
}
