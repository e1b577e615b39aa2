/// <reference lib="dom" />
/** The router. The current place is stored in the fragment of the address, so that any static host can serve the page. */
import { computed, signal } from "@preact/signals";

export type FileTab = "content" | "edit" | "history" | "compare";

export type Place =
  | { readonly name: "home" }
  | { readonly name: "files"; readonly projectId: string; readonly directory: string }
  | {
    readonly name: "file";
    readonly projectId: string;
    readonly path: string;
    readonly tab: FileTab;
    readonly version?: number;
    readonly from?: number;
    readonly to?: number;
  }
  | { readonly name: "search"; readonly projectId: string; readonly q: string }
  | { readonly name: Section; readonly projectId: string };

export type FilePlace = Extract<Place, { name: "file" }>;

export type Section = "deleted" | "activity" | "keys" | "settings";

const SECTIONS: readonly Section[] = ["deleted", "activity", "keys", "settings"];
const TABS: readonly FileTab[] = ["content", "edit", "history", "compare"];

const hash = signal(globalThis.location.hash);

export const place = computed(() => placeOf(hash.value));

globalThis.addEventListener("hashchange", () => hash.value = globalThis.location.hash);

export function goTo(next: Place): void {
  globalThis.location.hash = hrefOf(next);
}

/** Navigates without an entry in the browser's history. */
export function replaceWith(next: Place): void {
  history.replaceState(null, "", hrefOf(next));
  hash.value = globalThis.location.hash;
}

export function hrefOf(next: Place): string {
  if (next.name === "home") return "#/";
  const start = `#/p/${encodeURIComponent(next.projectId)}/${next.name}`;
  if (next.name === "files") return next.directory === "" ? start : `${start}/${encode(next.directory)}`;
  if (next.name === "search") return `${start}?${new URLSearchParams({ q: next.q })}`;
  if (next.name !== "file") return start;
  const query = new URLSearchParams();
  if (next.tab !== "content") query.set("tab", next.tab);
  for (const name of ["version", "from", "to"] as const) {
    const value = next[name];
    if (value !== undefined) query.set(name, String(value));
  }
  return `${start}/${encode(next.path)}${query.size === 0 ? "" : `?${query}`}`;
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
  if (name === "search") return { name, projectId, q: query.get("q") ?? "" };
  if (name === "file" && rest !== "") return { name, projectId, path: rest, ...fileQuery(query) };
  return { name: "files", projectId, directory: rest };
}

function fileQuery(query: URLSearchParams) {
  const tab = TABS.find((one) => one === query.get("tab")) ?? "content";
  const version = versionOf(query.get("version"));
  const from = versionOf(query.get("from"));
  const to = versionOf(query.get("to"));
  return {
    tab,
    ...(version === undefined ? {} : { version }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

function versionOf(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
}

function encode(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
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
