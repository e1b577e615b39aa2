/** Uploads and downloads: `TRANSFERS_AT_ONCE` at a time, with progress; each can be cancelled. */
import { signal } from "@preact/signals";
import { buildUrl } from "../api/client.ts";
import { sendTransfer } from "../api/transfer.ts";
import { isAbort, reasonOf } from "../api/failure.ts";
import { type FileAt, fileUrlPath } from "../api/files.ts";
import { nameOf } from "../format.ts";
import { TRANSFERS_AT_ONCE, UPLOADS_PER_RELOAD } from "../limits.ts";
import { announceChange } from "./changes.ts";
import { endUndo } from "./notices.ts";

export interface Transfer {
  readonly id: number;
  readonly direction: "upload" | "download";
  readonly path: string;
  readonly state: "waiting" | "running" | "done" | "failed" | "cancelled";
  /** From 0 to 1. */
  readonly progress: number;
  readonly problem?: string;
}

type Job = (transfer: Transfer, signal: AbortSignal) => Promise<void>;

export const transfers = signal<readonly Transfer[]>([]);
const queue: { readonly id: number; readonly job: Job }[] = [];
const aborts = new Map<number, AbortController>();
let running = 0;
let nextId = 1;

/** Number of finished batches of uploads. */
export const uploadsSettled = signal(0);
/** Uploads of the running batch that have ended. */
let batchCount = 0;

export function upload(projectId: string, path: string, file: File): void {
  add("upload", path, async ({ id }, signal) => {
    const url = buildUrl({ path: "/files", query: { path } });
    const onProgress = (progress: number) => change(id, { progress });
    await sendTransfer({ url, projectId, body: file, signal, onProgress });
    endUndo({ projectId, path });
    if (isReloadDue(++batchCount)) announceChange({});
  });
}

/** The list is reloaded often for the first files and rarely for later ones, so that a large batch costs few reloads. */
function isReloadDue(count: number): boolean {
  return count % UPLOADS_PER_RELOAD === 0 || (count < UPLOADS_PER_RELOAD && Math.log2(count) % 1 === 0);
}

function settle(): void {
  if (running > 0 || queue.length > 0 || batchCount === 0) return;
  batchCount = 0;
  uploadsSettled.value++;
  announceChange({});
}

/** Whether a batch of uploads is running. */
export function isUploading(): boolean {
  return batchCount > 0;
}

export function download({ projectId, path }: FileAt, version: number): void {
  const url = buildUrl({ path: fileUrlPath(path), query: { version } });
  downloadMade(
    path,
    (onProgress, signal) => sendTransfer({ url, projectId, body: null, signal, onProgress }),
  );
}

/** Starts a download whose content `make` creates. It reports its progress from 0 to 1. */
export function downloadMade(
  path: string,
  make: (onProgress: (progress: number) => void, signal: AbortSignal) => Promise<Blob>,
): void {
  add("download", path, async ({ id }, signal) => {
    const bytes = await make((progress) => change(id, { progress }), signal);
    // It may have been cancelled while the last bytes arrived.
    signal.throwIfAborted();
    saveAs(bytes, nameOf(path));
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
    next();
    settle();
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

/** Saves bytes as a download of the browser. */
function saveAs(bytes: Blob, name: string): void {
  // With any other type the browser might open the file instead of saving it.
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
