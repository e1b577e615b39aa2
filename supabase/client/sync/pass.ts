/** One pass of a sync: compares both sides with what they last had in common, and makes them equal. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { mergeLines } from "../../functions/api/files/merge_lines.ts";
import { Work } from "../../functions/api/runtime/work.ts";
import { Failure } from "../failure.ts";
import { FilestoreError, messageOf } from "../library/errors.ts";
import { SYNC_MERGE_BYTES, TRANSFERS_AT_ONCE } from "../limits.ts";
import { inOrder } from "../transfer/in_order.ts";
import { type Download, download, type Wanted } from "./downloads.ts";
import type { Local, LocalFolder, Scan } from "./local_folder.ts";
import { copyName, isSuspicious, type Mode, type Remote, type Step, stepOf } from "./plan.ts";
import type { RemoteFiles, RemoteFolder } from "./remote.ts";
import { hasRules } from "./rules.ts";
import type { Known, State } from "./state.ts";
import { type Sent, textOf, type Upload, Uploads } from "./uploads.ts";

export type ActionName =
  | "upload"
  | "download"
  | "merge"
  | "conflict"
  | "deleteLocal"
  | "deleteRemote"
  | "skip";

export interface Action {
  readonly action: ActionName;
  readonly path: string;
  readonly version?: number;
  /** Why it is left out, or the name of the copy of a conflict. */
  readonly reason?: string;
}

export interface PassOptions {
  readonly mode: Mode;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly report: (action: Action) => Promise<void>;
}

/** Both sides of a path, and what they last had in common. */
interface Place {
  readonly path: string;
  readonly step: Step;
  readonly local: Local | null;
  readonly remote: Remote | null;
  readonly known: Known | null;
}

export interface Outcome {
  /** Conflicts that are left, and changes that this mode does not send. */
  readonly left: number;
  /** Files that somebody has changed meanwhile. */
  readonly again: readonly string[];
  readonly cursor: string;
}

/** Why `--push` leaves a file alone. */
const HELD = "changed in the service";

export class Pass {
  #left = 0;
  readonly #again: string[] = [];
  /** Files whose change in the service was left out. The feed does not name it again, so the next pass lists all files. */
  #notHeld = 0;
  readonly #uploads: Uploads;

  constructor(
    private readonly folder: LocalFolder,
    private readonly remote: RemoteFolder,
    private readonly state: State,
    private readonly options: PassOptions,
  ) {
    this.#uploads = new Uploads(remote, folder, state, (upload, sent) => this.#sent(upload, sent));
  }

  async run(): Promise<Outcome> {
    let scan = await this.folder.scan(this.state.known);
    let files = await this.#remoteFiles(scan);
    // Rules come first, since they decide about the rest.
    const rules = this.#places(scan, files).places
      .filter(({ path, step }) => step === "download" && hasRules(path));
    if (rules.length > 0 && !this.options.dryRun) {
      for (const place of rules) await this.#bring(place, await this.#download(place.path, place.remote));
      scan = await this.folder.scan(this.state.known);
      files = await this.#remoteFiles(scan);
    }
    const { places, leftOut } = this.#places(scan, files);
    this.#notHeld += leftOut;
    this.#guard(places);
    for (const [path, reason] of scan.leftOut) await this.#say({ action: "skip", path, reason });
    if (this.options.dryRun) await this.#preview(places);
    else await this.#apply(places, scan, files);
    const isWhole = this.#again.length === 0 && this.options.mode !== "push";
    if (!this.options.dryRun && isWhole) {
      this.state.finish(this.#notHeld > 0 ? null : files.cursor, scan.rules.digest);
    }
    return { left: this.#left, again: this.#again, cursor: files.cursor };
  }

  async #remoteFiles(scan: Scan): Promise<RemoteFiles> {
    const { cursor, rules, known } = this.state;
    if (cursor === null || rules !== scan.rules.digest) return await this.remote.list();
    return await this.remote.since(cursor, known);
  }

  /** What is to be done, and how many paths with something to do the disk keeps out of it. */
  #places(
    scan: Scan,
    { files }: RemoteFiles,
  ): { readonly places: readonly Place[]; readonly leftOut: number } {
    const paths = new Set([...scan.files.keys(), ...files.keys(), ...this.state.known.keys()]);
    const all = [...paths].sort().flatMap((path) => {
      const local = scan.files.get(path) ?? null;
      const remote = files.get(path) ?? null;
      const known = this.state.known.get(path) ?? null;
      const step = stepOf(local?.sha256 ?? null, remote, known, this.options.mode);
      return step === "none" || scan.rules.isIgnored(path) ? [] : [{ path, step, local, remote, known }];
    });
    const places = all.filter(({ path }) => !isWithin(path, scan.leftOut));
    return { places, leftOut: all.length - places.length };
  }

  /** Throws `Failure` before anything is changed. */
  #guard(places: readonly Place[]): void {
    const deletions = places.filter(({ step }) => step === "deleteRemote").length;
    if (this.options.force || !isSuspicious(deletions, this.state.known.size)) return;
    throw new Failure(
      `${deletions} of ${this.state.known.size} files are missing in the folder. Nothing was deleted. ` +
        "If they are to be deleted in the service, too, run it with --force.",
    );
  }

  async #preview(places: readonly Place[]): Promise<void> {
    for (const place of places) {
      const { path, step, remote } = place;
      if (step === "upload") await this.#say({ action: "upload", path });
      else if (step === "download" && remote !== null) {
        await this.#say({ action: "download", path, version: remote.version });
      } else if (step === "deleteLocal" || step === "deleteRemote") await this.#say({ action: step, path });
      else if (step === "keepRemote") await this.#say({ action: "conflict", path, reason: HELD });
      else if (step === "compare") await this.#previewBoth(place);
    }
  }

  /** Both sides have changed. */
  async #previewBoth(place: Place): Promise<void> {
    const { path, local, remote } = place;
    const got = await this.#download(path, remote);
    if (got === null || local === null || remote === null) return;
    if (got.sha256 !== local.sha256) {
      const isMerged = this.options.mode !== "push" && await this.#merged(place, got) !== null;
      await this.#say({ action: isMerged ? "merge" : "conflict", path, version: remote.version });
    }
    await rm(got.file);
  }

  async #apply(places: readonly Place[], scan: Scan, files: RemoteFiles): Promise<void> {
    this.#remember(scan);
    const of = (...steps: readonly Step[]) => places.filter(({ step }) => steps.includes(step));
    // What the service has deleted has no base any more, whether it is written again or only kept.
    for (const { path, remote, known } of of("forget", "upload", "keepLocal")) {
      if (remote === null && known !== null) this.state.set(path, null);
    }
    for (const place of of("deleteLocal")) await this.#deleteLocal(place);
    for (const { path } of of("keepRemote")) await this.#keep(path, HELD);
    const copies: Upload[] = [];
    for (const place of of("compare")) {
      const isTaken = (path: string) =>
        scan.files.has(path) || files.files.has(path) || this.folder.stats(path) !== null;
      const upload = await this.#compare(place, isTaken);
      if (upload !== null) copies.push(upload);
    }
    const fetched = inOrder(of("download"), TRANSFERS_AT_ONCE, async (place) => {
      return { place, got: await this.#download(place.path, place.remote) };
    });
    for await (const { place, got } of fetched) {
      await this.#bring(place, got);
      this.state.flush();
    }
    for (const { path, step, local, remote } of of("upload", "deleteRemote")) {
      await this.#uploads.add({ path, local: step === "upload" ? local : null, remote });
    }
    for (const copy of copies) await this.#uploads.add(copy);
    await this.#uploads.flush();
    this.state.flush();
  }

  /** Files that were read although they have not changed need not be read the next time. */
  #remember({ files }: Scan): void {
    for (const [path, { sha256, size, mtime, isRacy }] of files) {
      const known = this.state.known.get(path);
      if (known === undefined || known.sha256 !== sha256 || known.mtime === mtime || isRacy) continue;
      this.state.set(path, { ...known, size, mtime });
    }
  }

  async #deleteLocal({ path, local }: Place): Promise<void> {
    if (!this.folder.isStill(path, local)) return void this.#again.push(path);
    try {
      this.folder.remove(path);
    } catch (error) {
      return await this.#skip(path, messageOf(error));
    }
    this.state.set(path, null);
    await this.#say({ action: "deleteLocal", path });
  }

  async #bring(place: Place, got: Download | null): Promise<void> {
    if (got === null) return;
    if (got.sha256 === place.local?.sha256) await this.#takeOver(place, got);
    else await this.#put(place, got, "download");
  }

  /** The service's version is what the disk has already. */
  async #takeOver({ path, local, remote }: Place, { file, sha256 }: Download): Promise<void> {
    await rm(file);
    if (local === null || remote === null) return;
    const { id, version } = remote;
    this.state.set(path, { id, version, sha256, size: local.size, mtime: local.isRacy ? 0 : local.mtime });
  }

  /** Null: the version was erased, or replaced by another one, and the next pass sees which. */
  async #download(path: string, wanted: Wanted | null): Promise<Download | null> {
    if (wanted === null) return null;
    try {
      return await download(this.remote, this.folder, path, wanted);
    } catch (error) {
      const gone = ["FILE_NOT_FOUND", "VERSION_NOT_FOUND", "VERSION_REDACTED"];
      if (!(error instanceof FilestoreError) || !gone.includes(error.code)) throw error;
      this.#again.push(path);
      return null;
    }
  }

  /**
   * Puts a download in its place, with the mode of the file `like`, unless the file on the disk has changed since it was
   * scanned.
   */
  async #put(
    { path, local, remote }: Place,
    { file, sha256 }: Download,
    action: ActionName,
    like = path,
  ): Promise<void> {
    if (remote === null) return;
    if (!this.folder.isStill(path, local)) {
      await rm(file);
      if (this.folder.isFolder(path)) return await this.#skip(path, "the disk has a folder of this name");
      // Another file may be there under a name that the disk takes for the same.
      if (local === null && this.folder.isOther(path)) {
        return await this.#skip(path, "the disk has a file of another case");
      }
      return void this.#again.push(path);
    }
    try {
      this.folder.place(file, path, like);
    } catch (error) {
      await rm(file, { force: true });
      return await this.#skip(path, messageOf(error));
    }
    const now = this.folder.stats(path);
    const { id, version } = remote;
    this.state.set(path, {
      id,
      version,
      sha256,
      size: now?.size ?? 0,
      mtime: now === null || now.isRacy ? 0 : now.mtime,
    });
    await this.#say({ action, path, version });
  }

  async #skip(path: string, reason: string): Promise<void> {
    this.#notHeld++;
    await this.#say({ action: "skip", path, reason });
  }

  async #keep(path: string, reason: string): Promise<void> {
    this.#left++;
    await this.#say({ action: "conflict", path, reason });
  }

  /** Both sides have changed. Returns what is to be sent. */
  async #compare(place: Place, isTaken: (path: string) => boolean): Promise<Upload | null> {
    const { path, local, remote } = place;
    const got = await this.#download(path, remote);
    if (got === null || local === null || remote === null) return null;
    const { mode } = this.options;
    if (got.sha256 === local.sha256) {
      await this.#takeOver(place, got);
      return null;
    }
    if (mode === "push") {
      await rm(got.file);
      await this.#keep(path, "changed on both sides");
      return null;
    }
    if (await this.#merge(place, got)) return null;
    return await this.#conflict(place, got, isTaken);
  }

  /** Merges two texts by lines. The next pass, which follows at once, sends the result. */
  async #merge(place: Place, got: Download): Promise<boolean> {
    const { path } = place;
    const merged = await this.#merged(place, got);
    if (merged === null) return false;
    await writeFile(got.file, merged.text);
    await this.#put(place, got, "merge");
    const put = this.state.known.get(path);
    // What the disk has refused was said.
    if (put === undefined || put.version !== place.remote?.version) return true;
    this.state.set(path, { ...put, mtime: 0 });
    // What is on the disk now is not what the service has.
    if (this.options.mode === "both" && !merged.isTheirs) this.#again.push(path);
    return true;
  }

  /** The two texts in one, and whether it is the service's; null if they cannot be merged. */
  async #merged(
    { path, local, remote, known }: Place,
    got: Download,
  ): Promise<{ readonly text: string; readonly isTheirs: boolean } | null> {
    if (local === null || remote === null || known === null || known.id !== remote.id) return null;
    if (Math.max(local.size, remote.size) > SYNC_MERGE_BYTES) return null;
    const base = await this.#download(path, { version: known.version, size: null });
    if (base === null) {
      this.#again.pop();
      return null;
    }
    const texts = await Promise.all(
      [base.file, this.folder.at(path), got.file].map(async (file) => textOf(await readFile(file))),
    );
    await rm(base.file);
    const [old, ours, theirs] = texts;
    if (old == null || ours == null || theirs == null) return null;
    const text = await mergeLines(old, ours, theirs, new Work());
    return text === null ? null : { text, isTheirs: text === theirs };
  }

  /** The service's version stays at the path, and what was on the disk is kept beside it. */
  async #conflict(place: Place, got: Download, isTaken: (path: string) => boolean): Promise<Upload | null> {
    const { path, local, remote, known } = place;
    if (!this.folder.isStill(path, local)) {
      await rm(got.file);
      this.#again.push(path);
      return null;
    }
    const now = new Date();
    const host = hostname().replaceAll(/[^\w.-]/g, "-") || "host";
    const copy = copyName(path, now.toISOString().slice(0, 10), host, isTaken);
    const line = {
      path,
      copy,
      base: known?.version ?? null,
      current: remote?.version,
      at: now.toISOString(),
    };
    try {
      this.folder.keepBeside(path, copy, `${JSON.stringify(line)}\n`);
    } catch (error) {
      await rm(got.file);
      await this.#skip(path, messageOf(error));
      return null;
    }
    await this.#say({
      action: "conflict",
      path,
      reason: copy,
      ...remote !== null && { version: remote.version },
    });
    await this.#put({ ...place, local: null }, got, "download", copy);
    this.#left++;
    return this.options.mode === "both" ? { path: copy, local, remote: null } : null;
  }

  async #sent({ path, local }: Upload, sent: Sent): Promise<void> {
    if (sent === "again") this.#again.push(path);
    else if ("refused" in sent) await this.#say({ action: "skip", path, reason: sent.refused });
    else await this.#say({ action: local === null ? "deleteRemote" : "upload", path, version: sent.version });
  }

  #say(action: Action): Promise<void> {
    return this.options.report(action);
  }
}

/** Whether the path, or a folder that it is in, is one of these. */
function isWithin(path: string, those: ReadonlyMap<string, string>): boolean {
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
    if (those.has(path.slice(0, end))) return true;
  }
  return those.has("");
}
