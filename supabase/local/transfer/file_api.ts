/** The public API of a project, for commands that transfer many files: waits for rate limits and retries transient faults. */
import { z } from "zod";
import {
  TRANSFER_IDLE_TIMEOUT_MILLISECONDS,
  TRANSFER_PAUSE_FIRST_MILLISECONDS,
  TRANSFER_PAUSE_MAX_MILLISECONDS,
  TRANSFER_RETRY_AFTER_SECONDS_MAX,
  TRANSFER_TRIES_MAX,
} from "../limits.ts";
import { messageOf, StartupError } from "../startup_error.ts";

/** A refusal of the service, with its code, such as FORBIDDEN_SCOPE. */
export class Refusal extends StartupError {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }
}

const failure = z.object({
  error: z.object({ code: z.string(), message: z.string() }),
  details: z.record(z.string(), z.unknown()).default({}),
});

export interface Call {
  readonly method?: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Opens the body; called for each try. */
  readonly body?: () => Promise<ReadableStream<Uint8Array>>;
}

/** The outcome of one try: a value, or the reason and the pause for another try. */
type Tried<T> = { readonly value: T } | { readonly reason: string; readonly pauseMilliseconds?: number };

export class FileApi {
  constructor(readonly baseUrl: string, private readonly key: string) {}

  /** The `data` of the answer. Throws `Refusal`, or `StartupError` if the service stays unreachable. */
  async data<T>(path: string, shape: z.ZodType<T>, call: Call = {}): Promise<T> {
    const text = await this.send(path, call, (response) => response.text());
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    const answer = z.object({ data: shape }).safeParse(json);
    if (answer.success) return answer.data.data;
    throw new StartupError(
      `${this.baseUrl} answered ${path} with an unknown result; check that it is the address of this service.`,
    );
  }

  /**
   * Sends the request until it has an answer, and returns the result of `read`. If `read` throws, the answer did not
   * arrive completely, and the request is sent again.
   */
  async send<T>(path: string, call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    let pause = TRANSFER_PAUSE_FIRST_MILLISECONDS;
    for (let tries = 1;; tries++) {
      const tried = await this.#try(path, call, read);
      if ("value" in tried) return tried.value;
      // A rate window always ends, so waiting for it does not count as a failed try.
      const isLimit = tried.reason === "RATE_LIMIT_EXCEEDED";
      if (isLimit) tries--;
      if (tries >= TRANSFER_TRIES_MAX) throw new StartupError(`${this.baseUrl}: ${tried.reason}.`);
      await new Promise((resolve) => setTimeout(resolve, tried.pauseMilliseconds ?? pause));
      if (!isLimit) pause = Math.min(2 * pause, TRANSFER_PAUSE_MAX_MILLISECONDS);
    }
  }

  async #try<T>(path: string, call: Call, read: (response: Response) => Promise<T>): Promise<Tried<T>> {
    const giveUp = new AbortController();
    let timer = setTimeout(() => giveUp.abort(), TRANSFER_IDLE_TIMEOUT_MILLISECONDS);
    const moved = () => {
      clearTimeout(timer);
      timer = setTimeout(() => giveUp.abort(), TRANSFER_IDLE_TIMEOUT_MILLISECONDS);
    };
    try {
      const response = await this.#fetch(path, call, giveUp.signal, moved);
      if (response.ok) return { value: await read(watched(response, moved)) };
      return this.#refused(response, await response.text());
    } catch (error) {
      if (error instanceof StartupError) throw error;
      return { reason: `the connection failed (${messageOf(error).split("\n")[0]})` };
    } finally {
      clearTimeout(timer);
    }
  }

  async #fetch(
    path: string,
    { method = "GET", query = {}, headers = {}, body }: Call,
    signal: AbortSignal,
    moved: () => void,
  ) {
    const url = new URL(this.baseUrl + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const content = body && (await body()).pipeThrough(watch(moved));
    return await fetch(url, {
      method,
      headers: { "x-api-key": this.key, ...headers },
      signal,
      ...content && { body: content },
    });
  }

  /** The reason and pause for another try after an error status. Throws if another try would fail, too. */
  #refused(response: Response, text: string): { reason: string; pauseMilliseconds?: number } {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    const refusal = failure.safeParse(json);
    const code = refusal.success ? refusal.data.error.code : `status ${response.status}`;
    const after = Number(response.headers.get("retry-after")) || 0;
    const mayPass = response.status === 429 || response.status >= 500 && code !== "CONTENT_CORRUPT" ||
      code === "IDEMPOTENCY_KEY_IN_USE" || code === "VERSION_CONFLICT";
    if (mayPass) {
      if (after === 0) return { reason: code };
      return { reason: code, pauseMilliseconds: 1000 * Math.min(after, TRANSFER_RETRY_AFTER_SECONDS_MAX) };
    }
    if (refusal.success) {
      const { error, details } = refusal.data;
      throw new Refusal(response.status, error.code, `${error.code}: ${error.message}`, details);
    }
    throw new StartupError(
      `${this.baseUrl} answered with ${code}; check that it is the address of this service.`,
    );
  }
}

/** The address of a file below `/files`. */
export function fileAddress(path: string, route = "/files"): string {
  return `${route}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

function watch(moved: () => void): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      moved();
      controller.enqueue(chunk);
    },
  });
}

function watched(response: Response, moved: () => void): Response {
  return new Response(response.body && response.body.pipeThrough(watch(moved)), response);
}
