/** The lines of a unified diff, with their numbers in both versions. */

export interface DiffLine {
  readonly kind: "added" | "removed" | "same" | "hunk";
  readonly text: string;
  readonly before: number | null;
  readonly after: number | null;
}

/** Returns at most `max` lines. */
export function diffLines(diff: string, max: number): readonly DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let isInHunk = false;
  for (const text of diff.replace(/\n$/, "").split("\n")) {
    if (lines.length >= max) break;
    const start = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text);
    if (start) {
      [before, after] = [Number(start[1]), Number(start[2])];
      isInHunk = true;
      lines.push({ kind: "hunk", text, before: null, after: null });
    } else if (!isInHunk) continue;
    else if (text.startsWith("+")) {
      lines.push({ kind: "added", text: text.slice(1), before: null, after: after++ });
    } else if (text.startsWith("-")) {
      lines.push({ kind: "removed", text: text.slice(1), before: before++, after: null });
    } else if (text.startsWith("\\")) lines.push({ kind: "hunk", text, before: null, after: null });
    else lines.push({ kind: "same", text: text.slice(1), before: before++, after: after++ });
  }
  return lines;
}
