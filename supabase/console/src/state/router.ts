/// <reference lib="dom" />
/** The router. The current place is stored in the fragment of the address, so that any static host can serve the page. */
import { computed, signal } from "@preact/signals";
import type { SortField, SortOrder } from "../api/files.ts";
import { encodePath } from "../format.ts";
import { type Lines, linesBetween, linesText } from "./lines.ts";
import { arrive, leave, stay } from "./visits.ts";

export type FileTab = "content" | "edit" | "history" | "compare";
export type SearchMode = "text" | "regex" | "semantic" | "hybrid";

export interface FilesPlace {
  readonly name: "files";
  readonly projectId: string;
  readonly directory: string;
  /** Default: by path. */
  readonly sort?: SortField | undefined;
  /** Default: ascending. */
  readonly order?: SortOrder | undefined;
  /** Only names that contain it. */
  readonly filter?: string | undefined;
  /** Number of files before the page. */
  readonly first?: number | undefined;
  /** The last path of the page before, if the list is by path: with a cursor, every page costs the same. */
  readonly after?: string | undefined;
  /** The folder as it was then: an ISO time. */
  readonly at?: string | undefined;
}

export interface FilePlace {
  readonly name: "file";
  readonly projectId: string;
  readonly path: string;
  readonly tab: FileTab;
  readonly version?: number | undefined;
  /** Line of the text to show, from 1. */
  readonly line?: number | undefined;
  /** The last of several lines; only with `line`, and greater. */
  readonly lastLine?: number | undefined;
  /** The text as it is stored, where it would be shown in another form. */
  readonly show?: "source" | undefined;
  /** The heading of a document to show. */
  readonly heading?: string | undefined;
  /** The end of the text is shown, and what is appended to it. */
  readonly follow?: boolean | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** The other file of a comparison. */
  readonly toPath?: string | undefined;
  /** The file as it was then: an ISO time. */
  readonly at?: string | undefined;
  /** Number of versions before the page of the history. */
  readonly first?: number | undefined;
}

export interface SearchPlace {
  readonly name: "search";
  readonly projectId: string;
  readonly q: string;
  /** Default: `text`. */
  readonly mode?: SearchMode | undefined;
  readonly directory?: string | undefined;
  readonly glob?: string | undefined;
  readonly caseSensitive?: boolean | undefined;
  /** Number of results before the page. */
  readonly first?: number | undefined;
}

export interface DeletedPlace {
  readonly name: "deleted";
  readonly projectId: string;
  /** Number of files before the page. */
  readonly first?: number | undefined;
}

export interface RunsPlace {
  readonly name: "runs";
  readonly projectId: string;
  /** The cursor of the page before. */
  readonly after?: string | undefined;
}

export interface RunPlace {
  readonly name: "run";
  readonly projectId: string;
  readonly runId: string;
  /** The last file of the page before. */
  readonly after?: string | undefined;
}

export interface ActivityPlace {
  readonly name: "activity";
  readonly projectId: string;
  /** The cursor of the page before, which was newer. */
  readonly before?: string | undefined;
  readonly keyId?: string | undefined;
  readonly actor?: string | undefined;
  readonly run?: string | undefined;
  readonly directory?: string | undefined;
  readonly operation?: string | undefined;
  /** Local times as a form has them: `2026-11-23T09:30`. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

export type Section = "connect" | "keys" | "links" | "settings";

export type Place =
  | { readonly name: "home" }
  | FilesPlace
  | FilePlace
  | SearchPlace
  | DeletedPlace
  | ActivityPlace
  | RunsPlace
  | RunPlace
  | { readonly name: Section; readonly projectId: string };

const SECTIONS: readonly Section[] = ["connect", "keys", "links", "settings"];
const TABS: readonly FileTab[] = ["content", "edit", "history", "compare"];
const SORTS = ["path", "updated_at", "size"] as const;
const MODES: readonly SearchMode[] = ["text", "regex", "semantic", "hybrid"];

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
 * Navigates without an entry in the browser's history. Nothing, where the browser is on its way to another place: what a
 * view then does late, such as after a pause, is about an entry that is no longer the latest.
 */
export function replaceWith(next: Place): void {
  if (globalThis.location.hash !== hash.value) return;
  history.replaceState(history.state, "", hrefOf(next));
  hash.value = globalThis.location.hash;
}

export function hrefOf(next: Place): string {
  if (next.name === "home") return "#/";
  const start = `#/p/${encodeURIComponent(next.projectId)}/${next.name}`;
  switch (next.name) {
    case "files": {
      const { sort, order, filter, first, after, at } = next;
      const query = queryText({
        sort: sort === "path" ? undefined : sort,
        order: order === "asc" ? undefined : order,
        filter,
        first,
        after,
        at,
      });
      return `${start}${next.directory === "" ? "" : `/${encodePath(next.directory)}`}${query}`;
    }
    case "file": {
      const { tab, version, show, heading, from, to, toPath, at, first } = next;
      const shown = tab === "content" ? undefined : tab;
      const follow = next.follow ? "true" : undefined;
      const query = queryText({
        tab: shown,
        version,
        line: linesText(next),
        show,
        heading,
        follow,
        from,
        to,
        toPath,
        at,
        first,
      });
      return `${start}/${encodePath(next.path)}${query}`;
    }
    case "search": {
      const { q, mode, directory, glob, caseSensitive, first } = next;
      const isCaseSensitive = caseSensitive ? "true" : undefined;
      return start + queryText({
        q,
        mode: mode === "text" ? undefined : mode,
        directory,
        glob,
        caseSensitive: isCaseSensitive,
        first,
      });
    }
    case "deleted":
      return start + queryText({ first: next.first });
    case "activity": {
      const { name: _, projectId: __, ...query } = next;
      return start + queryText(query);
    }
    case "runs":
      return start + queryText({ after: next.after });
    case "run":
      return `${start}/${encodeURIComponent(next.runId)}${queryText({ after: next.after })}`;
    default:
      return start;
  }
}

/** Leaves out what is undefined, empty or 0: the defaults. */
function queryText(values: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value) query.set(name, String(value));
  return query.size === 0 ? "" : `?${query}`;
}

function placeOf(text: string): Place {
  const [path = "", queryText = ""] = splitOnce(text.replace(/^#\/?/, ""), "?");
  const [head, id, name, ...segments] = path.split("/").map(decode);
  const projectId = id ?? "";
  if (head !== "p" || projectId === "") return { name: "home" };
  const query = new URLSearchParams(queryText);
  const rest = segments.join("/");
  const section = SECTIONS.find((one) => one === name);
  if (section !== undefined) return { name: section, projectId };
  const first = numberOf(query.get("first"));
  const after = query.get("after") ?? undefined;
  if (name === "deleted") return { name, projectId, first };
  if (name === "activity") return { name, projectId, ...activityQuery(query) };
  if (name === "runs") return { name, projectId, after };
  if (name === "run" && rest !== "") return { name, projectId, runId: rest, after };
  if (name === "search") return { name, projectId, first, ...searchQuery(query) };
  if (name === "file" && rest !== "") return { name, projectId, path: rest, first, ...fileQuery(query) };
  return { name: "files", projectId, directory: rest, first, ...filesQuery(query) };
}

function activityQuery(query: URLSearchParams) {
  const text = (name: string) => query.get(name) || undefined;
  return {
    before: text("before"),
    keyId: text("keyId"),
    actor: text("actor"),
    run: text("run"),
    directory: text("directory"),
    operation: text("operation"),
    since: localTime(text("since")),
    until: localTime(text("until")),
  };
}

/** Undefined for what a form could not hold. */
function localTime(text: string | undefined): string | undefined {
  return text !== undefined && Number.isFinite(new Date(text).getTime()) ? text : undefined;
}

function filesQuery(query: URLSearchParams) {
  return {
    sort: SORTS.find((one) => one === query.get("sort")),
    order: query.get("order") === "desc" ? "desc" as const : undefined,
    filter: query.get("filter") ?? undefined,
    after: query.get("after") ?? undefined,
    at: momentOf(query.get("at")),
  };
}

function fileQuery(query: URLSearchParams) {
  return {
    tab: TABS.find((one) => one === query.get("tab")) ?? "content",
    version: numberOf(query.get("version")),
    ...linesOf(query.get("line")),
    show: query.get("show") === "source" ? "source" as const : undefined,
    heading: query.get("heading") ?? undefined,
    follow: query.get("follow") === "true" || undefined,
    from: numberOf(query.get("from")),
    to: numberOf(query.get("to")),
    toPath: query.get("toPath") ?? undefined,
    at: momentOf(query.get("at")),
  };
}

function searchQuery(query: URLSearchParams) {
  return {
    q: query.get("q") ?? "",
    mode: MODES.find((one) => one === query.get("mode")),
    directory: query.get("directory") ?? undefined,
    glob: query.get("glob") ?? undefined,
    caseSensitive: query.get("caseSensitive") === "true",
  };
}

/** Nothing unless the text begins with a number of a line. */
function linesOf(text: string | null): Lines {
  const [line, last] = (text ?? "").split("-").map(numberOf);
  return line === undefined ? { line } : linesBetween(line, last);
}

/** Undefined unless the text is a whole number of at least 1. */
function numberOf(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
}

/** Undefined unless the text is an ISO time in UTC. */
function momentOf(text: string | null): string | undefined {
  const isMoment = text !== null && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) &&
    !Number.isNaN(Date.parse(text));
  return isMoment ? text : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function splitOnce(text: string, separator: string): string[] {
  const index = text.indexOf(separator);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}
