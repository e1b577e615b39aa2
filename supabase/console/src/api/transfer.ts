/// <reference lib="dom" />
/** One upload or download, with progress: session, lost connection and rate as for any request. */
import { RATE_RETRIES_MAX } from "../limits.ts";
import { connectionLost, connectionWorks, waitForRate } from "../session/connection.ts";
import { renewSession } from "../session/session.ts";
import { noteWindow } from "../session/rate_window.ts";
import { failureFrom, identity, retryAfterSeconds } from "./client.ts";
import { offline } from "./failure.ts";

export interface Exchange {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly projectId: string;
  readonly body: File | null;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: number) => void;
}

/** One exchange, again after a 429's wait or with a renewed session. */
export async function exchange(wish: Exchange): Promise<Blob> {
  let renewed = false;
  for (let waits = 0;;) {
    const request = await once(wish, await identity(wish.projectId));
    if (request.status >= 200 && request.status < 300) return request.response;
    const retryAfter = request.getResponseHeader("retry-after");
    if (request.status === 429 && waits++ < RATE_RETRIES_MAX) {
      await waitForRate(retryAfterSeconds(retryAfter), wish.signal);
    } else if (request.status === 401 && !renewed && await renewSession()) renewed = true;
    else {
      const id = request.getResponseHeader("x-request-id");
      throw failureFrom(request.status, await request.response.text(), id);
    }
  }
}

/** XMLHttpRequest, because fetch tells no progress of an upload. */
function once(wish: Exchange, headers: Record<string, string>): Promise<XMLHttpRequest & { response: Blob }> {
  const request = new XMLHttpRequest();
  request.open(wish.method, wish.url);
  request.responseType = "blob";
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  if (wish.body === null) request.setRequestHeader("accept", "application/octet-stream");
  else request.setRequestHeader("idempotency-key", crypto.randomUUID());
  const progress = (event: ProgressEvent) => {
    if (event.lengthComputable) wish.onProgress(event.loaded / event.total);
  };
  (wish.body === null ? request : request.upload).addEventListener("progress", progress);
  return new Promise((resolve, reject) => {
    wish.signal.addEventListener("abort", () => {
      request.abort();
      reject(new DOMException("cancelled", "AbortError"));
    });
    request.addEventListener("load", () => {
      connectionWorks();
      noteWindow(wish.projectId, headersOf(request));
      resolve(request);
    });
    request.addEventListener("error", () => {
      connectionLost();
      reject(wish.body === null ? offline() : uploadBroke());
    });
    request.send(wish.body);
  });
}

function uploadBroke(): Error {
  return new Error("The file could not be read or the connection broke.");
}

function headersOf(request: XMLHttpRequest): Headers {
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().trim().split(/\r?\n/)) {
    const [name = "", ...rest] = line.split(": ");
    if (name !== "") headers.append(name, rest.join(": "));
  }
  return headers;
}
