/** The runs that merged a branch, each with its undo. */
import { Allowed } from "../../components/allowed.tsx";
import { useState } from "preact/hooks";
import { type Branch, runsOfMerge } from "../../api/branches.ts";
import { Icon } from "../../components/icon.tsx";
import { Pending } from "../../components/states.tsx";
import { UndoDialog } from "../../components/undo_dialog.tsx";
import { visible } from "../../format.ts";
import { hrefOf } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";

export function MergedRuns({ projectId, branch }: { readonly projectId: string; readonly branch: Branch }) {
  const [undoing, setUndoing] = useState<string | null>(null);
  const { data: runs, error, reload } = useLoad(
    `runs of ${projectId} ${branch.name} ${branch.updatedAt}`,
    (signal) => runsOfMerge(projectId, branch, signal),
  );
  if (runs === undefined) return <Pending {...{ error, reload }} what="the run of the merge" />;
  const activity = { name: "activity", projectId, operation: "merge" } as const;
  return (
    <>
      {runs.length === 0 && (
        <p>
          <a href={hrefOf(activity)}>What merges have changed</a>
        </p>
      )}
      {runs.map((runId) => (
        <div key={runId} class="tools">
          <p>
            Merged by <a href={hrefOf({ name: "run", projectId, runId })}>run {visible(runId)}</a>
          </p>
          <Allowed right="write">
            <button
              type="button"
              aria-label={`Undo run ${visible(runId)} …`}
              onClick={() => setUndoing(runId)}
            >
              <Icon name="restore" />Undo …
            </button>
          </Allowed>
        </div>
      ))}
      {undoing !== null && (
        <UndoDialog
          {...{ projectId }}
          runId={undoing}
          writers={[]}
          onClose={() => setUndoing(null)}
        />
      )}
    </>
  );
}
