/**
 * The wire contract in memory: what each operation on one project must answer, and what it leaves behind. No segments,
 * no transactions, no storage: where the service and this differ, one of them does not keep the contract.
 */
import type { Code } from "../client/contract.ts";
import { EXTENSIONS, isBinaryType, isUtf8 } from "./model_content.ts";

export interface Version {
  readonly version: number;
  readonly bytes: Uint8Array;
  readonly type: string;
  /** Whether each piece that was ever added is UTF-8 by itself. */
  readonly isText: boolean;
  readonly deleted: boolean;
  /** When it was made, as the service said; learned from its answer. */
  at: string;
}

export interface File {
  /** Learned from the first answer; "" until then. */
  id: string;
  readonly path: string;
  createdAt: string;
  readonly versions: Version[];
}

/** An edit as it is asked for. */
export interface Edit {
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll?: boolean;
  readonly expectedOccurrences?: number;
}

/** A write of any kind, with nothing left open: what goes over the wire. */
export type Write =
  & {
    readonly path: string;
    /** Entity tags. */
    readonly ifMatch?: string | undefined;
    readonly ifNoneMatch?: string | undefined;
    readonly key?: string | undefined;
  }
  & (
    | {
      readonly kind: "write" | "append" | "overwrite";
      readonly bytes: Uint8Array;
      readonly form: "text" | "base64" | "raw";
      /** The type that is named; for `write`. */
      readonly type?: string | undefined;
    }
    | { readonly kind: "edit"; readonly edits: readonly Edit[]; readonly dryRun: boolean }
    | { readonly kind: "delete" }
    | { readonly kind: "restore"; readonly version: number }
    | { readonly kind: "copy" | "move"; readonly destination: string; readonly overwrite: boolean }
  );

export interface Refused {
  readonly refused: Code;
  /** Where the code has two. */
  readonly status?: number;
  /** Some of the answer's details. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A write that was done, now or by an earlier request with the same key. */
export interface Written {
  readonly file: File;
  readonly version: Version;
  readonly replacements?: number | undefined;
  readonly isReplayed: boolean;
}

/** What an edit would do. */
export interface Preview {
  readonly previewOf: File;
  readonly replacements: number;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

export class Model {
  readonly files = new Map<string, File>();
  readonly #answers = new Map<string, { readonly fingerprint: string; readonly written: Written }>();

  /** What the write must be answered; what it changes is changed. The times of new versions are still to be learned. */
  write(write: Write): Refused | Written | Preview {
    const isInvalid = (write.kind === "append" && write.bytes.length === 0) ||
      ("destination" in write && write.destination === write.path) ||
      (write.kind === "edit" && write.edits.some(({ oldString, newString }) => oldString === newString));
    if (isInvalid) return { refused: "VALIDATION_ERROR" };
    const key = write.kind === "edit" && write.dryRun ? undefined : write.key;
    const fingerprint = fingerprintOf(write);
    const first = key === undefined ? undefined : this.#answers.get(key);
    if (first && first.fingerprint !== fingerprint) return { refused: "IDEMPOTENCY_KEY_REUSED" };
    if (first) return { ...first.written, isReplayed: true };
    const result = this.#perform(write);
    if (key !== undefined && "version" in result) this.#answers.set(key, { fingerprint, written: result });
    return result;
  }

  #perform(write: Write): Refused | Written | Preview {
    const file = this.files.get(write.path);
    const latest = file?.versions.at(-1);
    const live = latest?.deleted ? undefined : latest;
    const mayBeGone = write.kind === "write" || (write.kind === "restore" && latest !== undefined);
    if (!live && !mayBeGone) return notFound(latest);
    const broken = brokenPrecondition(write, file, live);
    if (broken) return broken;
    switch (write.kind) {
      case "write": {
        const isText = isUtf8(write.bytes);
        return this.#put(write.path, write.bytes, write.type ?? detectedType(write.path, isText), isText);
      }
      case "overwrite":
        return this.#put(write.path, write.bytes, live?.type ?? "", isUtf8(write.bytes));
      case "append": {
        const bytes = concatenated(live?.bytes ?? NOTHING, write.bytes);
        return this.#put(write.path, bytes, live?.type ?? "", (live?.isText ?? false) && isUtf8(write.bytes));
      }
      case "edit":
        return this.#edit(write, file, live);
      case "delete":
        return this.#put(write.path, NOTHING, live?.type ?? "", true, true);
      case "restore":
        return this.#restore(write.path, write.version, file);
      case "copy":
      case "move":
        return this.#copy(write, live);
    }
  }

  #edit(write: Write & { kind: "edit" }, file: File | undefined, live: Version | undefined) {
    if (!file || !live) return notFound(live);
    const { version } = live;
    if (!live.isText || isBinaryType(live.type)) return refused("NOT_TEXT", { version });
    let text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(live.bytes);
    let replacements = 0;
    for (const [index, { oldString, newString, replaceAll, expectedOccurrences }] of write.edits.entries()) {
      const where = write.edits.length > 1 ? { edit: index } : {};
      const pieces = text.split(oldString);
      const occurrences = pieces.length - 1;
      if (occurrences === 0) return refused("STRING_NOT_FOUND", { version, ...where });
      const isExpected = expectedOccurrences === undefined
        ? occurrences === 1 || replaceAll
        : occurrences === expectedOccurrences;
      if (!isExpected) return refused("STRING_NOT_UNIQUE", { occurrences, version, ...where });
      text = pieces.join(newString);
      replacements += occurrences;
    }
    const bytes = new TextEncoder().encode(text);
    if (write.dryRun) return { previewOf: file, replacements, before: live.bytes, after: bytes };
    return { ...this.#put(write.path, bytes, live.type, true), replacements };
  }

  #restore(path: string, number: number, file: File | undefined): Refused | Written {
    const versions = file?.versions ?? [];
    const version = versions[number - 1];
    if (!version) return refused("VERSION_NOT_FOUND", { latestVersion: versions.length });
    if (version.deleted) return refused("VERSION_DELETED");
    return this.#put(path, version.bytes, version.type, version.isText);
  }

  #copy(write: Write & { kind: "copy" | "move" }, source: Version | undefined): Refused | Written {
    const target = this.files.get(write.destination)?.versions.at(-1);
    if (target && !target.deleted && !write.overwrite) {
      return refused("FILE_ALREADY_EXISTS", { version: target.version });
    }
    if (!source) return notFound(source);
    const written = this.#put(write.destination, source.bytes, source.type, source.isText);
    if (write.kind === "move") this.#put(write.path, NOTHING, source.type, true, true);
    return written;
  }

  #put(path: string, bytes: Uint8Array, type: string, isText: boolean, deleted = false): Written {
    const file = this.files.get(path) ?? { id: "", path, createdAt: "", versions: [] };
    this.files.set(path, file);
    const version = { version: file.versions.length + 1, bytes, type, isText, deleted, at: "" };
    file.versions.push(version);
    return { file, version, isReplayed: false };
  }
}

const NOTHING = new Uint8Array();

export function refused(code: Code, details: Refused["details"] = {}): Refused {
  return { refused: code, details };
}

export function notFound(latest: Version | undefined): Refused {
  return refused("FILE_NOT_FOUND", latest?.deleted ? { deletedVersion: latest.version } : {});
}

/** Preconditions name a file and a version, whatever the representation and however weak. */
function brokenPrecondition(
  { ifMatch, ifNoneMatch }: Write,
  file: File | undefined,
  live: Version | undefined,
): Refused | undefined {
  const names = (header: string) =>
    header === "*" ||
    header.split(",").some((tag) =>
      tag.trim().replace(/^W\//, "").replace(/\.[jrm]"$/, '"') === `"${file?.id}.${live?.version}"`
    );
  if (ifMatch !== undefined && !(live && names(ifMatch))) return { refused: "PRECONDITION_FAILED" };
  if (ifNoneMatch === undefined || !live || !names(ifNoneMatch)) return undefined;
  const details = { version: live.version };
  return ifNoneMatch === "*"
    ? { refused: "FILE_ALREADY_EXISTS", status: 412, details }
    : { refused: "PRECONDITION_FAILED", details };
}

/** The same key, route and body is the same request. Preconditions and the key itself are not part of the body. */
function fingerprintOf(write: Write): string {
  const { ifMatch: _, ifNoneMatch: __, key: ___, ...rest } = write;
  return JSON.stringify({ ...rest, bytes: "bytes" in rest ? rest.bytes.toHex() : undefined });
}

function detectedType(path: string, isText: boolean): string {
  const extension = /[^/.]\.([^/.]*)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return EXTENSIONS[extension] ?? (isText ? "text/plain" : "application/octet-stream");
}

function concatenated(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
