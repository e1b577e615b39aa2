/**
 * What a sync does with one path, from three states of it: on the disk, in the service, and the base, which both had when
 * they were last equal. Pure, so that every case can be tested.
 */

import { PATH_BYTES_MAX } from "../../functions/api/contract/limits.ts";
import { bytesOf, cut } from "../transfer/disk_names.ts";

/** A file of the service at its latest version. */
export interface Remote {
  readonly id: string;
  readonly version: number;
  readonly size: number;
}

/** What was last equal on both sides. */
export interface Base {
  readonly id: string;
  readonly version: number;
  readonly sha256: string;
}

/** Which ways a sync goes. */
export type Mode = "both" | "pull" | "push";

/**
 * - `compare`: both have changed; their contents decide whether they are equal, are merged, or conflict;
 * - `forget`: both have deleted it;
 * - `keep`: the side that has changed must not send it in this mode.
 */
export type Step =
  | "none"
  | "forget"
  | "upload"
  | "download"
  | "deleteLocal"
  | "deleteRemote"
  | "compare"
  | "keepLocal"
  | "keepRemote";

/** `local` is the SHA-256 of the content on the disk; null: there is no file. */
export function stepOf(local: string | null, remote: Remote | null, base: Base | null, mode: Mode): Step {
  const step = twoWays(local, remote, base);
  if (mode === "pull" && (step === "upload" || step === "deleteRemote")) return "keepLocal";
  if (mode === "push" && (step === "download" || step === "deleteLocal")) return "keepRemote";
  return step;
}

function twoWays(local: string | null, remote: Remote | null, base: Base | null): Step {
  const isLocalChanged = local !== (base?.sha256 ?? null);
  const isRemoteChanged = remote?.id !== base?.id || remote?.version !== base?.version;
  if (local === null && remote === null) return base === null ? "none" : "forget";
  if (!isLocalChanged && !isRemoteChanged) return "none";
  // What one side has deleted and the other one has changed stays.
  if (local === null) return isRemoteChanged ? "download" : "deleteRemote";
  if (remote === null) return isLocalChanged ? "upload" : "deleteLocal";
  if (!isRemoteChanged) return "upload";
  return isLocalChanged ? "compare" : "download";
}

/** Whether so many deletions at once are probably a mistake: more than half of 20 or more files. */
export function isSuspicious(deletions: number, known: number): boolean {
  return known >= GUARDED_FILES_MIN && deletions > known / 2;
}

const GUARDED_FILES_MIN = 20;

/**
 * The name of a copy: `name (conflict 2026-11-24 host).ext`, with a number after the host where one is taken. What would be
 * too long for a disk or the service is cut.
 */
export function copyName(path: string, date: string, host: string, taken: (path: string) => boolean): string {
  const slash = path.lastIndexOf("/") + 1;
  const [folder, name] = [path.slice(0, slash), path.slice(slash)];
  const dot = name.lastIndexOf(".");
  const isExtension = dot > 0 && name.length - dot <= EXTENSION_MAX;
  const [stem, extension] = isExtension ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  for (let number = 1;; number++) {
    const mark = `conflict ${date} ${host}${number === 1 ? "" : ` ${number}`}`;
    const end = ` (${mark})${extension}`;
    const room = Math.min(NAME_BYTES_MAX, PATH_BYTES_MAX - bytesOf(folder)) - bytesOf(end);
    const copy = folder + cut(stem, room) + end;
    if (!taken(copy)) return copy;
  }
}

/** Name of one file on almost all disks, in bytes of UTF-8. */
const NAME_BYTES_MAX = 255;
/** Characters of an extension with its dot; what is longer is a part of the name. */
const EXTENSION_MAX = 32;
