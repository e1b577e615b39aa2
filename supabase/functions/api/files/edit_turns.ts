/**
 * Edits of one file take turns, since each replaces the version that it has read: in this isolate in memory, first come,
 * first served; and once an edit has met those of another isolate, among isolates through the database.
 */
import { EDIT_TURN_EDITS_MAX, SHARED_EDIT_TURN_MILLISECONDS, SHARED_EDIT_TURNS_MAX } from "../limits.ts";
import type { Deadline } from "../runtime/deadline.ts";
import { LruCache } from "../runtime/lru_cache.ts";
import { type EndTurn, Turns } from "../runtime/turns.ts";

interface Shared {
  /** This isolate, to the others that edit the file. */
  readonly holder: string;
  /** Milliseconds since the epoch: after that, nobody else is expected any more. */
  until: number;
  /** Edits since the database gave the turn to this isolate. */
  edits: number;
}

export class EditTurns {
  readonly #own = new Turns(1);
  readonly #shared = new LruCache<string, Shared>(SHARED_EDIT_TURNS_MAX);

  /** Takes a turn among the edits of this isolate. Throws 503 where that takes longer than the request may wait. */
  take(file: string, deadline: Deadline, signal: AbortSignal): Promise<EndTurn> {
    return this.#own.take(file, deadline, signal);
  }

  /** Whether an edit of this isolate has or awaits a turn. */
  isBusy(file: string): boolean {
    return this.#own.isBusy(file);
  }

  /** As whom the isolate asks the database for the turn; undefined where no other is known to edit the file. */
  holder(file: string, now: number): string | undefined {
    const shared = this.#shared.get(file);
    const isExpected = shared && (shared.until > now || shared.edits > 0);
    return isExpected ? shared.holder : undefined;
  }

  /** Others change the file, too: for a while, the database is asked for each turn. */
  meetOthers(file: string, now: number): void {
    const shared = this.#shared.get(file) ?? { holder: crypto.randomUUID(), until: 0, edits: 0 };
    shared.until = now + SHARED_EDIT_TURN_MILLISECONDS;
    this.#shared.set(file, shared);
  }

  /** After an edit in a turn of the database: whether this isolate hands it on to the next one. */
  isOver(file: string): boolean {
    const shared = this.#shared.get(file);
    if (!shared) return true;
    const isOver = ++shared.edits >= EDIT_TURN_EDITS_MAX || !this.#own.isAwaited(file);
    if (isOver) shared.edits = 0;
    return isOver;
  }
}
