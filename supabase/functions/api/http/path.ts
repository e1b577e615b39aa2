/**
 * Valid paths: contract, row "valid path". Paths are compared byte for byte, so these functions do not normalize them:
 * they return a path unchanged, or reject it.
 */
import { fail } from "../errors.ts";
import { PATH_BYTES_MAX, PATH_SEGMENTS_MAX } from "../limits.ts";
import { percentDecoded } from "./query.ts";

/** The rules that `details.rule` can name, each with its message. */
const MESSAGES = {
  empty: "The path is empty.",
  too_long: `The path is longer than ${PATH_BYTES_MAX} bytes of UTF-8.`,
  too_many_segments: `The path has more than ${PATH_SEGMENTS_MAX} segments.`,
  not_well_formed: "The path contains a lone surrogate, so it cannot be written as UTF-8.",
  leading_slash: "The path begins with a slash.",
  trailing_slash: "The path ends with a slash.",
  empty_segment: "The path has two slashes in a row.",
  dot_segment: "The path has a segment that is `.` or `..`.",
  backslash: "The path contains a backslash; folders are separated by `/`.",
  control_character: "The path contains a control character.",
  bidirectional_control: "The path contains a character that changes the direction of text.",
  broken_escape: "The path has a percent escape that is malformed or not UTF-8.",
} as const;

type PathRule = keyof typeof MESSAGES;

/** Returns the path. Throws INVALID_PATH with the rule that it breaks. */
export function checkPath(path: string): string {
  const rule = brokenRule(path);
  if (rule !== null) fail("INVALID_PATH", MESSAGES[rule], { rule });
  return path;
}

/**
 * The path of a URL, percent-decoded once (`%2F` and `/` mean the same) and checked by `checkPath`. Decoding is strict
 * (RFC 3629: no overlong forms, no surrogates); otherwise it throws INVALID_PATH, `broken_escape`.
 */
export function decodePath(raw: string): string {
  const path = percentDecoded(raw);
  if (path === undefined) fail("INVALID_PATH", MESSAGES.broken_escape, { rule: "broken_escape" });
  return checkPath(path);
}

/** A directory without its outer slashes, "" for the root. The rest must be a valid path. */
export function normalizeDirectory(directory: string): string {
  let from = 0;
  let to = directory.length;
  while (from < to && directory[from] === "/") from++;
  while (to > from && directory[to - 1] === "/") to--;
  const inner = directory.slice(from, to);
  return inner === "" ? "" : checkPath(inner);
}

/** The directory that holds the file at a valid path, "" for the root. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Whether the file at a valid path, or the directory, is in a branch. */
export function isInBranch(path: string): boolean {
  return `${path}/`.startsWith(".branches/");
}

function brokenRule(path: string): PathRule | null {
  if (path === "") return "empty";
  // A UTF-16 code unit takes at least one byte of UTF-8, so a huge text is rejected before it is encoded.
  if (path.length > PATH_BYTES_MAX) return "too_long";
  if (!path.isWellFormed()) return "not_well_formed";
  if (new TextEncoder().encode(path).length > PATH_BYTES_MAX) return "too_long";
  if (path.startsWith("/")) return "leading_slash";
  if (path.endsWith("/")) return "trailing_slash";
  if (path.includes("\\")) return "backslash";
  // Category Cc is C0, DEL and C1.
  if (/\p{Cc}/u.test(path)) return "control_character";
  // `gpj.exe` would be shown as `exe.jpg`. Letters of right-to-left scripts need none of these.
  if (/\p{Bidi_Control}/u.test(path)) return "bidirectional_control";
  const segments = path.split("/");
  if (segments.includes("")) return "empty_segment";
  if (segments.includes(".") || segments.includes("..")) return "dot_segment";
  if (segments.length > PATH_SEGMENTS_MAX) return "too_many_segments";
  return null;
}
