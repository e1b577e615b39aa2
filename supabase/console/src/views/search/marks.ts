/** Where the query occurs in a line, so that the page can highlight it. */
import type { SearchMode } from "../../state/router.ts";

/** A part of a line, and whether it is a hit. */
export interface Part {
  readonly text: string;
  readonly isHit: boolean;
}

interface Query {
  readonly q: string;
  readonly mode: SearchMode;
  readonly caseSensitive: boolean;
}

/** Returns the function that splits a line at its hits. It marks nothing if the browser might not find them quickly. */
export function marker(query: Query): (line: string) => readonly Part[] {
  const pattern = patternOf(query);
  return (line) => {
    if (pattern === null) return [{ text: line, isHit: false }];
    const parts: Part[] = [];
    let end = 0;
    for (const { 0: hit, index } of line.matchAll(pattern)) {
      if (hit === "") continue;
      if (index > end) parts.push({ text: line.slice(end, index), isHit: false });
      parts.push({ text: hit, isHit: true });
      end = index + hit.length;
    }
    if (end < line.length) parts.push({ text: line.slice(end), isHit: false });
    return parts;
  };
}

function patternOf({ q, mode, caseSensitive }: Query): RegExp | null {
  const flags = caseSensitive ? "gu" : "giu";
  if (mode === "text") return new RegExp(q.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), flags);
  if (mode === "regex") return isQuick(q) ? tryPattern(q, flags) : null;
  // The words of a question, which the service also finds in other forms: `price` in `prices`.
  const words = q.match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
  if (words.length === 0) return null;
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${words.join("|")})[\\p{L}\\p{N}_]*`, "giu");
}

/**
 * Whether a browser finds the pattern's hits in a line in a short time: it tries all ways to match, and anybody can send a
 * link with a pattern.
 */
function isQuick(pattern: string): boolean {
  const repetitions = pattern.match(/[*+{]/g)?.length ?? 0;
  return repetitions <= 2 && !/\)[*+{]/.test(pattern) && !pattern.includes("[:");
}

function tryPattern(pattern: string, flags: string): RegExp | null {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return null;
  }
}
