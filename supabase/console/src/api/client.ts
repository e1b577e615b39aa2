/**
 * Sends one request to the service. Handles the session, the envelope, a lost connection, and retries after a 429 or 503.
 */
import * as z from "zod/mini";
import { config } from "../config.ts";
import { RATE_RETRIES_MAX, RETRY_AFTER_SECONDS_DEFAULT, UNAVAILABLE_RETRIES_MAX } from "../limits.ts";
import { sleep } from "../sleep.ts";
import { connectionLost, connectionRestored, waitForRate } from "../session/connection.ts";
import { accessToken, renewSession } from "../session/session.ts";
import { updateRateWindow } from "../session/rate_window.ts";
import { ApiFailure, offline } from "./failure.ts";

export interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the URL of the function, with encoded segments: `/files/a%20b/c`. */
  readonly path: string;
  readonly projectId?: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** False: the caller retries, and no wait is announced. By default, the call is retried after a 429 or 503. */
  readonly isRepeated?: boolean;
}

const failureSchema = z.object({
  error: z.object({ code: z.string(), message: z.string() }),
  details: z.optional(z.unknown()),
});

/**
 * Returns the `data` of the response's envelope. Only the envelope is checked here; the service's tests compare the records
 * with the contract. Throws `ApiFailure`.
 */
export async function call<Data extends object>(request: Call): Promise<Data> {
  const response = await send(request);
  const data = z.custom<Data>((value) => typeof value === "object" && value !== null);
  const envelope = z.object({ success: z.literal(true), data }).safeParse(
    parseJson(await response.text().catch(() => "")),
  );
  if (!envelope.success) throw unexpected(response.status, response.headers.get("x-request-id"));
  return envelope.data.data;
}

/** Returns the response of a successful request. Throws `ApiFailure`. */
export async function send(request: Call): Promise<Response> {
  let sessionRenewed = false;
  let waits = 0;
  for (;;) {
    const response = await attempt(request);
    if (response.ok) return response;
    const failure = await readFailure(response);
    if (response.status === 401 && !sessionRenewed) {
      sessionRenewed = true;
      if (await renewSession()) continue;
    } else if (request.isRepeated === false) {
      throw failure;
    } else if (response.status === 429 && waits++ < RATE_RETRIES_MAX) {
      await waitForRate(retryAfterSeconds(response.headers.get("retry-after")), request.signal);
      continue;
    } else if (mayRepeat(request, response) && waits++ < UNAVAILABLE_RETRIES_MAX) {
      await sleep(retryAfterSeconds(response.headers.get("retry-after")) * 1000, request.signal);
      continue;
    }
    throw failure;
  }
}

export function buildUrl({ path, query = {} }: Pick<Call, "path" | "query">): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  // `?metadata` and `?versions` take no value, not even an equals sign.
  const text = parameters.toString().replace(/\b(metadata|versions)=(?=&|$)/g, "$1");
  return `${config().functionUrl}${path}${text === "" ? "" : `?${text}`}`;
}

/** Returns the headers that identify the account and the project. */
export async function authHeaders(projectId: string | undefined): Promise<Record<string, string>> {
  const token = await accessToken();
  return {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(projectId === undefined ? {} : { "x-project-id": projectId }),
  };
}

export function retryAfterSeconds(header: string | null): number {
  const seconds = Number(header ?? NaN);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : RETRY_AFTER_SECONDS_DEFAULT;
}

/** Parses the body of an error response; a body without an envelope is an UNEXPECTED_ANSWER. */
export function parseFailure(status: number, text: string, requestId: string | null): ApiFailure {
  const failure = failureSchema.safeParse(parseJson(text)).data;
  if (failure === undefined) return unexpected(status, requestId);
  const { error, details } = failure;
  return new ApiFailure(error.code, error.message, status, details, requestId);
}

function unexpected(status: number, requestId: string | null): ApiFailure {
  const message = `The service returned an unexpected response (status ${status}).`;
  return new ApiFailure("UNEXPECTED_ANSWER", message, status, undefined, requestId);
}

async function attempt(request: Call): Promise<Response> {
  const { method = "GET", body, projectId, signal } = request;
  const headers: Record<string, string> = { ...await authHeaders(projectId), ...request.headers };
  if (body !== undefined) headers["content-type"] = "application/json";
  try {
    const response = await fetch(buildUrl(request), {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
      // The service decides by version whether an answer is fresh; the browser's cache could return an outdated file.
      cache: "no-store",
    });
    connectionRestored();
    if (projectId !== undefined && isCounted(request)) updateRateWindow(projectId, response.headers);
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    connectionLost();
    throw offline();
  }
}

/** Returns whether the response's headers show the project's rate window. Account routes have a different window. */
function isCounted({ path }: Call): boolean {
  return !path.startsWith("/project");
}

/** Only reads are retried, because a failed write may have been committed. */
function mayRepeat({ method = "GET" }: Call, response: Response): boolean {
  return method === "GET" && response.status === 503;
}

async function readFailure(response: Response): Promise<ApiFailure> {
  const text = await response.text().catch(() => "");
  return parseFailure(response.status, text, response.headers.get("x-request-id"));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
