import type { Undo } from "../api/runs.ts";
import { formatCount, visible } from "../format.ts";
import { UNDO_FILES_SHOWN_MAX } from "../limits.ts";

interface Properties {
  readonly plan: Undo;
  /** Texts about the files that the plan deletes, and about the unchanged ones. */
  readonly gone?: string;
  readonly same?: string;
}

/** Shows what an undo, or restoring a folder, would do with each file. */
export function UndoPlan(
  { plan, gone: goneText = "created by the run", same = "before the run" }: Properties,
) {
  const { actions, unchanged, conflicts, trimmed = [] } = plan;
  const back = actions.filter(({ action }) => action === "restore");
  const gone = actions.filter(({ action }) => action === "delete");
  return (
    <>
      {actions.length === 0 && <p>Nothing would be changed.</p>}
      <Files
        one="gets"
        many="get"
        what="earlier content back"
        lines={back.map(({ path, to }) => `${visible(path)}: version ${to}`)}
      />
      <Files
        one="is deleted:"
        many="are deleted:"
        what={goneText}
        lines={gone.map(({ path }) => visible(path))}
      />
      <Files one="is" many="are" what={`the same as ${same}`} lines={unchanged} />
      <Files
        one="stays"
        many="stay"
        what="as it is: retention has deleted the earlier version"
        lines={trimmed}
      />
      <Files
        one="was"
        many="were"
        what="changed by others since"
        lines={conflicts.map(({ path, version, actor, runId, reason }) =>
          `${visible(path)}: ${because(reason) ?? `version ${version}${by(actor, runId)}`}`
        )}
      />
    </>
  );
}

function because(reason: string | undefined): string | undefined {
  if (reason === "gone") return "its earlier content no longer exists";
  if (reason === "unexamined") return "too many versions to check for others' changes";
  return reason === "moved" ? "the other file of its move is not included" : undefined;
}

function by(actor: string | null, runId: string | null): string {
  if (actor === null && runId === null) return "";
  return ` by ${[actor && visible(actor), runId && `run ${runId}`].filter(Boolean).join(", ")}`;
}

/** A part of a plan. */
interface FilesProperties {
  /** The text of the summary for one file and for several: "1 file gets …", "2 files get …". */
  readonly one: string;
  readonly many: string;
  readonly what: string;
  readonly lines: readonly string[];
}

export function Files({ one, many, what, lines }: FilesProperties) {
  if (lines.length === 0) return null;
  const shown = lines.slice(0, UNDO_FILES_SHOWN_MAX);
  const more = lines.length - shown.length;
  return (
    <details class="plan" open={more === 0}>
      <summary>{formatCount(lines.length, "file")} {lines.length === 1 ? one : many} {what}</summary>
      <ul>
        {shown.map((line) => <li key={line}>{line}</li>)}
        {more > 0 && <li>… and {formatCount(more, "more file")}</li>}
      </ul>
    </details>
  );
}
