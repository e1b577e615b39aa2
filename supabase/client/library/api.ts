/**
 * The service's API over `fetch`: waits as told, and repeats requests whose answers were lost. It uses nothing of Node,
 * so it works in browsers, too.
 */
import { Failure } from "../failure.ts";
import {
  IDLE_TIMEOUT_MILLISECONDS,
  PAUSE_FIRST_MILLISECONDS,
  PAUSE_MAX_MILLISECONDS,
  PAUSE_UNREACHED_MILLISECONDS,
  TRIES_MAX,
  TRIES_UNREACHED_MAX,
} from "../limits.ts";
import { dataOf, type Obstacle, refusalOf } from "./answer.ts";
import { FilestoreError, messageOf } from "./errors.ts";
import { type Call, type Connection, fetchOnce, type Request, requestOf } from "./request.ts";

export { type Call, type Connection, fileAddress, type Query } from "./request.ts";

/** How Node, Deno and Bun say that nothing listens at an address, or that there is no such address. */
const UNREACHED =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT|refused|dns error|lookup address|\(Connect\)|unable to connect|bad port|are blocked|certificate/i;

/** The outcome of one try. */
type Tried<T> = { readonly value: T } | Obstacle;

export class Api {
  readonly baseUrl: string;
  /** Whether anything has answered at this address. */
  #isReached = false;

  constructor(readonly connection: Connection) {
    const { url } = connection;
    if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
      throw new FilestoreError(
        "VALIDATION_ERROR",
        `The address must begin with http:// or https://, not ${url}`,
      );
    }
    this.baseUrl = url.replace(/\/+$/, "");
  }

  /** The `data` of the answer, as the contract describes it. Throws `FilestoreError`. */
  async data<T>(path: string, call: Call = {}): Promise<T> {
    return await this.send(
      path,
      call,
      async (response) => dataOf<T>(await response.text(), response.status, this.baseUrl),
    );
  }

  /**
   * Sends the request until it has an answer, and returns the result of `read`. If `read` throws anything but a
   * `FilestoreError` or a `Failure`, the answer did not arrive completely, and the request is sent again: a write under
   * the same idempotency key.
   */
  async send<T>(path: string, call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    const request = requestOf(this.baseUrl, this.connection, path, call);
    let pause = PAUSE_FIRST_MILLISECONDS;
    for (let tries = 1;; tries++) {
      const tried = await this.#try(request, call, read);
      if ("value" in tried) return tried.value;
      // A rate window always ends, so waiting for it does not count as a failed try.
      const isLimit = tried.code === "RATE_LIMIT_EXCEEDED";
      if (isLimit) tries--;
      if (tried.code === "UNREACHED") {
        if (tries >= TRIES_UNREACHED_MAX) throw tried.error;
        await this.#sleep(PAUSE_UNREACHED_MILLISECONDS);
        continue;
      }
      if (tries >= TRIES_MAX) throw tried.error;
      await this.#sleep(tried.pauseMilliseconds ?? pause);
      if (!isLimit) pause = Math.min(2 * pause, PAUSE_MAX_MILLISECONDS);
    }
  }

  async #try<T>(
    request: Request,
    call: Call,
    read: (response: Response) => Promise<T>,
  ): Promise<Tried<T>> {
    const { signal } = this.connection;
    const giveUp = new AbortController();
    const abort = () => giveUp.abort();
    let timer = setTimeout(abort, IDLE_TIMEOUT_MILLISECONDS);
    const moved = () => {
      clearTimeout(timer);
      timer = setTimeout(abort, IDLE_TIMEOUT_MILLISECONDS);
    };
    if (signal?.aborted) throw aborted();
    signal?.addEventListener("abort", abort);
    try {
      const response = await fetchOnce(request, giveUp.signal, moved);
      this.#isReached = true;
      if (response.ok) return { value: await read(response) };
      const refusal = refusalOf(response, await response.text(), this.baseUrl);
      if (!(refusal instanceof FilestoreError)) return refusal;
      if (refusal.code !== call.repeatsAfter) throw refusal;
      return { code: refusal.code, error: refusal };
    } catch (error) {
      if (error instanceof FilestoreError || error instanceof Failure) throw error;
      if (signal?.aborted) throw aborted();
      return this.#lost(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  #lost(error: unknown): Obstacle {
    const message = messageOf(error);
    const isUnreached = !this.#isReached && UNREACHED.test(`${message} ${codeOf(error)}`);
    return {
      code: isUnreached ? "UNREACHED" : "NETWORK_ERROR",
      error: new FilestoreError(
        "NETWORK_ERROR",
        `${this.baseUrl} gave no answer (${message}). Check the address and the network.`,
      ),
    };
  }

  async #sleep(milliseconds: number): Promise<void> {
    const { signal } = this.connection;
    if (signal?.aborted) throw aborted();
    await new Promise<void>((resolve, reject) => {
      const abort = () => {
        clearTimeout(timer);
        reject(aborted());
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", abort);
        resolve();
      }, milliseconds);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }
}

function aborted(): FilestoreError {
  return new FilestoreError("ABORTED", "The request was aborted.");
}

/** The machine-readable code of a thrown value or its cause, as Node gives it. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error) return String(error.code);
  return codeOf(error.cause);
}
