/// <reference lib="dom" />
/** Uploads and downloads: a few at a time, with progress, each can be cancelled. */
import { signal } from "@preact/signals";
import { failureFrom, identity, retryAfterSeconds, urlOf } from "../api/client.ts";
import { isAbort, offline, reasonOf } from "../api/failure.ts";
import { fileUrlPath } from "../api/files.ts";
import { RATE_RETRIES_MAX, TRANSFERS_AT_ONCE } from "../limits.ts";
import { connectionLost, connectionWorks, waitForRate } from "./connection.ts";
import { saveAs } from "./save_as.ts";
import { renewSession } from "./session.ts";
import { noteWindow } from "./window.ts";

export interface Transfer {
  readonly id: number;
  readonly direction: "upload" | "download";
  readonly path: string;
  readonly state: "waiting" | "running" | "done" | "failed" | "cancelled";
  /** 0 to 1. */
  readonly progress: number;
  readonly problem?: string;
}

type Job = (transfer: Transfer, signal: AbortSignal) => Promise<void>;

export const transfers = signal<readonly Transfer[]>([]);
const queue: { readonly id: number; readonly job: Job }[] = [];
const aborts = new Map<number, AbortController>();
let running = 0;
let nextId = 1;

/** Counts batches of uploads that came to their end: what is listed has changed. */
export const uploadsSettled = signal(0);

export function upload(projectId: string, path: string, file: File): void {
  add("upload", path, async ({ id }, signal) => {
    await exchange({
      method: "POST",
      url: urlOf({ path: "/files", query: { path } }),
      projectId,
      body: file,
      signal,
      onProgress: (progress) => change(id, { progress }),
    });
  });
}

export function download(projectId: string, path: string, version: number): void {
  add("download", path, async ({ id }, signal) => {
    const bytes = await exchange({
      method: "GET",
      url: urlOf({ path: fileUrlPath(path), query: { version } }),
      projectId,
      body: null,
      signal,
      onProgress: (progress) => change(id, { progress }),
    });
    saveAs(bytes, path.split("/").at(-1) ?? path);
  });
}

export function cancel(id: number): void {
  aborts.get(id)?.abort();
  const index = queue.findIndex((entry) => entry.id === id);
  if (index >= 0) queue.splice(index, 1);
  change(id, { state: "cancelled" });
}

export function clearTransfers(): void {
  transfers.value = transfers.value.filter(({ state }) => state === "waiting" || state === "running");
}

export function cancelAll(): void {
  for (const { id, state } of transfers.value) if (state === "waiting" || state === "running") cancel(id);
  transfers.value = [];
}

function add(direction: Transfer["direction"], path: string, job: Job): void {
  const id = nextId++;
  transfers.value = [...transfers.value, { id, direction, path, state: "waiting", progress: 0 }];
  queue.push({ id, job });
  next();
}

function next(): void {
  if (running >= TRANSFERS_AT_ONCE) return;
  const entry = queue.shift();
  if (entry === undefined) return;
  running++;
  run(entry.id, entry.job).finally(() => {
    running--;
    aborts.delete(entry.id);
    if (running === 0 && queue.length === 0) uploadsSettled.value++;
    next();
  });
  next();
}

async function run(id: number, job: Job): Promise<void> {
  const transfer = transfers.value.find((one) => one.id === id);
  if (transfer === undefined) return;
  const abort = new AbortController();
  aborts.set(id, abort);
  change(id, { state: "running" });
  try {
    await job(transfer, abort.signal);
    change(id, { state: "done", progress: 1 });
  } catch (error) {
    if (isAbort(error)) change(id, { state: "cancelled" });
    else change(id, { state: "failed", problem: reasonOf(error) });
  }
}

function change(id: number, part: Partial<Transfer>): void {
  transfers.value = transfers.value.map((one) => one.id === id ? { ...one, ...part } : one);
}

interface Exchange {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly projectId: string;
  readonly body: File | null;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: number) => void;
}

/** One exchange, again after a 429's wait or with a renewed session. */
async function exchange(wish: Exchange): Promise<Blob> {
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
