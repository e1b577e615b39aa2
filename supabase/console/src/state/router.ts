/** The router. The current place is stored in the fragment of the address, so that any static host can serve the page. */
import * as z from "zod/mini";
import { computed, signal } from "@preact/signals";
import { encodePath } from "../format.ts";
import { type Lines, linesBetween, linesText } from "./lines.ts";
import { arrive, leave, stay } from "./visits.ts";

const text = lenient(z.string().check(z.minLength(1)));
const number = lenient(z.pipe(z.string().check(z.regex(/^[1-9]\d{0,9}$/)), z.transform(Number)));
const flag = lenient(z.pipe(z.string(), z.transform((value) => value === "true")));
/** A local time as a form field has it: `2026-11-23T09:30`. */
const localTime = lenient(z.string().check(z.refine((value) => !Number.isNaN(Date.parse(value)))));
/** An ISO time in UTC at which the project is shown. */
const moment = lenient(
  z.string().check(
    z.regex(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    z.refine((value) => !Number.isNaN(Date.parse(value))),
  ),
);

/** For each kind of place, the parameter that is the path of the address and may contain slashes. */
const TAILS: Readonly<Record<string, string>> = {
  files: "directory",
  file: "path",
  run: "runId",
  branch: "branch",
};

/** Returns the schema of a place in a project, with its parameters. */
function inProject<Name extends string, Parameters extends z.core.$ZodLooseShape>(
  name: Name,
  parameters: Parameters,
) {
  return z.object({ name: z.literal(name), projectId: z.string().check(z.minLength(1)), ...parameters });
}

/** `first` is the number of entries before the page, and `after` the page's cursor. */
const placeSchema = z.discriminatedUnion("name", [
  inProject("files", {
    directory: z.string(),
    sort: lenient(z.enum(["path", "updated_at", "size"])),
    order: lenient(z.enum(["asc", "desc"])),
    /** Shows only names that contain this text. */
    filter: text,
    first: number,
    /** The last path of the previous page, if the list is sorted by path: with this cursor, every page costs the same. */
    after: text,
    at: moment,
  }),
  inProject("file", {
    path: z.string().check(z.minLength(1)),
    tab: z.catch(z.enum(["content", "edit", "history", "compare"]), "content"),
    version: number,
    /** `12`, or `12-20`. */
    line: lenient(z.pipe(z.string(), z.transform(linesOf))),
    /** Shows the stored text instead of its rendered form. */
    show: lenient(z.literal("source")),
    heading: text,
    /** Shows the end of the text, and then what is appended. */
    follow: flag,
    from: number,
    to: number,
    toPath: text,
    at: moment,
    first: number,
  }),
  inProject("search", {
    q: z.catch(z.string(), ""),
    mode: lenient(z.enum(["text", "regex", "semantic", "hybrid"])),
    directory: text,
    glob: text,
    caseSensitive: flag,
    first: number,
  }),
  inProject("deleted", { first: number }),
  inProject("activity", {
    /** The cursor at which the previous, newer page ended. */
    before: text,
    keyId: text,
    actor: text,
    run: text,
    directory: text,
    operation: text,
    since: localTime,
    until: localTime,
  }),
  inProject("runs", { after: text }),
  inProject("run", { runId: z.string().check(z.minLength(1)), after: text }),
  inProject("branches", {
    state: lenient(z.enum(["open", "ready", "merged", "closed"])),
    after: text,
  }),
  inProject("branch", {
    branch: z.string().check(z.minLength(1)),
    /** The path of the last change on the previous page. */
    after: text,
    /** The path in the branch of the file whose two sides are shown. */
    file: text,
  }),
  inProject("connect", {}),
  inProject("keys", {}),
  inProject("links", {}),
  inProject("settings", { tab: lenient(z.enum(["retention", "members", "webhooks", "account", "danger"])) }),
  /** An address without a view. The project may be empty. */
  inProject("nowhere", {}),
]);

/** Default values, which an address omits. */
const DEFAULTS: Readonly<Record<string, string>> = {
  sort: "path",
  order: "asc",
  tab: "content",
  mode: "text",
};

type Parsed = Readonly<z.infer<typeof placeSchema>>;
type Named<Name> = Extract<Parsed, { readonly name: Name }>;

export type FilesPlace = Named<"files">;
export type FilePlace = Omit<Named<"file">, "line"> & Lines;
export type SearchPlace = Named<"search">;
export type DeletedPlace = Named<"deleted">;
export type RunsPlace = Named<"runs">;
export type RunPlace = Named<"run">;
export type BranchesPlace = Named<"branches">;
export type BranchPlace = Named<"branch">;
export type ActivityPlace = Named<"activity">;
export type SettingsPlace = Named<"settings">;
export type FileTab = FilePlace["tab"];
export type SearchMode = NonNullable<SearchPlace["mode"]>;
/** A place in a project. */
export type ProjectPlace = FilePlace | Exclude<Parsed, { readonly name: "file" }>;
/** The consent page, with the request of an app that wants to sign in. */
export type AuthorizePlace = { readonly name: "authorize"; readonly request: string };
export type Place = { readonly name: "home" } | AuthorizePlace | ProjectPlace;

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

/** Reads the place once the session is open, because the address of a sign-in link differs from its place. */
export function readAddress(): void {
  hash.value = globalThis.location.hash;
}

/**
 * The service sends a person to `authorize?request=…` beside the page. The request moves into the fragment, so that a sign-in
 * leads back to it, and the page keeps its one address.
 */
export function moveConsentRequest(): void {
  const { pathname, search } = globalThis.location;
  const folder = /^(.*\/)authorize(?:\.html)?$/.exec(pathname)?.[1];
  if (folder === undefined) return;
  const request = new URLSearchParams(search).get("request") ?? "";
  history.replaceState(history.state, "", folder + hrefOf({ name: "authorize", request }));
}

export function goTo(next: Place): void {
  globalThis.location.hash = hrefOf(next);
}

/**
 * Navigates without an entry in the browser's history. Does nothing while the browser navigates to another place: a late
 * caller, such as a view after a pause, would replace the wrong entry.
 */
export function replaceWith(next: Place): void {
  if (globalThis.location.hash !== hash.value) return;
  history.replaceState(history.state, "", hrefOf(next));
  hash.value = globalThis.location.hash;
}

export function hrefOf(next: Place): string {
  if (next.name === "home") return "#/";
  if (next.name === "authorize") return `#/authorize?${new URLSearchParams({ request: next.request })}`;
  const { name, projectId, ...rest } = next.name === "file" ? { ...next, line: linesText(next) } : next;
  const query = new URLSearchParams();
  let tail = "";
  // Sorted, so that a place always has the same address.
  for (const [key, value] of Object.entries<unknown>(rest).sort(([a], [b]) => a < b ? -1 : 1)) {
    if (key === TAILS[name]) tail = `/${encodePath(String(value))}`;
    else if (value && value !== DEFAULTS[key] && key !== "lastLine") query.set(key, String(value));
  }
  const path = `#/p/${encodeURIComponent(projectId)}/${name}${tail === "/" ? "" : tail}`;
  return query.size === 0 ? path : `${path}?${query}`;
}

function placeOf(address: string): Place {
  const [path = "", parameters = ""] = splitOnce(address.replace(/^#\/?/, ""), "?");
  const [head, projectId = "", name = "", ...segments] = path.split("/").map(decode);
  if (head === "authorize") {
    return { name: "authorize", request: new URLSearchParams(parameters).get("request") ?? "" };
  }
  if (path === "") return { name: "home" };
  if (head !== "p") return { name: "nowhere", projectId: "" };
  if (name === "") return { name: "files", projectId, directory: "" };
  const tail = segments.join("/");
  const given = new Map([...new URLSearchParams(parameters), ["name", name], ["projectId", projectId]]);
  const tailName = TAILS[name];
  if (tailName !== undefined) given.set(tailName, tail);
  const known = placeSchema.safeParse(Object.fromEntries(given)).data;
  if (known === undefined) return { name: "nowhere", projectId };
  return known.name === "file" ? { ...known, line: undefined, ...known.line } : known;
}

/** An invalid parameter counts as missing. */
function lenient<T extends z.ZodMiniType>(schema: T) {
  return z.catch(z.optional(schema), undefined);
}

/** Returns no lines unless the text begins with a line number. */
function linesOf(range: string): Lines {
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
