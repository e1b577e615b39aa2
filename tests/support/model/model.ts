/**
 * The contract in memory: what each operation on one project must answer, and the state it leaves. It has no segments,
 * transactions or storage. If the service and the model differ, one of them breaks the contract.
 */
import type { Code } from "../client/contract.ts";
import { ModelBranches } from "./model_branches.ts";
import { compareUtf8, EXTENSIONS, isBinaryType, isUtf8 } from "./model_content.ts";
import {
  type BackPlan,
  type FolderChange,
  isIntoItself,
  planFolder,
  planRestore,
  planUndo,
  type RestoreFolder,
  type Step,
  stepsOf,
  type Undo,
} from "./model_plans.ts";

export interface Version {
  readonly version: number;
  readonly bytes: Uint8Array;
  /** The sizes of the pieces that its content was assembled from. */
  readonly pieces: readonly number[];
  readonly type: string;
  /** Whether every piece that was ever added is valid UTF-8 by itself. */
  readonly isText: boolean;
  readonly deleted: boolean;
  /** The operation that added it; `from` is the source of a copy, move or restore. */
  readonly operation: string;
  from?: { readonly path: string; readonly version: number } | undefined;
  readonly run?: string | undefined;
  /** For an undo: the run that it undoes. */
  readonly undone?: string | undefined;
  /** The number of its commit. */
  readonly commit: number;
  /** The service's time of the version, learned from an answer. */
  at: string;
  /** For a move: the file that was moved. */
  readonly moved?: File | undefined;
  /** The content was erased. */
  redacted?: true;
}

export interface File {
  /** Learned from the first answer; "" until then. */
  id: string;
  readonly path: string;
  createdAt: string;
  /** All versions ever added. */
  readonly versions: Version[];
  /** The number of the first version that is not trimmed. */
  first: number;
}

/** An edit, as requested. */
export interface Edit {
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll?: boolean;
  readonly expectedOccurrences?: number;
}

/** A write of any kind with every choice fixed, as it is sent. */
export type Write =
  & {
    readonly path: string;
    /** Entity tags. */
    readonly ifMatch?: string | undefined;
    readonly ifNoneMatch?: string | undefined;
    /** 0: the file must not exist. */
    readonly ifVersion?: number | undefined;
    readonly run?: string | undefined;
    readonly key?: string | undefined;
  }
  & (
    | {
      readonly kind: "write" | "append" | "overwrite";
      readonly bytes: Uint8Array;
      readonly form: "text" | "base64" | "raw";
      /** The type that the request names; only for `write`. */
      readonly type?: string | undefined;
    }
    | { readonly kind: "edit"; readonly edits: readonly Edit[]; readonly dryRun: boolean }
    | { readonly kind: "delete" }
    | { readonly kind: "restore"; readonly version: number }
    | { readonly kind: "copy" | "move"; readonly destination: string; readonly overwrite: boolean }
  );

/** Writes that are committed all together or not at all. */
export interface Batch {
  readonly kind: "batch";
  readonly operations: readonly Write[];
  readonly run?: string | undefined;
  readonly key?: string | undefined;
}

export interface BatchWritten {
  readonly batch: readonly Written[];
  readonly isReplayed: boolean;
}

export interface FolderWritten {
  /** Sorted by path, without the tombstones of a move. */
  readonly folder: readonly { readonly path: string; readonly version: number }[];
  /** Files that are left out, since their state at that moment is no longer known. */
  readonly trimmed: readonly string[];
  readonly isReplayed: boolean;
}

export interface BackWritten {
  readonly back: BackPlan;
  /** Null: a plan, which changes nothing. */
  readonly run: string | null;
  readonly undone: string | null;
  readonly isReplayed: boolean;
}

/** Erases a file for good. */
export interface Purge {
  readonly kind: "purge";
  readonly path: string;
}

export interface Purged {
  readonly purged: File;
  /** What branches have copied of it. */
  readonly copies: readonly string[];
}

/** Erases the content of versions for good. */
export interface Redact {
  readonly kind: "redact";
  readonly path: string;
  readonly versions: readonly number[];
}

export interface Redacted {
  readonly redacted: readonly number[];
  /** Whether a version that the answer names can be read. */
  isReadable(path: string, version: number): boolean;
}

/** A change of several files. */
export type Many = FolderChange | Undo | RestoreFolder;

export interface Refused {
  readonly refused: Code;
  /** The status, for a code that has two. */
  readonly status?: number;
  /** Those details of the answer that are checked. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A write that was committed, now or by an earlier request with the same key. */
export interface Written {
  readonly file: File;
  readonly version: Version;
  readonly replacements?: number | undefined;
  readonly isReplayed: boolean;
}

/** The result that an edit would have. */
export interface Preview {
  readonly previewOf: File;
  readonly replacements: number;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

export class Model {
  readonly files = new Map<string, File>();
  /** For each purged file, the version number in its receipt. */
  readonly receipts: number[] = [];
  /** For each undone run, the runs that undid it. Erasing their versions does not change it. */
  readonly undos = new Map<string, Set<string>>();
  readonly branches = new ModelBranches({
    files: this.files,
    begin: (run) => this.#begin(run),
    add: (path, content, operation, from) => {
      const type = content?.type ?? this.files.get(path)?.versions.at(-1)?.type ?? "";
      this.#put(path, content, type, content?.isText ?? true, operation, from);
    },
  });
  readonly #answers = new Map<string, { readonly fingerprint: string; readonly written: Done }>();
  #commit = { number: 0, run: undefined as string | undefined, undone: undefined as string | undefined };

  /** Performs the write on the model and returns the expected answer. The times of new versions are learned later. */
  write(write: Write): Refused | Written | Preview {
    if (isInvalid(write)) return { refused: "VALIDATION_ERROR" };
    const key = write.kind === "edit" && write.dryRun ? undefined : write.key;
    return this.#once(key, fingerprintOf(write), () => {
      this.#begin(write.run);
      return this.#perform(write);
    });
  }

  /** The same for a batch; a refused batch changes nothing. */
  batch({ operations, run, key }: Batch): Refused | BatchWritten {
    if (operations.some(isInvalid)) return { refused: "VALIDATION_ERROR" };
    return this.#once(key, `batch ${operations.map(fingerprintOf).join()}`, () => {
      this.#begin(run);
      return this.#performAll(operations);
    });
  }

  purge({ path }: Purge): Refused | Purged {
    const file = this.files.get(path);
    if (!file) return notFound(undefined);
    const copies = this.branches.copiesOf(file);
    this.files.delete(path);
    this.receipts.push(file.versions.length + 1);
    for (const { versions } of this.files.values()) {
      for (const version of versions) if (version.from?.path === path) version.from = undefined;
    }
    return { purged: file, copies };
  }

  redact({ path, versions }: Redact): Refused | Redacted {
    const file = this.files.get(path);
    if (!file) return notFound(undefined);
    const latest = file.versions.at(-1);
    for (const number of versions) {
      const refusal = unreadable(file, number);
      if (refusal?.refused === "VERSION_NOT_FOUND") return refusal;
      if (number === latest?.version && !latest.deleted) {
        return refused("VERSION_CURRENT", { version: number });
      }
    }
    for (const number of versions) {
      const version = file.versions[number - 1];
      if (version) version.redacted = true;
    }
    return {
      redacted: [...new Set(versions)].toSorted((a, b) => a - b),
      isReadable: (path, number) => {
        const file = this.files.get(path);
        return file !== undefined && unreadable(file, number) === undefined;
      },
    };
  }

  /** Keeps only the last `keep` versions of each file that is not deleted. Returns the number of versions removed. */
  trim(keep: number): number {
    let gone = 0;
    for (const file of this.files.values()) {
      if (file.versions.at(-1)?.deleted !== false) continue;
      const last = Math.min(file.versions.length - keep + 1, this.branches.firstNeeded(file));
      const first = Math.max(file.first, last);
      gone += first - file.first;
      file.first = first;
    }
    return gone;
  }

  /** The same for a change of a folder, an undo, or a restore of a folder. */
  many(change: Many): Refused | FolderWritten | BackWritten {
    const { run, key, ...asked } = change;
    if (!("dryRun" in change) && isIntoItself(change)) return { refused: "VALIDATION_ERROR" };
    const isPlan = "dryRun" in change && change.dryRun;
    return this.#once(isPlan ? undefined : key, JSON.stringify(asked), () => {
      this.#begin(run, change.kind === "undo_run" ? change.undoes : undefined);
      return "dryRun" in change ? this.#back(change) : this.#folder(change);
    });
  }

  #folder(change: FolderChange): Refused | FolderWritten {
    const plan = planFolder(this, change);
    if ("refused" in plan) return plan;
    const { steps, trimmed } = plan;
    const operation = change.kind.replace("_folder", "");
    for (const step of steps) this.#take(step, operation);
    const named = steps.filter(({ content }) => (content === null) === (operation === "delete"));
    const folder = named.map(({ path }) => ({ path, version: this.files.get(path)?.versions.length ?? 0 }));
    return { folder: folder.toSorted((a, b) => compareUtf8(a.path, b.path)), trimmed, isReplayed: false };
  }

  #back(change: Undo | RestoreFolder): Refused | BackWritten {
    const isUndo = change.kind === "undo_run";
    const plan = isUndo ? planUndo(this, change) : planRestore(this, change);
    if ("refused" in plan) return plan;
    if (!change.dryRun) {
      for (const step of stepsOf(this, plan)) this.#take(step, isUndo ? "undo" : "restore");
    }
    const undone = isUndo ? change.undoes : null;
    return { back: plan, run: change.dryRun ? null : change.run, undone, isReplayed: false };
  }

  /** Performs the first request with a key; a repeated request gets the same answer. A plan has no key and is not stored. */
  #once<T extends Refused | Preview | Done>(
    key: string | undefined,
    fingerprint: string,
    perform: () => T,
  ): T | Refused {
    const first = key === undefined ? undefined : this.#answers.get(key);
    if (first && first.fingerprint !== fingerprint) return { refused: "IDEMPOTENCY_KEY_REUSED" };
    if (first) return { ...first.written as T, isReplayed: true };
    const result = perform();
    if (key !== undefined && "isReplayed" in result) this.#answers.set(key, { fingerprint, written: result });
    return result;
  }

  #begin(run: string | undefined, undone?: string): void {
    this.#commit = { number: this.#commit.number + 1, run, undone };
  }

  #performAll(operations: readonly Write[]): Refused | BatchWritten {
    const before = new Map([...this.files].map(([path, { versions }]) => [path, versions.length]));
    const batch: Written[] = [];
    for (const [index, operation] of operations.entries()) {
      const result = this.#perform(operation);
      if (!("version" in result)) {
        this.#restoreTo(before);
        return "refused" in result
          ? { ...result, details: { ...result.details, index } }
          : { refused: "INTERNAL_ERROR" };
      }
      batch.push(result);
    }
    return { batch, isReplayed: false };
  }

  #restoreTo(lengths: ReadonlyMap<string, number>): void {
    for (const [path, { versions }] of this.files) {
      const length = lengths.get(path);
      if (length === undefined) this.files.delete(path);
      else versions.length = length;
    }
  }

  #perform(write: Write): Refused | Written | Preview {
    const closed = this.branches.refusalAt(write.path);
    if (closed) return closed;
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
        const type = write.type ?? detectedType(write.path, isText);
        return this.#put(write.path, pieceOf(write.bytes), type, isText, "write");
      }
      case "overwrite":
        return this.#put(
          write.path,
          pieceOf(write.bytes),
          live?.type ?? "",
          isUtf8(write.bytes),
          "overwrite",
        );
      case "append": {
        const bytes = concatenated(live?.bytes ?? NOTHING, write.bytes);
        const pieces = [...live?.pieces ?? [], ...pieceOf(write.bytes).pieces];
        const isText = (live?.isText ?? false) && isUtf8(write.bytes);
        return this.#put(write.path, { bytes, pieces }, live?.type ?? "", isText, "append");
      }
      case "edit":
        return this.#edit(write, file, live);
      case "delete":
        return this.#put(write.path, null, live?.type ?? "", true, "delete");
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
    return { ...this.#put(write.path, pieceOf(bytes), live.type, true, "edit"), replacements };
  }

  #restore(path: string, number: number, file: File | undefined): Refused | Written {
    const refusal = file && unreadable(file, number);
    const version = file?.versions[number - 1];
    if (refusal || !version) return refusal ?? notFound(undefined);
    if (version.deleted) return refused("VERSION_DELETED");
    const from = { path, version: number };
    return this.#put(path, version, version.type, version.isText, "restore", from);
  }

  #copy(write: Write & { kind: "copy" | "move" }, source: Version | undefined): Refused | Written {
    const target = this.files.get(write.destination)?.versions.at(-1);
    if (target && !target.deleted && !write.overwrite) {
      return refused("FILE_ALREADY_EXISTS", { version: target.version });
    }
    if (!source) return notFound(source);
    const { type, isText, version } = source;
    const from = { path: write.path, version };
    const written = this.#put(write.destination, source, type, isText, write.kind, from);
    if (write.kind === "move") this.#put(write.path, null, type, true, "move");
    return written;
  }

  #take({ path, content }: Step, operation: string): void {
    if (content) {
      const { type, isText, version } = content.version;
      this.#put(path, content.version, type, isText, operation, { path: content.path, version });
    } else {
      this.#put(path, null, this.files.get(path)?.versions.at(-1)?.type ?? "", true, operation);
    }
  }

  /** Without content, it adds a tombstone. */
  #put(
    path: string,
    content: Pick<Version, "bytes" | "pieces"> | null,
    type: string,
    isText: boolean,
    operation: string,
    from?: Version["from"],
  ): Written {
    const file = this.files.get(path) ?? { id: "", path, createdAt: "", versions: [], first: 1 };
    this.files.set(path, file);
    const { number: commit, run, undone } = this.#commit;
    const moved = operation === "move" && from ? this.files.get(from.path) : undefined;
    if (run !== undefined && undone !== undefined) {
      this.undos.set(undone, (this.undos.get(undone) ?? new Set()).add(run));
    }
    const version = {
      ...{
        version: file.versions.length + 1,
        bytes: content?.bytes ?? NOTHING,
        pieces: content?.pieces ?? [],
        type,
        isText,
        deleted: content === null,
      },
      ...{ operation, from, run, undone, commit, at: "", moved },
    };
    file.versions.push(version);
    return { file, version, isReplayed: false };
  }
}

type Done = Written | BatchWritten | FolderWritten | BackWritten;

const NOTHING = new Uint8Array();

function pieceOf(bytes: Uint8Array): Pick<Version, "bytes" | "pieces"> {
  return { bytes, pieces: bytes.length > 0 ? [bytes.length] : [] };
}

export function refused(code: Code, details: Refused["details"] = {}): Refused {
  return { refused: code, details };
}

/** Why this version cannot be read, tombstone or not; undefined if it can. */
export function unreadable({ versions, first }: File, number: number): Refused | undefined {
  const latestVersion = versions.length;
  if (number > latestVersion) return refused("VERSION_NOT_FOUND", { latestVersion });
  if (number < first) return refused("VERSION_NOT_FOUND", { latestVersion, trimmed: true });
  return versions[number - 1]?.redacted ? refused("VERSION_REDACTED", { version: number }) : undefined;
}

/** The versions that are not trimmed. */
export function kept({ versions, first }: File): readonly Version[] {
  return versions.slice(first - 1);
}

export function notFound(latest: Version | undefined): Refused {
  return refused("FILE_NOT_FOUND", latest?.deleted ? { deletedVersion: latest.version } : {});
}

/** Preconditions compare the file and the version; the representation and the weakness of a tag do not matter. */
function brokenPrecondition(
  { ifMatch, ifNoneMatch, ifVersion }: Write,
  file: File | undefined,
  live: Version | undefined,
): Refused | undefined {
  const names = (header: string) =>
    header === "*" ||
    header.split(",").some((tag) =>
      tag.trim().replace(/^W\//, "").replace(/\.[jrm]"$/, '"') === `"${file?.id}.${live?.version}"`
    );
  if (ifVersion === 0 && live) {
    return { refused: "FILE_ALREADY_EXISTS", status: 412, details: { version: live.version } };
  }
  if (ifVersion && live?.version !== ifVersion) return { refused: "PRECONDITION_FAILED" };
  if (ifMatch !== undefined && !(live && names(ifMatch))) return { refused: "PRECONDITION_FAILED" };
  if (ifNoneMatch === undefined || !live || !names(ifNoneMatch)) return undefined;
  const details = { version: live.version };
  return ifNoneMatch === "*"
    ? { refused: "FILE_ALREADY_EXISTS", status: 412, details }
    : { refused: "PRECONDITION_FAILED", details };
}

/** Equal for the same key, route and body. Preconditions and the key itself are not part of the body. */
function fingerprintOf(write: Write): string {
  const { ifMatch: _, ifNoneMatch: __, key: ___, run: ____, ...rest } = write;
  return JSON.stringify({ ...rest, bytes: "bytes" in rest ? rest.bytes.toHex() : undefined });
}

/** Whether the fields of a write are invalid, whatever the state of the project. */
function isInvalid(write: Write): boolean {
  return (write.kind === "append" && write.bytes.length === 0) ||
    ("destination" in write && write.destination === write.path) ||
    (write.kind === "edit" && write.edits.some(({ oldString, newString }) => oldString === newString));
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
