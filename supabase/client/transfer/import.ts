/**
 * Imports an export into a project, with new numbers and times. Every version has the import's run id, so a repeated
 * import continues after an interruption and writes nothing twice.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { Failure } from "../failure.ts";
import { type Api, type Call, fileAddress } from "../library/api.ts";
import { FilestoreError } from "../library/errors.ts";
import type { FileRecord } from "../library/records.ts";
import { TRANSFERS_AT_ONCE } from "../limits.ts";
import {
  type CheckedImport,
  checkImport,
  destinationOf,
  effectiveLines,
  ensureNoneExists,
} from "./check_import.ts";
import { fileStream } from "./file_stream.ts";
import { inOrder } from "./in_order.ts";
import { filesOf, isStored, type ManifestLine } from "./manifest.ts";
import { Progress } from "./progress.ts";

export interface Imported {
  readonly files: number;
  /** Versions that this run of the command wrote, without those of earlier runs. */
  readonly versions: number;
  readonly bytes: number;
  /** The run id of all imported versions; undoing this run undoes the import. */
  readonly runId: string;
}

/** Throws `Failure`. It changes nothing if the export is invalid or files exist already. */
export async function importFiles(
  api: Api,
  folder: string,
  { overwrites }: { readonly overwrites: boolean },
): Promise<Imported> {
  const checked = await checkImport(folder);
  if (!overwrites) await ensureNoneExists(api, checked);
  const progress = new Progress("files", checked.files);
  const done = { files: 0, versions: 0, bytes: 0 };
  try {
    const files = inOrder(
      filesOf(checked.manifest),
      TRANSFERS_AT_ONCE,
      (lines) => importFile(api, checked, lines, overwrites),
    );
    for await (const { versions, bytes } of files) {
      done.files++;
      done.versions += versions;
      done.bytes += bytes;
      progress.add(1, bytes);
    }
  } finally {
    progress.end();
  }
  return { ...done, runId: checked.runId };
}

/** Writes the missing versions of one file, each with the previous one as its precondition. */
async function importFile(
  api: Api,
  { folder, runId }: CheckedImport,
  lines: readonly ManifestLine[],
  overwrites: boolean,
): Promise<{ versions: number; bytes: number }> {
  const effective = effectiveLines(lines);
  const [first] = effective;
  const done = { versions: 0, bytes: 0 };
  if (first === undefined) return done;
  const { live, tail, base } = await destinationOf(api, first.path, runId);
  if (live !== null && tail === 0 && !overwrites) throw changed(first.path);
  let current = live;
  for (const [index, line] of effective.entries()) {
    if (index < tail) continue;
    const headers = {
      ...provenanceHeaders(line, runId),
      ...current === null ? { "if-none-match": "*" } : { "if-match": `"${current.id}.${current.version}.j"` },
      "idempotency-key": keyOf(runId, line.path, base, index),
    };
    const written = await api.data<FileRecord>(...callOf(line, folder, headers)).catch((error) => {
      throw error instanceof FilestoreError && error.status === 412 ? changed(line.path) : error;
    });
    current = line.deleted ? null : written;
    done.versions++;
    done.bytes += line.size;
  }
  return done;
}

function changed(path: string): Failure {
  return new Failure(`Somebody else changed ${path} during the import. Run the import again.`);
}

/** The idempotency key of a version, the same for each try: a lost answer is replayed. */
function keyOf(runId: string, path: string, base: number, index: number): string {
  const digest = createHash("sha256").update(path).digest("hex");
  return `${runId}:${digest.slice(0, 32)}:${base}:${index}`;
}

/** The headers with the version's actor and note, and the import's run. */
function provenanceHeaders({ actor, note }: ManifestLine, runId: string): Record<string, string> {
  return {
    "x-run-id": runId,
    ...actor !== undefined && { "x-actor": actor },
    ...note !== undefined && { "x-change-note": encodeURIComponent(note) },
  };
}

/** The request that adds the version. */
function callOf(
  line: ManifestLine,
  folder: string,
  headers: Record<string, string>,
): [string, Call] {
  // Nothing was written, and each version has its precondition.
  const repeatsAfter = "VERSION_CONFLICT";
  if (!isStored(line)) return [fileAddress(line.path), { method: "DELETE", headers, repeatsAfter }];
  const query = { path: line.path, contentType: line.type };
  const type = { "content-type": "application/octet-stream" };
  const body = () => fileStream(join(folder, line.stored));
  return ["/files", { method: "POST", query, headers: { ...headers, ...type }, body, repeatsAfter }];
}
