/** Checks every line, file and byte of an import before it changes anything. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../failure.ts";
import { type Api, fileAddress } from "../library/api.ts";
import { FilestoreError, messageOf } from "../library/errors.ts";
import type { FileList, FileRecord, VersionList } from "../library/records.ts";
import { PAGE, TRANSFER_PROBLEMS_SHOWN_MAX, TRANSFERS_AT_ONCE } from "../limits.ts";
import { inOrder } from "./in_order.ts";
import {
  comparePaths,
  filesOf,
  isStored,
  MANIFEST,
  type ManifestLine,
  PARTIAL_MANIFEST,
  readManifest,
  type StoredLine,
} from "./manifest.ts";

/** An import whose lines and files are valid. */
export interface CheckedImport {
  readonly folder: string;
  /** The manifest's file. */
  readonly manifest: string;
  /** The run of the imported versions, in any project: the same manifest has the same run. */
  readonly runId: string;
  readonly files: number;
}

/** Throws `Failure` that names up to TRANSFER_PROBLEMS_SHOWN_MAX problems. */
export async function checkImport(folder: string): Promise<CheckedImport> {
  const manifest = join(folder, MANIFEST);
  if (await lstat(join(folder, PARTIAL_MANIFEST)).then(() => true, () => false)) {
    throw new Failure(`The export in ${folder} is not complete; finish the export first.`);
  }
  const info = await lstat(manifest).catch(() => null);
  if (info?.isFile() !== true) throw new Failure(`${folder} is not an export: it has no ${MANIFEST}.`);
  const problems: string[] = [];
  let [files, last] = [0, ""];
  const checked = inOrder(readManifest(manifest), TRANSFERS_AT_ONCE, async (line) => ({
    line,
    problem: isStored(line) ? await problemOf(folder, line) : null,
  }));
  for await (const { line, problem } of checked) {
    if (line.path !== last) files++;
    last = line.path;
    if (problem !== null && problems.push(problem) >= TRANSFER_PROBLEMS_SHOWN_MAX) break;
  }
  if (problems.length > 0) throw new Failure(`Nothing was imported: ${problems.join("; ")}.`);
  const digest = await digestOf(manifest);
  return { folder, manifest, runId: `import-${digest.slice(0, 32)}`, files };
}

/** The problem with the bytes of a line; null: none. It follows no symbolic links. */
async function problemOf(folder: string, { stored, size, sha256 }: StoredLine): Promise<string | null> {
  let place = folder;
  const segments = stored.split("/");
  for (const [index, segment] of segments.entries()) {
    place = join(place, segment);
    const info = await lstat(place).catch(() => null);
    if (info === null) return `${stored} is missing`;
    if (info.isSymbolicLink()) return `${stored} is behind a symbolic link`;
    const isLast = index === segments.length - 1;
    if (isLast ? !info.isFile() : !info.isDirectory()) return `${stored} is not a file`;
    if (isLast && info.size !== size) return `${stored} has ${info.size} bytes instead of ${size}`;
  }
  try {
    return await digestOf(place) === sha256 ? null : `${stored} has a different SHA-256 than recorded`;
  } catch (error) {
    return `${stored} cannot be read (${messageOf(error)})`;
  }
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest("hex");
}

/**
 * The versions that an import adds to a file: those with bytes, and deletions after them. It leaves out redacted
 * versions, and deletions of versions that are not in the manifest.
 */
export function effectiveLines(lines: readonly ManifestLine[]): readonly ManifestLine[] {
  const kept: ManifestLine[] = [];
  for (const line of lines) {
    const previous = kept.at(-1);
    if (isStored(line) || line.deleted && previous !== undefined && !previous.deleted) kept.push(line);
  }
  return kept;
}

/** Throws `Failure` if a file of the import exists that this import did not write. */
export async function ensureNoneExists(api: Api, { manifest, runId }: CheckedImport): Promise<void> {
  const existing: string[] = [];
  for await (const path of inBoth(livePaths(api), pathsOf(manifest))) {
    const { tail } = await destinationOf(api, path, runId);
    if (tail === 0 && existing.push(path) >= TRANSFER_PROBLEMS_SHOWN_MAX) break;
  }
  if (existing.length === 0) return;
  throw new Failure(
    `Nothing was imported: these files exist; give --overwrite to add versions to them: ${
      existing.join(", ")
    }.`,
  );
}

async function* livePaths(api: Api): AsyncGenerator<string, void, void> {
  let after: string | undefined;
  for (;;) {
    const page: FileList = await api.data<FileList>("/files", {
      query: { recursive: true, limit: PAGE, after },
    });
    for (const { path } of page.files) yield path;
    if (!page.hasMore) return;
    after = page.files.at(-1)?.path;
  }
}

async function* pathsOf(manifest: string): AsyncGenerator<string, void, void> {
  for await (const lines of filesOf(manifest)) {
    const [line] = effectiveLines(lines);
    if (line) yield line.path;
  }
}

/** The paths that occur in both of two sorted streams. */
async function* inBoth(
  left: AsyncGenerator<string, void, void>,
  right: AsyncGenerator<string, void, void>,
): AsyncGenerator<string, void, void> {
  let [a, b] = [await left.next(), await right.next()];
  while (!a.done && !b.done) {
    const order = comparePaths(a.value, b.value);
    if (order === 0) yield a.value;
    if (order <= 0) a = await left.next();
    if (order >= 0) b = await right.next();
  }
}

/** The present state of a path in the project. */
export interface Destination {
  /** The live file; null: the path has no file, or a tombstone. */
  readonly live: { readonly id: string; readonly version: number } | null;
  /** The number of newest versions that this import has written. */
  readonly tail: number;
  /** The version before the versions that this import has written; 0 if it is the first. */
  readonly base: number;
}

export async function destinationOf(api: Api, path: string, runId: string): Promise<Destination> {
  const live = await liveFile(api, path);
  if (live === "never was") return { live: null, tail: 0, base: 0 };
  let tail = 0;
  let newest = 0;
  for (let offset = 0;; offset += PAGE) {
    const query = { versions: "", limit: PAGE, offset };
    const page = await api.data<VersionList>(fileAddress(path), { query });
    newest ||= page.versions[0]?.version ?? 0;
    const others = page.versions.findIndex((version) => version.runId !== runId);
    tail += others < 0 ? page.versions.length : others;
    if (others >= 0 || offset + PAGE >= page.total) return { live, tail, base: newest - tail };
  }
}

/** The live file at a path; null: its latest version is a tombstone. */
async function liveFile(api: Api, path: string): Promise<Destination["live"] | "never was"> {
  try {
    return await api.data<FileRecord>(fileAddress(path), { query: { metadata: "" } });
  } catch (error) {
    if (!(error instanceof FilestoreError) || error.code !== "FILE_NOT_FOUND") throw error;
    return error.details["deletedVersion"] === undefined ? "never was" : null;
  }
}
