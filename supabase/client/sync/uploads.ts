/**
 * Sends what has changed on the disk: small files and deletions in batches, large files one by one. Each is conditional on the
 * version that was known, so nothing that others have written meanwhile is overwritten.
 */
import type { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { BATCH_OPERATIONS_MAX, SYNC_BATCH_BYTES, SYNC_SMALL_BYTES } from "../limits.ts";
import { fileAddress } from "../library/api.ts";
import { FilestoreError } from "../library/errors.ts";
import type { Content, Operation } from "../library/options.ts";
import type { FileRecord } from "../library/records.ts";
import { write } from "../library/write.ts";
import { fileStream } from "../transfer/file_stream.ts";
import type { Local, LocalFolder } from "./local_folder.ts";
import type { Remote } from "./plan.ts";
import type { RemoteFolder } from "./remote.ts";
import type { State } from "./state.ts";

/** What is sent for a path: its content on the disk, or with `local` null its deletion. */
export interface Upload {
  readonly path: string;
  readonly local: Local | null;
  /** What the service must have. */
  readonly remote: Remote | null;
}

/** What became of an upload; `again`: the service has another version by now. */
export type Sent = { readonly version: number } | "again" | { readonly refused: string };

/** Others were faster: compare once more. */
const OVERTAKEN = [
  ...["PRECONDITION_FAILED", "FILE_ALREADY_EXISTS", "FILE_NOT_FOUND", "VERSION_CONFLICT"],
];
/** What concerns one file alone, which is left out. */
const REFUSED = ["CONTENT_TOO_LARGE", "INVALID_PATH", "PATH_TOO_LONG"];

interface Prepared {
  readonly upload: Upload;
  readonly operation: Operation;
  readonly sha256: string;
}

interface Done {
  readonly upload: Upload;
  /** Of the bytes that were sent. */
  readonly sha256: string;
  readonly result: { readonly id: string; readonly version: number };
}

export class Uploads {
  #batch: Prepared[] = [];
  #bytes = 0;

  constructor(
    private readonly remote: RemoteFolder,
    private readonly folder: LocalFolder,
    private readonly state: State,
    private readonly report: (upload: Upload, sent: Sent) => Promise<void>,
  ) {}

  async add(upload: Upload): Promise<void> {
    if ((upload.local?.size ?? 0) > SYNC_SMALL_BYTES) return await this.#sendLarge(upload);
    const prepared = this.#prepare(upload);
    if (prepared === null) return await this.report(upload, "again");
    this.#batch.push(prepared);
    this.#bytes += upload.local?.size ?? 0;
    if (this.#batch.length >= BATCH_OPERATIONS_MAX || this.#bytes >= SYNC_BATCH_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    let batch = this.#batch;
    [this.#batch, this.#bytes] = [[], 0];
    while (batch.length > 0) {
      try {
        const { results } = await this.remote.store.batch(batch.map(({ operation }) => operation));
        const sent = batch.flatMap(({ upload, sha256 }, index) => {
          const result = results[index];
          return result === undefined ? [] : [{ upload, sha256, result }];
        });
        await this.#done(sent);
        return;
      } catch (error) {
        if (!(error instanceof FilestoreError)) throw error;
        const index = Number(error.details["index"] ?? (batch.length === 1 ? 0 : NaN));
        const failed = batch[index];
        const outcome = outcomeOf(error);
        if (failed === undefined || outcome === null) throw error;
        await this.report(failed.upload, outcome);
        batch = batch.filter((one) => one !== failed);
      }
    }
  }

  /** Null: the file has disappeared since it was scanned. */
  #prepare(upload: Upload): Prepared | null {
    const { path, local, remote } = upload;
    const common = { path: this.remote.at(path), ifVersion: remote?.version ?? 0 };
    if (local === null) return { upload, operation: { op: "delete", ...common }, sha256: "" };
    let bytes: Buffer;
    try {
      bytes = readFileSync(this.folder.at(path));
    } catch {
      return null;
    }
    const text = textOf(bytes);
    const content = text === null ? { content: bytes.toString("base64"), isBase64: true } : { content: text };
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return {
      upload,
      operation: { op: keepsType(remote) ? "overwrite" : "write", ...common, ...content },
      sha256,
    };
  }

  async #sendLarge(upload: Upload): Promise<void> {
    const { path } = upload;
    let hash = createHash("sha256");
    const opened = async () => {
      hash = createHash("sha256");
      const watched = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          hash.update(chunk);
          controller.enqueue(chunk);
        },
      });
      return (await fileStream(this.folder.at(path))).pipeThrough(watched);
    };
    try {
      const record = await this.#stream(upload, opened);
      await this.#done([{ upload, sha256: hash.digest("hex"), result: record }]);
    } catch (error) {
      if (!(error instanceof FilestoreError)) throw error;
      // The file may have disappeared since it was scanned.
      const outcome = this.folder.stats(path) === null ? "again" : outcomeOf(error);
      if (outcome === null) throw error;
      await this.report(upload, outcome);
    }
  }

  async #stream({ path, remote }: Upload, body: Exclude<Content, string>): Promise<FileRecord> {
    const { store } = this.remote;
    if (remote === null || !keepsType(remote)) {
      return await store.write(this.remote.at(path), body, { ifVersion: remote?.version ?? 0 });
    }
    const address = fileAddress(this.remote.at(path), "/files/overwrite");
    const query = { raw: true, ifVersion: remote.version };
    return await write<FileRecord>(store.api, address, { method: "PUT", query, body }, {});
  }

  /** Remembers what was sent before it is said. */
  async #done(all: readonly Done[]): Promise<void> {
    for (const { upload: { path, local }, sha256, result: { id, version } } of all) {
      if (local === null) {
        this.state.set(path, null);
        continue;
      }
      // What was sent may be newer than what was scanned; then the next pass reads the file again.
      const isSame = sha256 === local.sha256 && !local.isRacy && this.folder.isStill(path, local);
      this.state.set(path, { id, version, sha256, size: local.size, mtime: isSame ? local.mtime : 0 });
    }
    this.state.flush();
    for (const { upload, result: { version } } of all) await this.report(upload, { version });
  }
}

/** Whether a new version keeps the type of the one before, which may have been given. That of an empty file says nothing. */
function keepsType(remote: Remote | null): boolean {
  return remote !== null && remote.size > 0;
}

function outcomeOf(error: FilestoreError): Sent | null {
  if (OVERTAKEN.includes(error.code)) return "again";
  return REFUSED.includes(error.code) ? { refused: error.message } : null;
}

/** Null for bytes that are not UTF-8. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
