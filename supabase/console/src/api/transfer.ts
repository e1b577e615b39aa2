/** Sends one upload or download with progress; session, lost connection and rate limit are handled as in `client.ts`. */
import { RATE_RETRIES_MAX } from "../limits.ts";
import { connectionLost, connectionRestored, waitForRate } from "../session/connection.ts";
import { renewSession } from "../session/session.ts";
import { updateRateWindow } from "../session/rate_window.ts";
import { authHeaders, parseFailure, retryAfterSeconds } from "./client.ts";
import { offline } from "./failure.ts";

interface TransferRequest {
  readonly url: string;
  readonly projectId: string;
  /** The file to upload; null for a download. */
  readonly body: File | null;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: number) => void;
}

/** Retries after a 429, and once with a renewed session after a 401. Throws `ApiFailure`. */
export async function sendTransfer(request: TransferRequest): Promise<Blob> {
  let renewed = false;
  for (let waits = 0;;) {
    const xhr = await once(request, await authHeaders(request.projectId));
    if (xhr.status >= 200 && xhr.status < 300) return xhr.response;
    const retryAfter = xhr.getResponseHeader("retry-after");
    if (xhr.status === 429 && waits++ < RATE_RETRIES_MAX) {
      await waitForRate(retryAfterSeconds(retryAfter), request.signal);
    } else if (xhr.status === 401 && !renewed && await renewSession()) renewed = true;
    else {
      const id = xhr.getResponseHeader("x-request-id");
      throw parseFailure(xhr.status, await xhr.response.text(), id);
    }
  }
}

/** Uses XMLHttpRequest because fetch does not report upload progress. */
function once(
  request: TransferRequest,
  headers: Record<string, string>,
): Promise<XMLHttpRequest & { response: Blob }> {
  const xhr = new XMLHttpRequest();
  xhr.open(request.body === null ? "GET" : "POST", request.url);
  xhr.responseType = "blob";
  for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
  if (request.body === null) xhr.setRequestHeader("accept", "application/octet-stream");
  else xhr.setRequestHeader("idempotency-key", crypto.randomUUID());
  const progress = (event: ProgressEvent) => {
    if (event.lengthComputable) request.onProgress(event.loaded / event.total);
  };
  (request.body === null ? xhr : xhr.upload).addEventListener("progress", progress);
  return new Promise((resolve, reject) => {
    request.signal.addEventListener("abort", () => {
      xhr.abort();
      reject(new DOMException("cancelled", "AbortError"));
    });
    xhr.addEventListener("load", () => {
      connectionRestored();
      updateRateWindow(request.projectId, parseHeaders(xhr));
      resolve(xhr);
    });
    xhr.addEventListener("error", () => {
      connectionLost();
      reject(request.body === null ? offline() : uploadBroke());
    });
    xhr.send(request.body);
  });
}

function uploadBroke(): Error {
  return new Error("The file could not be read, or the connection was lost.");
}

function parseHeaders(xhr: XMLHttpRequest): Headers {
  const headers = new Headers();
  for (const line of xhr.getAllResponseHeaders().trim().split(/\r?\n/)) {
    const [name = "", ...rest] = line.split(": ");
    if (name !== "") headers.append(name, rest.join(": "));
  }
  return headers;
}
