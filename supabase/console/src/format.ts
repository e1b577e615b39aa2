/** Formats sizes, times and names for display. */
import { escapeHidden as visible } from "../../functions/api/runtime/hidden_characters.ts";

const UNITS = ["B", "KB", "MB", "GB", "TB"];

/** Formats bytes in units of 1024, like the limits. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const text = unit === 0 || value >= 100 ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, "");
  return `${text} ${UNITS[unit]}`;
}

export const OPERATIONS: Readonly<Record<string, string>> = {
  write: "written",
  append: "appended to",
  overwrite: "overwritten",
  edit: "edited",
  delete: "deleted",
  restore: "restored",
  copy: "copied",
  move: "moved",
  undo: "undone",
  merge: "merged",
  purge: "purged",
};

/** Describes a version's operation: `edited`, `copied from notes/a.md`, `restored from version 3`. */
export function describeOperation(
  path: string,
  { operation, deleted, from }: {
    readonly operation: string;
    readonly deleted?: boolean | undefined;
    readonly from?: { readonly path: string; readonly version: number } | undefined;
  },
): string {
  if (operation === "move" && deleted) return "moved away";
  const done = OPERATIONS[operation] ?? operation;
  if (from === undefined) return done;
  return `${done} from ${from.path === path ? `version ${from.version}` : visible(from.path)}`;
}

const numbers = new Intl.NumberFormat("en");

export function formatNumber(value: number): string {
  return numbers.format(value);
}

/** `10,000+` if the count stopped at a bound. */
export function formatTotal(total: number, isExact = true): string {
  return formatNumber(total) + (isExact ? "" : "+");
}

/** `1 file`, `2 files`. `many` is given if it is not the noun with an s. */
export function formatCount(count: number, noun: string, many = `${noun}s`): string {
  return `${formatNumber(count)} ${count === 1 ? noun : many}`;
}

const moments = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const exactMoments = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "long" });

export function formatTime(iso: string): string {
  return moments.format(new Date(iso));
}

const seconds = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

export function formatSeconds(iso: string): string {
  return seconds.format(new Date(iso));
}

export function formatExactTime(iso: string): string {
  return exactMoments.format(new Date(iso));
}

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const STEPS = [["day", 86_400], ["hour", 3_600], ["minute", 60]] as const;

/** `2 hours ago`; after a week, the date. */
export function formatAge(iso: string, now: number = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  if (Math.abs(seconds) > 7 * 86_400) return formatTime(iso);
  for (const [unit, length] of STEPS) {
    // Just under an hour is an hour, and not 60 minutes.
    if (Math.abs(seconds) >= length * 0.99) return relative.format(Math.round(seconds / length), unit);
  }
  return "just now";
}

const spans = ["second", "minute", "hour", "day"] as const;

/** `4 minutes`: how much time is between two times, in the largest whole unit; null if it is less than a second. */
export function formatSpan(from: string, to: string): string | null {
  let value = (Date.parse(to) - Date.parse(from)) / 1000;
  if (value < 1) return null;
  let unit = 0;
  for (const size of [60, 60, 24]) {
    if (value < size) break;
    value /= size;
    unit++;
  }
  return formatCount(Math.floor(value), spans[unit] ?? "day");
}

/** Formats a time for a field with seconds. The field has no time zone, so the value is in the browser's. */
export function localSeconds(iso: string): string {
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** Makes text of other people and agents safe to display: invisible characters are escaped, as `\u200b`, except in emoji. */
export { visible };

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns an empty text for the root. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

export function joinPath(directory: string, name: string): string {
  return directory === "" ? name : `${directory}/${name}`;
}

/** Encodes each segment, so that a name may contain any character. */
export function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** Shortens a long id in its middle, such as a UUID with a prefix: `run-3f2b0c1e…0b2f7d5c1a77`. */
export function shortenId(id: string): string {
  return id.length <= 28 ? id : `${id.slice(0, 12)}…${id.slice(-12)}`;
}

/** Quotes any text as one argument of a shell command. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
