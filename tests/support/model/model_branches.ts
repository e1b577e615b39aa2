/**
 * Branches as the contract defines them: files below `.branches/`, each with its base, and the three states of a file
 * that a merge compares.
 */
import { mergeLines } from "../../../supabase/functions/api/files/merge_lines.ts";
import { Work } from "../../../supabase/functions/api/runtime/work.ts";
import { compareUtf8, isBinaryType } from "./model_content.ts";
import { type File, type Refused, refused, type Version } from "./model.ts";
import { isSame } from "./model_plans.ts";
import type { Data } from "./model_reads.ts";

export interface CreateBranch {
  readonly kind: "create_branch";
  readonly name: string;
  readonly directory: string;
}

export interface MergeBranch {
  readonly kind: "merge_branch" | "update_branch";
  readonly name: string;
  readonly onConflict: "refuse" | "branch" | "current";
  readonly dryRun: boolean;
  readonly keep: boolean;
  readonly run: string;
}

export interface OfBranch {
  readonly kind: "get_branch" | "close_branch";
  readonly name: string;
}

export type BranchRequest = CreateBranch | MergeBranch | OfBranch;

/** Fields of the record; the others are not compared. */
export interface BranchRecord {
  readonly branch: Readonly<Record<string, unknown>>;
}

/** What a file in a branch was copied from, or last merged with. */
interface Base {
  readonly file: File | undefined;
  readonly version: number;
  /** The version of the file in the branch that has nothing to merge. */
  readonly merged: number | undefined;
}

interface Branch {
  readonly name: string;
  readonly directory: string;
  readonly fileCount: number;
  state: "open" | "merged" | "closed";
  readonly bases: Map<File, Base>;
}

interface Change {
  readonly path: string;
  readonly ours: Version | undefined;
  readonly theirs: Version | undefined;
  readonly base: Version | undefined;
  readonly isGone: boolean;
  readonly isOursChanged: boolean;
  readonly isTheirsChanged: boolean;
  readonly conflict: string | undefined;
}

/** A version with its content; null: a tombstone. */
type Content = Pick<Version, "bytes" | "type" | "isText" | "pieces"> | null;

/** What the branches need of the model. */
export interface Store {
  readonly files: ReadonlyMap<string, File>;
  begin(run?: string): void;
  add(path: string, content: Content, operation: string, from?: Version["from"]): void;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const live = (version: Version | undefined) => version?.deleted === false ? version : undefined;
const isText = (version: Version) => version.isText && !isBinaryType(version.type);

/** Whether the path is in a branch. */
export function isInBranch({ path }: { readonly path: string }): boolean {
  return path.startsWith(".branches/");
}

export class ModelBranches {
  readonly #branches = new Map<string, Branch>();

  constructor(private readonly store: Store) {}

  get names(): string[] {
    return [...this.#branches.keys()];
  }

  /** The refusal of a write at the path; undefined outside of branches, and in an open one. */
  refusalAt(path: string): Refused | undefined {
    if (!isInBranch({ path })) return undefined;
    const branch = this.#branches.get(path.split("/")[1] ?? "");
    if (!branch) return refused("BRANCH_NOT_FOUND");
    return branch.state === "open" ? undefined : refused("BRANCH_CLOSED", { state: branch.state });
  }

  /** The first version of the file that an open branch needs; Infinity if none does. */
  firstNeeded(file: File): number {
    const bases = [...this.#branches.values()].filter(({ state }) => state === "open")
      .flatMap(({ bases }) => [...bases.values()]);
    return Math.min(Infinity, ...bases.filter((base) => base.file === file).map(({ version }) => version));
  }

  /** The paths in branches that were copied from the file, as a purge lists them. */
  copiesOf(file: File): string[] {
    const all = [...this.#branches.values()].flatMap(({ bases }) => [...bases]);
    return all.flatMap(([copy, base]) => base.file === file ? [copy.path] : []).toSorted(compareUtf8).slice(
      0,
      20,
    );
  }

  async perform(request: BranchRequest): Promise<Refused | BranchRecord | Data> {
    if (request.kind === "create_branch") return this.#create(request);
    const branch = this.#branches.get(request.name);
    if (!branch) return refused("BRANCH_NOT_FOUND");
    if (request.kind === "get_branch") return await this.#details(branch);
    if (branch.state !== "open") return refused("BRANCH_CLOSED", { state: branch.state });
    if ("onConflict" in request) return await this.#merge(branch, request);
    this.#end(branch, "closed");
    return { branch: recordOf(branch) };
  }

  #create({ name, directory }: CreateBranch): BranchRecord {
    this.store.begin();
    const prefix = directory === "" ? "" : `${directory}/`;
    const sources = [...this.store.files.values()].filter((file) =>
      file.path.startsWith(prefix) && !isInBranch(file) && live(file.versions.at(-1))
    );
    const branch: Branch = { name, directory, fileCount: sources.length, state: "open", bases: new Map() };
    this.#branches.set(name, branch);
    for (const source of sources) {
      const version = live(source.versions.at(-1));
      if (!version) continue;
      const path = `.branches/${name}/${source.path.slice(prefix.length)}`;
      this.store.add(path, version, "copy", { path: source.path, version: version.version });
      this.#moveBase(branch, path, { file: source, version: version.version, merged: 1 });
    }
    return { branch: recordOf(branch) };
  }

  #end(branch: Branch, state: "merged" | "closed"): void {
    branch.state = state;
    this.store.begin();
    for (const { path, versions } of this.store.files.values()) {
      if (!path.startsWith(`.branches/${branch.name}/`) || !live(versions.at(-1))) continue;
      this.store.add(path, null, "delete");
    }
  }

  #moveBase({ bases }: Branch, path: string, base: Base): void {
    const file = this.store.files.get(path);
    if (file) bases.set(file, base);
  }

  /** The files of one side, by their paths relative to the branch. */
  #paths(branch: Branch, isInside: boolean): string[] {
    const prefix = isInside ? `.branches/${branch.name}/` : above(branch);
    const files = [...this.store.files.values()].filter((file) =>
      file.path.startsWith(prefix) && isInBranch(file) === isInside
    );
    return files.map(({ path }) => path.slice(prefix.length)).toSorted(compareUtf8);
  }

  async #compare(branch: Branch, path: string): Promise<Change & { readonly merged: Content }> {
    const file = this.store.files.get(`.branches/${branch.name}/${path}`);
    const target = this.store.files.get(above(branch) + path);
    const base = file && branch.bases.get(file);
    const [ours, theirs] = [file?.versions.at(-1), target?.versions.at(-1)];
    const known = base?.file === undefined ? undefined : base.file.versions[base.version - 1];
    const isCurrent = base?.file !== undefined && base.file === target && base.version === theirs?.version;
    const isGone = base?.file !== undefined && !isCurrent &&
      (base.file !== target || base.version < base.file.first || known?.redacted === true);
    const then = isGone ? undefined : known;
    const isOursChanged = ours?.version !== base?.merged && (isGone || !isSame(ours, then));
    const isTheirsChanged = isGone || !isSame(theirs, then);
    const sides = { path, ours, theirs, base: then, isGone, isOursChanged, isTheirsChanged };
    if (!isOursChanged || !isTheirsChanged || isSame(ours, theirs)) {
      return { ...sides, conflict: undefined, merged: null };
    }
    const kind = conflictOf(sides);
    const merged = kind === "content" ? await mergedText(sides) : null;
    return { ...sides, conflict: merged ? undefined : kind, merged };
  }

  async #details(branch: Branch): Promise<BranchRecord> {
    const counts = { added: 0, modified: 0, deleted: 0, conflicts: 0 };
    const changes: unknown[] = [];
    for (const path of branch.state === "open" ? this.#paths(branch, true) : []) {
      const { ours, theirs, base, isOursChanged, conflict } = await this.#compare(branch, path);
      if (!isOursChanged) continue;
      const change = !live(ours) ? "deleted" : live(base) || conflict === "baseGone" ? "modified" : "added";
      counts[change]++;
      if (conflict !== undefined) counts.conflicts++;
      const [one, two, three] = [base, ours, theirs].map((version) => live(version)?.version ?? null);
      changes.push({
        path,
        change,
        base: one,
        branch: two,
        current: three,
        conflict: conflict !== undefined,
      });
    }
    return { branch: { ...recordOf(branch), changes, counts, hasMore: false } };
  }

  async #merge(branch: Branch, request: MergeBranch): Promise<Refused | Data> {
    const isUpdate = request.kind === "update_branch";
    const [actions, conflicts, done]: [Record<string, unknown>[], unknown[], (() => void)[]] = [[], [], []];
    const place = isUpdate ? `.branches/${branch.name}/` : above(branch);
    this.store.begin(request.run);
    for (const path of this.#paths(branch, !isUpdate)) {
      const change = await this.#compare(branch, path);
      if (!(isUpdate ? change.isTheirsChanged : change.isOursChanged)) continue;
      const [to, from] = isUpdate ? [change.ours, change.theirs] : [change.theirs, change.ours];
      const side = change.merged ? "content" : change.conflict === undefined ? "from" : chosen(request);
      if (side === undefined) {
        conflicts.push(conflictRecord(change));
        continue;
      }
      const isWritten = side === "content" || side === "from" && !isSame(to, from);
      const content = change.merged ?? live(from) ?? null;
      if (isWritten) {
        const action = content === null ? "delete" : change.merged ? "merge" : "write";
        const [one, two] = [live(to)?.version ?? null, live(from)?.version ?? null];
        actions.push({ path, action, from: one, to: two, version: (to?.version ?? 0) + 1 });
      }
      const source = from &&
        { path: (isUpdate ? above(branch) : `.branches/${branch.name}/`) + path, version: from.version };
      done.push(() => {
        if (isWritten) this.store.add(place + path, content, "merge", content ? source : undefined);
        const [ours, theirs] = [
          this.store.files.get(`.branches/${branch.name}/${path}`),
          this.store.files.get(above(branch) + path),
        ];
        const isMerged = !isUpdate || side === "from" || isSame(to, from);
        const base = {
          file: theirs,
          version: theirs?.versions.length ?? 0,
          merged: isMerged ? ours?.versions.length : undefined,
        };
        this.#moveBase(branch, `.branches/${branch.name}/${path}`, base);
      });
    }
    if (request.dryRun) {
      return {
        data: { actions: actions.map(({ version: _, ...action }) => action), conflicts, runId: null },
      };
    }
    if (conflicts.length > 0) return refused("MERGE_CONFLICT", { conflicts });
    for (const one of done) one();
    if (!isUpdate && request.keep) branch.state = "merged";
    else if (!isUpdate) this.#end(branch, "merged");
    return { data: { actions, conflicts, runId: request.run } };
  }
}

function above({ directory }: Branch): string {
  return directory === "" ? "" : `${directory}/`;
}

/** The side that is taken in a conflict: from, to, or none. */
function chosen({ kind, onConflict }: MergeBranch): "from" | "to" | undefined {
  if (onConflict === "refuse") return undefined;
  return (onConflict === "branch") === (kind === "merge_branch") ? "from" : "to";
}

/** Why both sides cannot be had; `content`: perhaps they can, line by line. */
function conflictOf(
  { ours, theirs, base, isGone }: Pick<Change, "ours" | "theirs" | "base" | "isGone">,
): string {
  if (isGone) return "baseGone";
  if (!ours || ours.deleted) return "deletedInBranch";
  if (!theirs || theirs.deleted) return "deletedInTarget";
  const all = [ours, theirs, ...base && !base.deleted ? [base] : []];
  return all.every(isText) ? "content" : "binary";
}

function conflictRecord({ path, conflict: kind, base, ours, theirs }: Change) {
  const [one, two, three] = [base, ours, theirs].map((version) => live(version)?.version ?? null);
  return { path, kind, base: one, branch: two, current: three };
}

async function mergedText(
  { ours, theirs, base }: Pick<Change, "ours" | "theirs" | "base">,
): Promise<Content> {
  const [old = "", left = "", right = ""] = [live(base), ours, theirs].map((version) =>
    version && decoder.decode(version.bytes)
  );
  const text = await mergeLines(old, left, right, new Work(Infinity, undefined, 0));
  if (text === null || !ours || !theirs) return null;
  const bytes = new TextEncoder().encode(text);
  const type = ours.type === base?.type ? theirs.type : ours.type;
  return { bytes, pieces: bytes.length > 0 ? [bytes.length] : [], type, isText: true };
}

function recordOf({ name, directory, fileCount, state }: Branch) {
  return { name, path: `.branches/${name}`, directory, fileCount, state };
}
