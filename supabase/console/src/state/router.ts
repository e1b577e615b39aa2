/** The router. The current place is stored in the fragment of the address, so that any static host can serve the page. */
import * as z from "zod/mini";
import { computed, signal } from "@preact/signals";
import { encodePath } from "../format.ts";
import { arrive, leave, stay } from "./visits.ts";

const text = lenient(z.string().check(z.minLength(1)));
const number = lenient(z.pipe(z.string().check(z.regex(/^[1-9]\d{0,9}$/)), z.transform(Number)));
const flag = lenient(z.pipe(z.string(), z.transform((value) => value === "true")));
/** A local time as a form has it: `2026-11-23T09:30`. */
const localTime = lenient(z.string().check(z.refine((value) => !Number.isNaN(Date.parse(value)))));
/** An ISO time in UTC, at which the project is shown as it was. */
const moment = lenient(
  z.string().check(
    z.regex(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    z.refine((value) => !Number.isNaN(Date.parse(value))),
  ),
);
const nothing = z.object({});

/** The parameters of each place in its address. `first` is the number of entries before the page, `after` its cursor. */
const QUERIES = {
  files: z.object({
    sort: lenient(z.enum(["path", "updated_at", "size"])),
    order: lenient(z.enum(["asc", "desc"])),
    /** Only names that contain it. */
    filter: text,
    first: number,
    /** The last path of the page before, if the list is by path: with a cursor, every page costs the same. */
    after: text,
    at: moment,
  }),
  file: z.object({
    tab: z.catch(z.enum(["content", "edit", "history", "compare"]), "content"),
    version: number,
    /** `12`, or `12-20`. */
    line: text,
    /** The text as it is stored, where it would be shown in another form. */
    show: lenient(z.literal("source")),
    /** The heading of a document to show. */
    heading: text,
    /** The end of the text is shown, and what is appended to it. */
    follow: flag,
    from: number,
    to: number,
    /** The other file of a comparison. */
    toPath: text,
    at: moment,
    first: number,
  }),
  search: z.object({
    q: z.catch(z.string(), ""),
    mode: lenient(z.enum(["text", "regex", "semantic", "hybrid"])),
    directory: text,
    glob: text,
    caseSensitive: flag,
    first: number,
  }),
  deleted: z.object({ first: number }),
  activity: z.object({
    /** The cursor of the page before, which was newer. */
    before: text,
    keyId: text,
    actor: text,
    run: text,
    directory: text,
    operation: text,
    since: localTime,
    until: localTime,
  }),
  runs: z.object({ after: text }),
  run: z.object({ after: text }),
  connect: nothing,
  keys: nothing,
  links: nothing,
  settings: nothing,
};

/** Values that are left out of an address. */
const DEFAULTS: Readonly<Record<string, string>> = {
  sort: "path",
  order: "asc",
  tab: "content",
  mode: "text",
};

type Query<Name extends keyof typeof QUERIES> = Readonly<z.infer<(typeof QUERIES)[Name]>>;

interface InProject<Name> {
  readonly name: Name;
  readonly projectId: string;
}

export type FilesPlace = InProject<"files"> & { readonly directory: string } & Query<"files">;
export type FilePlace = InProject<"file"> & { readonly path: string } & Omit<Query<"file">, "line"> & Lines;
export type SearchPlace = InProject<"search"> & Query<"search">;
export type DeletedPlace = InProject<"deleted"> & Query<"deleted">;
export type RunsPlace = InProject<"runs"> & Query<"runs">;
export type RunPlace = InProject<"run"> & { readonly runId: string } & Query<"run">;
export type ActivityPlace = InProject<"activity"> & Query<"activity">;
export type FileTab = FilePlace["tab"];
export type SearchMode = NonNullable<SearchPlace["mode"]>;

export type Place =
  | { readonly name: "home" }
  | FilesPlace
  | FilePlace
  | SearchPlace
  | DeletedPlace
  | ActivityPlace
  | RunsPlace
  | RunPlace
  | InProject<"connect" | "keys" | "links" | "settings">;

const hash = signal(globalThis.location.hash);

export const place = computed(() => placeOf(hash.value));

globalThis.addEventListener("hashchange", () => {
  const before = hash.value;
  leave();
  hash.value = globalThis.location.hash;
  arrive(before);
});

globalThis.addEventListener("popstate", () => {
  if (globalThis.location.hash === hash.value) stay();
});

/** Called when the session is open: a sign-in link has another address than the place that it leads to. */
export function readAddress(): void {
  hash.value = globalThis.location.hash;
}

export function goTo(next: Place): void {
  globalThis.location.hash = hrefOf(next);
}

/**
 * Navigates without an entry in the browser's history. Does nothing while the browser goes to another place: a view that
 * calls this late, such as after a pause, means an entry that is no longer the latest.
 */
export function replaceWith(next: Place): void {
  if (globalThis.location.hash !== hash.value) return;
  history.replaceState(history.state, "", hrefOf(next));
  hash.value = globalThis.location.hash;
}

export function hrefOf(next: Place): string {
  if (next.name === "home") return "#/";
  const values = new Map<string, unknown>(
    Object.entries(next.name === "file" ? { ...next, line: linesText(next) } : next),
  );
  const query = new URLSearchParams();
  for (const name of Object.keys(QUERIES[next.name].shape)) {
    const value = values.get(name);
    if (value && value !== DEFAULTS[name]) query.set(name, String(value));
  }
  const tail = tailOf(next);
  const path = `#/p/${encodeURIComponent(next.projectId)}/${next.name}${tail && `/${encodePath(tail)}`}`;
  return query.size === 0 ? path : `${path}?${query}`;
}

/** The part of the address that may have slashes. */
function tailOf(next: Place): string {
  if (next.name === "files") return next.directory;
  if (next.name === "file") return next.path;
  return next.name === "run" ? next.runId : "";
}

function placeOf(address: string): Place {
  const [path = "", parameters = ""] = splitOnce(address.replace(/^#\/?/, ""), "?");
  const [head, projectId = "", name, ...segments] = path.split("/").map(decode);
  if (head !== "p" || projectId === "") return { name: "home" };
  const query = Object.fromEntries(new URLSearchParams(parameters));
  const tail = segments.join("/");
  if (name === "connect" || name === "keys" || name === "links" || name === "settings") {
    return { name, projectId };
  }
  if (name === "deleted") return { name, projectId, ...QUERIES.deleted.parse(query) };
  if (name === "activity") return { name, projectId, ...QUERIES.activity.parse(query) };
  if (name === "runs") return { name, projectId, ...QUERIES.runs.parse(query) };
  if (name === "run" && tail !== "") return { name, projectId, runId: tail, ...QUERIES.run.parse(query) };
  if (name === "search") return { name, projectId, ...QUERIES.search.parse(query) };
  if (name === "file" && tail !== "") {
    const { line, ...rest } = QUERIES.file.parse(query);
    return { name, projectId, path: tail, ...rest, ...linesOf(line) };
  }
  return { name: "files", projectId, directory: tail, ...QUERIES.files.parse(query) };
}

/** A parameter that is missing where its text is not valid. */
function lenient<T extends z.ZodMiniType>(schema: T) {
  return z.catch(z.optional(schema), undefined);
}

/** Nothing unless the text begins with the number of a line. */
function linesOf(range = ""): Lines {
  const [line, last] = range.split("-").map((part) => number.parse(part));
  return line === undefined ? {} : linesBetween(line, last);
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function splitOnce(whole: string, separator: string): string[] {
  const index = whole.indexOf(separator);
  return index < 0 ? [whole] : [whole.slice(0, index), whole.slice(index + 1)];
}

export interface Lines {
  readonly line?: number | undefined;
  /** The last of several; only with `line`, and greater. */
  readonly lastLine?: number | undefined;
}

/** `12`, or `12-20`. */
export function linesText({ line, lastLine }: Lines): string | undefined {
  if (line === undefined) return undefined;
  return lastLine === undefined ? String(line) : `${line}-${lastLine}`;
}

/** Of both ends, whatever their order. */
export function linesBetween(one: number, other = one): Lines {
  const [line, last] = [Math.min(one, other), Math.max(one, other)];
  return { line, lastLine: line === last ? undefined : last };
}
