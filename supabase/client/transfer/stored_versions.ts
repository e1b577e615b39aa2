/** Lists the files of a project and their versions for an export, page by page in order of path. */
import { type Api, type Call, fileAddress } from "../library/api.ts";
import { FilestoreError } from "../library/errors.ts";
import type { ChangePage, FileList, Version, VersionList } from "../library/records.ts";
import { PAGE, TRANSFERS_AT_ONCE } from "../limits.ts";
import { inOrder } from "./in_order.ts";
import { comparePaths } from "./manifest.ts";

/** One version to export. */
export interface VersionToExport {
  readonly path: string;
  readonly version: Version;
  /** Whether it is the latest version of its file at the moment of the export. */
  readonly isLast: boolean;
}

export interface Selection {
  /** "" is the root. */
  readonly directory: string;
  /** The moment of the export: a time or a cursor. */
  readonly at: string;
  readonly hasHistory: boolean;
}

/** The cursor of the present. */
export async function presentOf(api: Api): Promise<string> {
  return (await api.data<ChangePage>("/changes", { query: { after: "now" } })).cursor;
}

/** Estimates the number of files of an export from the present number. */
export async function countFiles(api: Api, { directory, hasHistory }: Selection): Promise<number> {
  const count = async (deleted: string) =>
    (await api.data<FileList>("/files", listing({ directory, limit: 1, deleted }))).total ?? 0;
  return await count("false") + (hasHistory ? await count("true") : 0);
}

export interface Sources {
  /** Called with each file whose version of that moment was erased. */
  readonly onGone: (path: string) => void;
  /** Only files after this path. */
  readonly after: string | undefined;
}

/** The versions of a selection, by path and number. */
export async function* versionsToExport(
  api: Api,
  selection: Selection,
  sources: Sources,
): AsyncGenerator<VersionToExport, void, void> {
  const paths = selection.hasHistory
    ? merged(pathsOf(api, selection, sources, "false"), pathsOf(api, selection, sources, "true"))
    : pathsOf(api, selection, sources);
  const opened = inOrder(paths, TRANSFERS_AT_ONCE, async (path) => ({
    path,
    page: await versionsOf(api, path, selection, 0).catch((error) => {
      if (!(error instanceof FilestoreError) || error.code !== "FILE_NOT_FOUND") throw error;
      if (error.details["trimmed"] !== undefined) sources.onGone(path);
      return null;
    }),
  }));
  for await (const { path, page } of opened) {
    if (page === null) continue;
    yield* ascending(api, path, page, selection);
  }
}

/** Yields the versions of a file, the oldest first. Holds one page. */
async function* ascending(api: Api, path: string, first: VersionList, selection: Selection) {
  let last = 0;
  const newest = first.versions[0]?.version;
  const pages = selection.hasHistory ? Math.ceil(first.total / PAGE) : 1;
  for (let index = pages - 1; index >= 0; index--) {
    const page = index === 0 ? first : await versionsOf(api, path, selection, index * PAGE);
    for (const version of page.versions.toReversed()) {
      if (version.version <= last) continue;
      last = version.version;
      yield { path, version, isLast: version.version === newest };
    }
  }
}

function versionsOf(api: Api, path: string, { at, hasHistory }: Selection, offset: number) {
  const query = { versions: "", limit: hasHistory ? PAGE : 1, offset, at };
  return api.data<VersionList>(fileAddress(path), { query });
}

function listing({ directory, ...query }: NonNullable<Call["query"]>): Call {
  return { query: { recursive: "true", directory: directory === "" ? "/" : directory, ...query } };
}

/** The paths of files at the selection's moment, or with `deleted` of files that are live or deleted now. */
async function* pathsOf(
  api: Api,
  { directory, at }: Selection,
  { onGone, after }: Sources,
  deleted?: "true" | "false",
): AsyncGenerator<string, void, void> {
  const which = deleted === undefined ? { at } : { deleted };
  for (let from = after;;) {
    const page: FileList = await api.data<FileList>(
      "/files",
      listing({ directory, limit: PAGE, after: from, ...which }),
    );
    for (const path of page.trimmed ?? []) onGone(path);
    for (const { path } of page.files) yield path;
    if (!page.hasMore) return;
    from = page.next ?? page.files.at(-1)?.path;
  }
}

/** Merges two sorted streams of paths; yields each path once. */
async function* merged(
  left: AsyncGenerator<string, void, void>,
  right: AsyncGenerator<string, void, void>,
): AsyncGenerator<string, void, void> {
  let [a, b] = [await left.next(), await right.next()];
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : comparePaths(a.value, b.value);
    const path = order <= 0 ? a.value : b.value;
    if (path !== undefined) yield path;
    if (order <= 0) a = await left.next();
    if (order >= 0) b = await right.next();
  }
}
