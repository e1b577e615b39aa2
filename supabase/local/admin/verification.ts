/**
 * Whether every version has its bytes: what the database says that versions need is looked for in Storage, page by page;
 * and what Storage has of days that the sweep has done is looked for in the database.
 */
import { z } from "zod";
import { segmentName } from "../../functions/api/ports/segment_name.ts";
import {
  VERIFY_LIST_OBJECTS,
  VERIFY_OBJECTS_AT_ONCE,
  VERIFY_SEGMENTS_REMEMBERED_MAX,
  VERIFY_VERSIONS_SHOWN_MAX,
} from "../limits.ts";
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
  const objects = to.objects;
  for (const day of await objects.days(projectId)) {
    if (day <= (state.day ?? "") || day > through) continue;
    for (let offset = 0;;) {
      const names = await objects.list(projectId, day, offset);
      const ids = names.filter((name) => UUID.test(name));
      const unneeded = ids.length === 0 ? [] : await to.unreferenced(projectId, ids);
      state.unneeded += unneeded.length;
      if (repairs) {
        await objects.remove(unneeded.map((id) => segmentName(projectId, new Date(day), id)));
        state.removed += unneeded.length;
      }
      if (names.length < VERIFY_LIST_OBJECTS) break;
      offset += names.length - (repairs ? unneeded.length : 0);
    }
    state.day = day;
    await onSlice(state);
  }
}
