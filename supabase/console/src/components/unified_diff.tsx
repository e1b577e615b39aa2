import type { Diff } from "../api/files.ts";
import { formatCount } from "../format.ts";
import { DIFF_LINES_MAX } from "../limits.ts";

const MARKS: Record<DiffLine["kind"], string> = { added: "+", removed: "−", same: "", hunk: "" };
const SPOKEN: Record<DiffLine["kind"], string> = {
  added: "added: ",
  removed: "removed: ",
  same: "",
  hunk: "",
};

export function UnifiedDiff({ diff }: { readonly diff: Diff }) {
  return (
    <>
      <p class="facts" role="status">
        <span class="added-count">{formatCount(diff.additions, "line")} added</span>
        <span class="removed-count">{formatCount(diff.deletions, "line")} removed</span>
      </p>
      <DiffLines diff={diff} label={`Changes from version ${diff.from} to ${diff.to}`} />
    </>
  );
}

/** The lines of a diff, without their numbers. */
export function DiffLines({ diff, label }: { readonly diff: Diff; readonly label: string }) {
  const lines = diffLines(diff.diff, DIFF_LINES_MAX);
  return (
    <>
      <div class="diff" role="region" aria-label={label} tabIndex={0}>
        <table>
          <tbody>
            {lines.map((line, index) => (
              <tr key={index} class={line.kind}>
                <td class="line-number">{line.before}</td>
                <td class="line-number">{line.after}</td>
                <td class="mark" aria-hidden="true">{MARKS[line.kind]}</td>
                <td class="line">
                  {SPOKEN[line.kind] && <span class="visually-hidden">{SPOKEN[line.kind]}</span>}
                  {line.text}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {lines.length >= DIFF_LINES_MAX && <p class="hint">Only the first {DIFF_LINES_MAX} lines are shown.</p>}
    </>
  );
}

interface DiffLine {
  readonly kind: "added" | "removed" | "same" | "hunk";
  readonly text: string;
  readonly before: number | null;
  readonly after: number | null;
}

/** Returns at most `max` lines. */
function diffLines(diff: string, max: number): readonly DiffLine[] {
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
