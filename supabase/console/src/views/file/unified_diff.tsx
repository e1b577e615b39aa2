import type { Diff } from "../../api/records.ts";
import { formatCount } from "../../format.ts";
import { DIFF_LINES_MAX } from "../../limits.ts";
import { type DiffLine, diffLines } from "./diff_lines.ts";

const MARKS: Record<DiffLine["kind"], string> = { added: "+", removed: "−", same: "", hunk: "" };
const SPOKEN: Record<DiffLine["kind"], string> = {
  added: "added: ",
  removed: "removed: ",
  same: "",
  hunk: "",
};

export function UnifiedDiff({ diff }: { readonly diff: Diff }) {
  const lines = diffLines(diff.diff, DIFF_LINES_MAX);
  return (
    <>
      <p class="facts" role="status">
        <span class="added-count">{formatCount(diff.additions, "line")} added</span>
        <span class="removed-count">{formatCount(diff.deletions, "line")} removed</span>
      </p>
      <div
        class="diff"
        role="region"
        aria-label={`Changes from version ${diff.from} to ${diff.to}`}
        tabIndex={0}
      >
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
