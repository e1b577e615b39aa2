/** The expected answers of the reading operations, computed from the model's files. */
import { isInBranch } from "./model_branches.ts";
import { compareUtf8, isBinaryType, linesOf } from "./model_content.ts";
import {
  type File,
  kept,
  type Model,
  notFound,
  type Refused,
  refused,
  unreadable,
  type Version,
} from "./model.ts";

export interface Read {
  readonly kind: "read";
  readonly path: string;
  readonly version?: number | undefined;
  readonly as: "json" | "raw";
  readonly encoding?: "utf8" | "base64" | undefined;
  readonly lines?: { readonly from: number; readonly to?: number } | { readonly last: number } | undefined;
  /** For a raw read: first and last byte, either of them optional. */
  readonly range?: { readonly first?: number; readonly last?: number } | undefined;
  readonly ifRange?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

export interface Metadata {
  readonly kind: "metadata";
  readonly path: string;
  readonly version?: number | undefined;
  readonly ifNoneMatch?: string | undefined;
}

export interface Versions {
  readonly kind: "versions";
  readonly path: string;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

export interface Diff {
  readonly kind: "diff";
  readonly path: string;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface List {
  readonly kind: "list";
  readonly directory?: string | undefined;
  readonly recursive?: boolean | undefined;
  readonly deleted?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly sortBy?: "path" | "created_at" | "updated_at" | "size" | undefined;
  readonly sortOrder?: "asc" | "desc" | undefined;
  readonly after?: string | undefined;
  readonly contentType?: string | undefined;
  readonly minSize?: number | undefined;
  readonly maxSize?: number | undefined;
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly updatedAfter?: string | undefined;
  readonly updatedBefore?: string | undefined;
}

export interface Data {
  readonly data: Readonly<Record<string, unknown>>;
  readonly etag?: string | undefined;
}
export interface Bytes {
  readonly bytes: Uint8Array;
  readonly status: 200 | 206;
  readonly headers: Readonly<Record<string, string>>;
}
export interface NotModified {
  readonly notModified: string;
}
/** The service's diff, applied to `before`, must give `after`. */
export interface Compared {
  readonly from: number;
  readonly to: number;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

/** The record of the file at one of its versions, as sent over the wire. */
export function recordOf(file: File, version: Version): Record<string, unknown> {
  return {
    id: file.id,
    path: file.path,
    version: version.version,
    mimeType: version.type,
    size: version.bytes.length,
    createdAt: file.createdAt,
    updatedAt: version.at,
    ...(version.deleted && { deleted: true }),
  };
}

export function tagOf(file: File, version: Version, representation: "j" | "r" | "m"): string {
  return `"${file.id}.${version.version}.${representation}"`;
}

/** The version to read: the latest, or the requested one. */
function find(model: Model, path: string, number: number | undefined): Refused | [File, Version] {
  const file = model.files.get(path);
  if (!file) return notFound(undefined);
  const latest = file.versions.length;
  const refusal = number === undefined || number === latest ? undefined : unreadable(file, number);
  const version = file.versions[(number ?? latest) - 1];
  if (refusal || !version) return refusal ?? notFound(undefined);
  return version.deleted ? notFound(version) : [file, version];
}

function isKnown(tag: string, ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch === "*" ||
    (ifNoneMatch?.split(",").some((one) => one.trim().replace(/^W\//, "") === tag) ?? false);
}

export function metadata(model: Model, asked: Metadata): Refused | NotModified | Data {
  const found = find(model, asked.path, asked.version);
  if ("refused" in found) return found;
  const tag = tagOf(...found, "m");
  return isKnown(tag, asked.ifNoneMatch) ? { notModified: tag } : { data: recordOf(...found), etag: tag };
}

export function read(model: Model, asked: Read): Refused | NotModified | Data | Bytes {
  const found = find(model, asked.path, asked.version);
  if ("refused" in found) return found;
  const [file, version] = found;
  const isRaw = asked.as === "raw" && asked.lines === undefined;
  const tag = tagOf(file, version, isRaw ? "r" : "j");
  if (isKnown(tag, asked.ifNoneMatch)) return { notModified: tag };
  return isRaw ? rawAnswer(asked, version, tag) : jsonAnswer(asked, file, version, tag);
}

function jsonAnswer(asked: Read, file: File, version: Version, etag: string): Refused | Data {
  const { encoding, lines } = asked;
  const details = { version: version.version };
  if ((encoding === "utf8" || lines) && !version.isText) return refused("NOT_TEXT", details);
  let bytes = version.bytes;
  let window = {};
  if (lines) {
    const all = linesOf(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
    const startLine = "last" in lines ? Math.max(1, all.length - lines.last + 1) : lines.from;
    const endLine = "last" in lines ? all.length : Math.min(lines.to ?? Infinity, all.length);
    if (startLine > all.length) return refused("RANGE_NOT_SATISFIABLE", details);
    window = { startLine, endLine, totalLines: all.length };
    bytes = new TextEncoder().encode(all.slice(startLine - 1, endLine).join(""));
  }
  const isBase64 = encoding ? encoding === "base64" : !version.isText || isBinaryType(version.type);
  const content = isBase64
    ? { content: bytes.toBase64(), isBase64: true }
    : { content: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) };
  return { data: { ...recordOf(file, version), ...window, ...content }, etag };
}

function rawAnswer({ range, ifRange }: Read, version: Version, etag: string): Refused | Bytes {
  const { bytes, type } = version;
  const size = bytes.length;
  const isTextual = type.startsWith("text/") && version.isText;
  const headers = { etag, "content-type": isTextual ? `${type}; charset=utf-8` : type };
  if (!range || (ifRange !== undefined && ifRange !== etag)) return { bytes, status: 200, headers };
  const { first, last } = range;
  const start = first ?? Math.max(0, size - (last ?? 0));
  const end = first === undefined || last === undefined ? size : Math.min(last + 1, size);
  if (first !== undefined && last !== undefined && last < first) return { bytes, status: 200, headers };
  if (start >= size) return refused("RANGE_NOT_SATISFIABLE", { sizeBytes: size });
  return {
    bytes: bytes.subarray(start, end),
    status: 206,
    headers: { ...headers, "content-range": `bytes ${start}-${end - 1}/${size}` },
  };
}

export function versions(model: Model, { path, limit = 10, offset = 0 }: Versions): Refused | Data {
  const file = model.files.get(path);
  const latest = file?.versions.at(-1);
  if (!file || !latest) return notFound(undefined);
  const page = kept(file).toReversed().slice(offset, offset + limit).map((version) => ({
    version: version.version,
    size: version.bytes.length,
    createdAt: version.at,
    updatedAt: version.at,
    ...(version.deleted && { deleted: true }),
    ...(version.redacted && { redacted: true }),
    operation: version.operation,
    ...(version.from && { from: version.from }),
    ...(version.run !== undefined && { runId: version.run }),
  }));
  const total = kept(file).length;
  return { data: { file: { path, mimeType: latest.type }, versions: page, total, limit, offset } };
}

export function diff(model: Model, asked: Diff): Refused | Compared {
  const file = model.files.get(asked.path);
  if (!file) return notFound(undefined);
  const latestVersion = file.versions.length;
  const to = asked.to ?? latestVersion;
  const from = asked.from ?? to - 1;
  if (to > latestVersion || from > latestVersion) return refused("VERSION_NOT_FOUND", { latestVersion });
  for (const number of [from, to]) {
    const refusal = number > 0 ? unreadable(file, number) : undefined;
    if (refusal) return refusal;
  }
  const sides = [from, to].map((number) => file.versions[number - 1]);
  if (sides.some((side) => side && (!side.isText || isBinaryType(side.type)))) return refused("NOT_TEXT");
  const [before, after] = sides.map((side) => side?.bytes ?? new Uint8Array());
  return { from, to, before: before ?? new Uint8Array(), after: after ?? new Uint8Array() };
}

export function list(model: Model, asked: List): Data {
  const { recursive = false, deleted = false, limit = 10, offset = 0, sortBy = "path", sortOrder = "asc" } =
    asked;
  const directory = (asked.directory ?? "/").replace(/^\/+|\/+$/g, "");
  const prefix = directory === "" ? "" : `${directory}/`;
  const all = [...model.files.values()].flatMap((file) => {
    const latest = file.versions.at(-1);
    const isShown = file.path.startsWith(prefix) && isInBranch(file) === isInBranch({ path: prefix });
    return latest && latest.deleted === deleted && isShown ? [{ file, latest }] : [];
  });
  const inside = all.filter(({ file }) => recursive || !file.path.slice(prefix.length).includes("/"));
  const matching = inside.filter(({ file, latest }) =>
    latest.type === (asked.contentType ?? latest.type) &&
    latest.bytes.length >= (asked.minSize ?? 0) && latest.bytes.length <= (asked.maxSize ?? Infinity) &&
    file.createdAt > (asked.createdAfter ?? "") && file.createdAt < (asked.createdBefore ?? "9") &&
    latest.at > (asked.updatedAfter ?? "") && latest.at < (asked.updatedBefore ?? "9")
  );
  const direction = sortOrder === "asc" ? 1 : -1;
  const sortKey = ({ file, latest }: (typeof all)[number]): string | number =>
    sortBy === "size" ? latest.bytes.length : sortBy === "created_at" ? file.createdAt : latest.at;
  const sorted = matching.toSorted((a, b) => {
    const byPath = compareUtf8(a.file.path, b.file.path);
    if (sortBy === "path") return direction * byPath;
    const [first, second] = [sortKey(a), sortKey(b)];
    return first === second ? byPath : direction * (first < second ? -1 : 1);
  });
  const { after } = asked;
  const rest = after === undefined
    ? sorted
    : sorted.filter(({ file }) => direction * compareUtf8(file.path, after) > 0);
  const folders = all.map(({ file }) => file.path.slice(prefix.length).split("/"))
    .flatMap(([first, ...below]) => first !== undefined && below.length > 0 ? [first] : []);
  return {
    data: {
      files: rest.slice(offset, offset + limit).map(({ file, latest }) => recordOf(file, latest)),
      ...(!recursive && { directories: [...new Set(folders)].sort(compareUtf8) }),
      total: after === undefined ? matching.length : null,
      limit,
      offset,
      hasMore: rest.length > offset + limit,
    },
  };
}
