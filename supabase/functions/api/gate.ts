/**
 * One request's way to the database: who asks, whether the request was counted, what its window looks like.
 * The order of checks is the contract's: address limit, key, project limit, and only then the request itself.
 */
import type { AddressWindows } from "./domain/address_windows.ts";
import { hashApiKey, isWellFormedApiKey } from "./domain/api_key.ts";
import type { KeyMemory } from "./domain/key_memory.ts";
import { ApiError, type ErrorCode, fail } from "./errors.ts";
import type { Admission, Answer, Caller, Grant, Metadata, Refusal } from "./ports.ts";
import { type RateView, secondsUntil } from "./respond.ts";

/** The messages of the database's refusals. */
const REFUSALS: Record<Exclude<Refusal["code"], "ROPE_FULL">, string> = {
  INVALID_API_KEY: "The API key is missing or not valid.",
  RATE_LIMIT_EXCEEDED:
    "Too many requests in this minute. Nothing was done; try again when the window resets.",
  FILE_NOT_FOUND: "There is no file at this path.",
  VERSION_NOT_FOUND: "The file has no such version.",
  VERSION_CONFLICT: "The file kept changing while it was edited. Nothing was written; read it again.",
  VERSION_DELETED: "This version is a tombstone; there is nothing to restore.",
  PRECONDITION_FAILED: "The file is not at the version that the precondition names. Nothing was done.",
  FILE_ALREADY_EXISTS: "There is a file at this path already.",
  IDEMPOTENCY_KEY_REUSED: "This Idempotency-Key was used for another request.",
  IDEMPOTENCY_KEY_IN_USE: "A request with this Idempotency-Key is still running. Try again shortly.",
  CONTENT_TOO_LARGE: "The file would be larger than the project's tier allows.",
  QUOTA_EXCEEDED: "The project's storage quota does not leave room for this.",
};

export interface GateParts {
  readonly metadata: Metadata;
  readonly keys: KeyMemory;
  readonly addresses: AddressWindows;
  readonly now: () => number;
}

export class Gate {
  private keyHash: string | undefined;
  private counted = false;
  private answered = false;
  private granted: Grant | undefined;
  private window: RateView | undefined;

  constructor(private readonly parts: GateParts, private readonly address: string) {}

  /** What the rate headers show now. */
  get rate(): RateView {
    return this.window ?? this.parts.addresses.view(this.address, this.parts.now());
  }

  /** The project and tier of the key, once the database has said so: in this request, or lately in this isolate. */
  get grant(): Grant | undefined {
    if (this.granted) return this.granted;
    return this.keyHash === undefined ? undefined : this.parts.keys.grant(this.keyHash, this.parts.now());
  }

  /** Whether this request was admitted by the database, not only by memory. */
  get isAdmitted(): boolean {
    return this.granted !== undefined;
  }

  /**
   * Checks the key as far as that goes without the database. Throws 401, or 429 for an address that failed too
   * often or a project whose window is known to be used up.
   */
  async identify(headers: Headers): Promise<void> {
    const key = headers.get("x-api-key") ?? headers.get("authorization")?.match(/^Bearer +(.*)$/i)?.[1] ?? "";
    if (!isWellFormedApiKey(key)) this.refuseKey();
    const keyHash = await hashApiKey(key);
    if (this.parts.keys.isRefused(keyHash, this.parts.now())) this.refuseKey();
    this.keyHash = keyHash;
    const exhausted = this.parts.keys.exhausted(keyHash, this.parts.now());
    if (exhausted) {
      this.window = exhausted;
      this.refuseRate(exhausted.reset);
    }
  }

  /** The caller of the next back-end call. */
  get caller(): Caller {
    if (this.keyHash === undefined) throw new Error("the request was not identified");
    return { keyHash: this.keyHash, counted: this.counted };
  }

  /** Asks the database for admission, which counts the request. */
  async admit(path?: string): Promise<Admission> {
    return this.take(await this.parts.metadata.admit(this.caller, path));
  }

  /**
   * Runs a check of the request's own data. What it throws comes after the key and the window in the order of
   * checks, so the database is asked for those first, unless it was.
   */
  async check<T>(check: () => T | Promise<T>): Promise<T> {
    try {
      return await check();
    } catch (error) {
      if (error instanceof ApiError && error.status < 500 && !this.answered) await this.admit();
      throw error;
    }
  }

  /** Takes note of an answer without looking at its value. */
  note<T>(answer: Answer<T>): Answer<T> {
    this.answered = true;
    if (answer.rate) this.window = answer.rate;
    const isKnown = answer.grant !== null || (!answer.ok && answer.refusal.code === "INVALID_API_KEY");
    if (isKnown) this.parts.keys.remember(this.caller.keyHash, answer.grant, answer.rate, this.parts.now());
    if (answer.grant) {
      this.counted = true;
      this.granted = answer.grant;
    }
    return answer;
  }

  /** The value of an answer; its refusal is thrown. */
  take<T>(answer: Answer<T>): T {
    this.note(answer);
    return answer.ok ? answer.value : this.refuse(answer.refusal);
  }

  /** Throws the refusal as the contract has it; `otherStatus` for the one code that has two. */
  refuse(refusal: Refusal, otherStatus?: number): never {
    if (refusal.code === "INVALID_API_KEY") this.refuseKey();
    if (refusal.code === "RATE_LIMIT_EXCEEDED") this.refuseRate(this.rate.reset);
    if (refusal.code === "ROPE_FULL") throw new Error("a full rope was not merged");
    const code: ErrorCode = refusal.code;
    const details = Object.keys(refusal.details).length > 0 ? refusal.details : undefined;
    const headers = code === "IDEMPOTENCY_KEY_IN_USE" ? { "Retry-After": "1" } : undefined;
    throw new ApiError(code, REFUSALS[refusal.code], details, headers, otherStatus);
  }

  /** 401, one and the same for every kind of bad key; 429 once the address has failed too often. */
  private refuseKey(): never {
    this.window = undefined;
    const now = this.parts.now();
    if (!this.parts.addresses.spend(this.address, now)) this.refuseRate(this.rate.reset);
    fail("INVALID_API_KEY", REFUSALS.INVALID_API_KEY);
  }

  private refuseRate(reset: number): never {
    const seconds = Math.max(1, secondsUntil(reset, this.parts.now()));
    fail("RATE_LIMIT_EXCEEDED", REFUSALS.RATE_LIMIT_EXCEEDED, undefined, { "Retry-After": String(seconds) });
  }
}
