/**
 * Checks, page by page, that Storage has the bytes of every segment that a version lists. Also finds data that nothing
 * needs: objects of days that the sweep has finished, folders of projects that do not exist, and rows of segments that
 * no version lists.
 */
import { z } from "zod";
import { segmentName } from "../../functions/api/ports/segment_name.ts";
import {
  VERIFY_LIST_OBJECTS,
  VERIFY_OBJECTS_AT_ONCE,
  VERIFY_ROWS_AT_ONCE,
  VERIFY_SEGMENTS_REMEMBERED_MAX,
  VERIFY_UNNEEDED_ROWS_AT_ONCE,
  VERIFY_VERSIONS_SHOWN_MAX,
} from "../limits.ts";
import { StartupError } from "../startup_error.ts";
import type { Administration, SegmentToVerify, VerifyPage } from "./administration.ts";
import type { StoredObjects } from "./stored_objects.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The progress and the findings of a verification, with which it continues after an interruption. */
export const verification = z.object({
  /** The project that is being verified: those with lower ids are finished. */
  projectId: z.string().nullable(),
  /** The last version of it that was checked. */
  after: z.object({ path: z.string(), version: z.int() }).nullable(),
  /** The project's versions are finished, and its objects of days up to this one. */
  day: z.string().nullable(),
  isHashed: z.boolean(),
  versions: z.int(),
  segments: z.int(),
  /** Versions that cannot be read, and why; at most VERIFY_VERSIONS_SHOWN_MAX. */
  unreadable: z.array(z.object({
    projectId: z.string(),
    path: z.string(),
    version: z.int(),
    reason: z.string(),
  })),
  unreadableCount: z.int(),
  /** Objects that no version needs and the sweep no longer visits, and how many of them were removed. */
  unneeded: z.int(),
  removed: z.int(),
  /** The last checked folder that belongs to no project. */
  folder: z.string().nullable(),
  /** How many folders without a project have objects of finished days; `unneeded` counts those objects, too. */
  unknownProjects: z.int(),
  /** The last segment that was searched for in versions. */
  row: z.string().nullable(),
  /** Rows that no version needs and the sweep does not find, and how many of them were marked for the sweep. */
  unneededRows: z.int(),
  removedRows: z.int(),
});
export type Verification = z.infer<typeof verification>;

export function newVerification(isHashed: boolean): Verification {
  return {
    projectId: null,
    after: null,
    day: null,
    isHashed,
    versions: 0,
    segments: 0,
    unreadable: [],
    unreadableCount: 0,
    unneeded: 0,
    removed: 0,
    folder: null,
    unknownProjects: 0,
    row: null,
    unneededRows: 0,
    removedRows: 0,
  };
}

export interface VerifyOptions {
  /** Undefined: all projects. */
  readonly projectId: string | undefined;
  readonly repairs: boolean;
  /** Called after each slice. */
  readonly onSlice: (state: Verification) => Promise<void>;
}

/** Continues from `state`, which it updates. Throws `StartupError` if the service does not answer. */
export async function verify(to: Administration, state: Verification, options: VerifyOptions): Promise<void> {
  const ids = options.projectId === undefined
    ? (await to.listProjects()).map(({ id }) => id).sort()
    : [options.projectId];
  const from = state.projectId;
  for (const projectId of ids.filter((id) => from === null || id >= from)) {
    if (projectId !== state.projectId) Object.assign(state, { projectId, after: null, day: null });
    if (state.day === null) await verifyVersions(to, projectId, state, options);
    await verifyObjects(to, projectId, state, options);
  }
  if (options.projectId === undefined) await verifyFolders(to, state, options);
  await verifyRows(to, state, options);
}

async function verifyVersions(
  to: Administration,
  projectId: string,
  state: Verification,
  { onSlice }: VerifyOptions,
): Promise<void> {
  const checker = new SegmentChecker(to.objects, state.isHashed);
  for (;;) {
    const page = await to.versionsToVerify(projectId, state.after);
    if (page.next === null) break;
    state.segments += await checker.check(page.segments);
    for (const { path, version, segments } of page.versions) {
      const known = new Set(page.segments.map(({ id }) => id));
      const reason = reasonOf(segments, known, checker.damaged);
      state.versions++;
      if (reason === null || ++state.unreadableCount > VERIFY_VERSIONS_SHOWN_MAX) continue;
      state.unreadable.push({ projectId, path, version, reason });
    }
    state.after = page.next;
    await onSlice(state);
  }
  // "" sorts before every day.
  state.day = "";
}

/** Why a version cannot be read; null: it can be read. */
function reasonOf(
  segments: VerifyPage["versions"][number]["segments"],
  known: ReadonlySet<string>,
  damaged: ReadonlyMap<string, string>,
): string | null {
  for (const id of segments) {
    if (!known.has(id)) return `segment ${id} has no row`;
    const damage = damaged.get(id);
    if (damage !== undefined) return damage;
  }
  return null;
}

/** Inspects each segment once, as long as it remembers that segment. */
class SegmentChecker {
  readonly damaged = new Map<string, string>();
  readonly #sound = new Set<string>();

  constructor(private readonly objects: StoredObjects, private readonly isHashed: boolean) {}

  /** Returns the number of segments it inspected. */
  async check(segments: readonly SegmentToVerify[]): Promise<number> {
    const left = segments.filter(({ id }) => !this.#sound.has(id) && !this.damaged.has(id));
    const waiting = [...left];
    const work = async () => {
      for (let segment = waiting.pop(); segment; segment = waiting.pop()) await this.#inspect(segment);
    };
    await Promise.all(Array.from({ length: VERIFY_OBJECTS_AT_ONCE }, work));
    return left.length;
  }

  async #inspect({ id, name, size, sha256 }: SegmentToVerify): Promise<void> {
    const stored = await this.objects.inspect(name, this.isHashed);
    if (stored === null) this.damaged.set(id, `${name} is missing`);
    else if (stored.size !== size) {
      this.damaged.set(id, `${name} has ${stored.size} bytes instead of ${size}`);
    } else if (this.isHashed && stored.sha256 !== sha256) {
      this.damaged.set(id, `${name} has a different SHA-256 than recorded`);
    } else {
      if (this.#sound.size >= VERIFY_SEGMENTS_REMEMBERED_MAX) this.#sound.clear();
      this.#sound.add(id);
    }
  }
}

/**
 * Finds objects without a row, of days that the sweep has finished. Commits refuse segments of such days, so these
 * objects can never get a row: removing them is always safe.
 */
async function verifyObjects(
  to: Administration,
  projectId: string,
  state: Verification,
  { repairs, onSlice }: VerifyOptions,
): Promise<void> {
  const through = await to.sweptThrough(projectId) ?? "";
  for (const day of await to.objects.days(projectId)) {
    if (day <= (state.day ?? "") || day > through) continue;
    await verifyDay(to, projectId, day, state, repairs, (ids) => to.unreferenced(projectId, ids));
    state.day = day;
    await onSlice(state);
  }
}

/** Counts, and with `repairs` removes, the unneeded objects of a project's day. Returns their number. */
async function verifyDay(
  { objects }: Administration,
  projectId: string,
  day: string,
  state: Verification,
  repairs: boolean,
  unneededOf: (ids: readonly string[]) => Promise<readonly string[]>,
): Promise<number> {
  let count = 0;
  for (let offset = 0;;) {
    const names = await objects.list(projectId, day, offset);
    const ids = names.filter((name) => UUID.test(name));
    const unneeded = ids.length === 0 ? [] : await unneededOf(ids);
    count += unneeded.length;
    state.unneeded += unneeded.length;
    if (repairs) {
      await objects.remove(unneeded.map((id) => segmentName(projectId, new Date(day), id)));
      state.removed += unneeded.length;
    }
    if (names.length < VERIFY_LIST_OBJECTS) return count;
    offset += names.length - (repairs ? unneeded.length : 0);
  }
}

/**
 * Finds objects of past days in folders of projects that do not exist, such as projects created after the backup from
 * which Postgres was restored. The sweep never finds them, since it visits existing projects. If every project is
 * unknown, the database probably belongs to another Storage: then nothing is removed.
 */
async function verifyFolders(
  to: Administration,
  state: Verification,
  { repairs, onSlice }: VerifyOptions,
): Promise<void> {
  const folders = (await to.objects.folders()).filter((name) => UUID.test(name));
  const unknown: string[] = [];
  let through = "";
  for (let start = 0; start < folders.length; start += VERIFY_LIST_OBJECTS) {
    const page = await to.unknownProjects(folders.slice(start, start + VERIFY_LIST_OBJECTS));
    unknown.push(...page.ids);
    through = page.through;
  }
  if (repairs && unknown.length > 0 && unknown.length === folders.length) {
    throw new StartupError(
      "The database has none of the projects whose objects are in Storage, so nothing was removed. Check that the database belongs to this Storage.",
    );
  }
  const from = state.folder ?? "";
  for (const projectId of unknown.filter((id) => id > from)) {
    let count = 0;
    for (const day of await to.objects.days(projectId)) {
      if (day > through) continue;
      count += await verifyDay(to, projectId, day, state, repairs, (names) => Promise.resolve(names));
    }
    if (count > 0) state.unknownProjects++;
    state.folder = projectId;
    await onSlice(state);
  }
}

/**
 * Finds rows of segments that no version lists: searches all versions of a project for a bounded number of segments at a
 * time.
 */
async function verifyRows(
  to: Administration,
  state: Verification,
  { projectId, repairs, onSlice }: VerifyOptions,
): Promise<void> {
  for (;;) {
    const { rows, next } = await someRows(to, state.row, projectId ?? null);
    for (const [id, segments] of rows) {
      // Read before the first version is examined: versions that are added meanwhile get later positions.
      const end = await to.versionsEnd(id);
      await dropNeeded(to, id, segments);
      const left = [...segments];
      for (let start = 0; start < left.length; start += VERIFY_UNNEEDED_ROWS_AT_ONCE) {
        const some = left.slice(start, start + VERIFY_UNNEEDED_ROWS_AT_ONCE);
        const { unneeded, removed } = await to.unneededSegments(id, some, end, repairs);
        state.unneededRows += unneeded;
        state.removedRows += removed;
      }
    }
    if (next === null) return;
    state.row = next;
    await onSlice(state);
  }
}

/** The segments after `after`, by project; about VERIFY_ROWS_AT_ONCE. */
async function someRows(to: Administration, after: string | null, projectId: string | null) {
  const rows = new Map<string, Set<string>>();
  let count = 0;
  let next = after;
  do {
    const page = await to.segmentsToVerify(next, projectId);
    for (const [id, segments] of Object.entries(page.projects)) {
      const known = rows.get(id) ?? new Set();
      for (const segment of segments) known.add(segment);
      rows.set(id, known);
      count += segments.length;
    }
    next = page.next;
  } while (next !== null && count < VERIFY_ROWS_AT_ONCE);
  return { rows, next };
}

/** Removes from `segments` those that a version of the project lists, or from which a file's latest version is read. */
async function dropNeeded(to: Administration, projectId: string, segments: Set<string>): Promise<void> {
  for (let after: Verification["after"] = null; segments.size > 0;) {
    const page: VerifyPage = await to.versionsToVerify(projectId, after);
    if (page.next === null) return;
    for (const version of page.versions) {
      for (const id of version.segments) segments.delete(id);
    }
    after = page.next;
  }
}
