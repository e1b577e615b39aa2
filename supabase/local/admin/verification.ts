/**
 * Whether every version has its bytes: what the database says that versions need is looked for in Storage, page by page.
 * And whether anything is kept that nothing needs: objects of days that the sweep has done, folders of projects that there
 * are not, and rows of segments that no version has.
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

/** How far a verification has come, and what it found: enough to go on after a break. */
export const verification = z.object({
  /** The project under way: those with lower ids are done. */
  projectId: z.string().nullable(),
  /** The last version of it that was checked. */
  after: z.object({ path: z.string(), version: z.int() }).nullable(),
  /** Its versions are done; objects of days up to this one, too. */
  day: z.string().nullable(),
  isHashed: z.boolean(),
  versions: z.int(),
  segments: z.int(),
  /** Versions that cannot be read, and why; as many as are named. */
  unreadable: z.array(z.object({
    projectId: z.string(),
    path: z.string(),
    version: z.int(),
    reason: z.string(),
  })),
  unreadableCount: z.int(),
  /** Objects that no version needs and the sweep does not take any more, and how many of them were removed. */
  unneeded: z.int(),
  removed: z.int(),
  /** The last folder of a project that there is not which was gone through. */
  folder: z.string().nullable(),
  /** How many of those have objects that nobody uploads right now; the objects are among the unneeded ones. */
  unknownProjects: z.int(),
  /** The last segment whose row was looked for in versions. */
  row: z.string().nullable(),
  /** Rows that no version needs and the sweep does not take by itself, and how many of them were left to it. */
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
  /** One project; absent: all of them. */
  readonly projectId: string | undefined;
  readonly repairs: boolean;
  /** Called after each slice. */
  readonly onSlice: (state: Verification) => Promise<void>;
}

/** Goes on from `state`, which it changes. Throws `StartupError` where there is no answer. */
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
  // Before the first day.
  state.day = "";
}

/** Why a version cannot be read; null: it can. */
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

/** Looks at each segment once, as far as it remembers. */
class SegmentChecker {
  readonly damaged = new Map<string, string>();
  readonly #sound = new Set<string>();

  constructor(private readonly objects: StoredObjects, private readonly isHashed: boolean) {}

  /** Returns how many it had to look at. */
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
    } else if (this.isHashed && stored.sha256 !== sha256) this.damaged.set(id, `${name} has another SHA-256`);
    else {
      if (this.#sound.size >= VERIFY_SEGMENTS_REMEMBERED_MAX) this.#sound.clear();
      this.#sound.add(id);
    }
  }
}

/**
 * Objects of days that the sweep has done, and does not visit again, without a row. Commits refuse segments of such days, so
 * none of them ever gets one: removing them is safe at any time.
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

/** Returns how many objects of a project's day are unneeded. */
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
 * Objects in folders of projects that there are not, as far as their days are over: after a restore of Postgres, those that
 * were made later. The sweep goes from project to project, and never finds them. With another database all would be unknown:
 * then nothing is removed.
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
      "The database has none of the projects that Storage has objects of: is it theirs? These were not removed.",
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

/** Rows of segments that no version has: some at a time are looked for in all versions of their projects. */
async function verifyRows(
  to: Administration,
  state: Verification,
  { projectId, repairs, onSlice }: VerifyOptions,
): Promise<void> {
  for (;;) {
    const { rows, next } = await someRows(to, state.row, projectId ?? null);
    for (const [id, segments] of rows) {
      // Before the first version is looked at: those that are made meanwhile come after it.
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

/** Segments after one of them, by project, about as many as are looked for at the same time. */
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

/** Leaves those segments that no version of the project has, nor the list by which a latest one is read. */
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
