/** A deployed service, of which only the address and keys are known. */
import { setTimeout } from "node:timers/promises";
import { type Api, type RequestOptions, sentOf } from "../support/client/api.ts";
import { type Answer, assertInvariants, health } from "../support/client/contract.ts";
import { send } from "../support/client/http.ts";
import { inParallel } from "../support/in_parallel.ts";
import type { FolderFiles } from "./folder_files.ts";

/** A request without an answer by then is aborted, and its case fails. */
const REQUEST_TIMEOUT_MILLISECONDS = 120_000;
/** The number of files removed at the same time. */
const REMOVED_AT_ONCE = 4;
const PAGE_LIMIT_MAX = 100;

export interface DeploymentOptions {
  /** Ends with `/functions/v1/api`, without a trailing slash. */
  readonly baseUrl: string;
  /** If aborted, requests under way are aborted, too. */
  readonly signal: AbortSignal;
  /** Called with the seconds to wait before the next request. */
  readonly onWait: (seconds: number) => void;
}

export class Deployment implements Api {
  readonly #options: DeploymentOptions;
  /** Milliseconds by which the service's clock is ahead of ours. */
  #clockAheadMilliseconds = 0;
  #requestCount = 0;

  constructor(options: DeploymentOptions) {
    this.#options = options;
  }

  get requestCount(): number {
    return this.#requestCount;
  }

  /** Throws unless an instance of this service answers at the address. */
  async connect(): Promise<{ readonly version: string }> {
    const sentAt = Date.now();
    const answer = await this.#send(null, "GET", "/health");
    const record = health.safeParse(answer.body);
    if (!record.success) {
      throw new Error(`${this.#options.baseUrl} is not this service (status ${answer.status}).`);
    }
    const { timestamp, version } = record.data;
    this.#clockAheadMilliseconds = Date.parse(timestamp) - (sentAt + Date.now()) / 2;
    return { version };
  }

  async passesHead(): Promise<boolean> {
    return (await this.#send(null, "HEAD", "/health")).status === 200;
  }

  /** Throws if the service does not accept the key. */
  async ensureKey(key: string): Promise<void> {
    const { status } = await this.request(key, "GET", "/files", { query: { limit: 1 } });
    if (status !== 200) throw new Error(`The service does not take this key (status ${status}).`);
  }

  async request(
    key: string | null,
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<Answer> {
    const { body } = options;
    const bytes = body instanceof ReadableStream ? await new Response(body).bytes() : null;
    for (;;) {
      // A stream was read into bytes above; each try sends them as a new stream.
      const again = bytes === null ? options : { ...options, body: new Blob([bytes]).stream() };
      const sentAt = Date.now();
      const answer = await this.#send(key, method, path, again);
      const clockAheadMilliseconds = this.#clockAheadMilliseconds;
      assertInvariants(answer, { sentAt, isWindowFrozen: false, clockAheadMilliseconds });
      if (answer.status !== 429) return answer;
      // The window is used up, or the address had too many failed authentications.
      const seconds = Number(answer.headers.get("retry-after") ?? 1);
      this.#options.onWait(seconds);
      await setTimeout(seconds * 1000, undefined, { signal: this.#options.signal });
    }
  }

  #send(key: string | null, method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    this.#requestCount++;
    const { baseUrl, signal } = this.#options;
    const ended = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MILLISECONDS)]);
    return send({ ...sentOf(baseUrl, key, method, path, options), signal: ended });
  }
}

/** The contents of these folders: each file with its version, and each deleted file. */
export async function stateOf(folders: readonly FolderFiles[]): Promise<unknown> {
  const states = [];
  for (const own of folders) {
    for (const deleted of [false, true]) {
      for (let offset = 0, hasMore = true; hasMore; offset += PAGE_LIMIT_MAX) {
        const page = await own.list({ recursive: true, deleted, limit: PAGE_LIMIT_MAX, offset });
        states.push(page.files);
        hasMore = page.hasMore;
      }
    }
  }
  return states;
}

/** Deletes all files of the folder. Returns their number. */
export async function removeAll(own: FolderFiles): Promise<number> {
  let removed = 0;
  for (;;) {
    const { files } = await own.list({ recursive: true, limit: PAGE_LIMIT_MAX });
    if (files.length === 0) return removed;
    await inParallel(files, REMOVED_AT_ONCE, ({ path }) => own.remove(path));
    removed += files.length;
  }
}
