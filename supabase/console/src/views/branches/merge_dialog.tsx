/** Merges a branch into its folder, or updates it from there. It first shows what would become of each file. */
import { useState } from "preact/hooks";
import {
  type Branch,
  type HowToMerge,
  type Merge,
  merge,
  type MergeKind,
  planMerge,
} from "../../api/branches.ts";
import { isCode } from "../../api/failure.ts";
import { FormDialog, FormProblem, SelectField, useSubmit } from "../../components/form.tsx";
import { Pending } from "../../components/states.tsx";
import { Files } from "../../components/undo_plan.tsx";
import { formatCount, visible } from "../../format.ts";
import { finish } from "../../state/many.ts";
import { notify } from "../../state/notices.ts";
import { useLoad } from "../../state/use_load.ts";

interface Properties {
  readonly projectId: string;
  readonly branch: Branch;
  readonly kind: MergeKind;
  readonly paths: readonly string[] | undefined;
  readonly resolutions: HowToMerge["resolutions"];
  /** The cursor at which the person saw the conflicts that `resolutions` decide. */
  readonly expected: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
  /** Called if there are changes that the person has not seen. */
  readonly onStale: () => void;
}

const WORDS = {
  merge: { action: "Merge", done: "Merged", doing: "merging", into: "the folder" },
  update: { action: "Update", done: "Updated", doing: "updating", into: "the branch" },
} as const;

export function MergeDialog({ projectId, branch: { name }, kind, ...properties }: Properties) {
  const { paths, resolutions, expected, onClose, onDone, onStale } = properties;
  const words = WORDS[kind];
  const [onConflict, setOnConflict] = useState<HowToMerge["onConflict"]>("refuse");
  const isResolved = [...resolutions.keys()].some((path) => paths?.includes(path) ?? true);
  // Whatever has not been looked at is merged by the service, file by file, or refused.
  const how = { onConflict, paths, resolutions, expected: isResolved ? expected : undefined };
  const key = `${kind} ${projectId} ${name} ${onConflict} ${expected} ${paths?.join("\n")}`;
  const plan = useLoad(key, (signal) => planMerge(projectId, name, kind, how, signal));
  const { isBusy, error, submit } = useSubmit(async () => {
    const done = await merge(projectId, name, kind, how).catch((failure) => {
      if (isCode(failure, "PRECONDITION_FAILED")) onStale();
      else plan.reload();
      throw failure;
    });
    onClose();
    if (done.runId === null || done.actions.length === 0) notify(`${words.done}: no file was changed.`);
    else finish(projectId, { runId: done.runId, count: done.actions.length }, words.done, words.doing);
    onDone();
  });
  const isStale = isCode(plan.error, "PRECONDITION_FAILED") || isCode(error, "PRECONDITION_FAILED");
  const { data } = plan;
  return (
    <FormDialog
      title={`${words.action} ${name}?`}
      action={words.action}
      isBusy={isBusy || data === undefined || data.conflicts.length > 0}
      {...{ submit, onClose }}
    >
      {isStale
        ? (
          <div class="form-problem" role="alert">
            <p>
              Files changed after you reviewed the conflicts. Close this, refresh, and review them again.
            </p>
          </div>
        )
        : data === undefined
        ? <Pending {...plan} what="the plan" />
        : <Plan plan={data} into={words.into} />}
      <SelectField
        label="Other files in conflict"
        value={onConflict}
        onChange={(value) => setOnConflict(value === "branch" || value === "current" ? value : "refuse")}
        options={[
          ["refuse", "must be resolved one by one first"],
          ["branch", "take the branch's version"],
          ["current", "take the folder's version"],
        ]}
      />
      <p class="hint">
        Each file gets a new version in {words.into}. All changes are one run, which you can undo.
      </p>
      {!isStale && <FormProblem error={error} fields={[]} />}
    </FormDialog>
  );
}

function Plan({ plan: { actions, conflicts }, into }: { readonly plan: Merge; readonly into: string }) {
  const of = (action: string) =>
    actions.filter((one) => one.action === action).map(({ path }) => visible(path));
  return (
    <>
      {actions.length === 0 && conflicts.length === 0 && <p>No file of {into} would be changed.</p>}
      <Files one="is" many="are" what={`written to ${into}`} lines={of("write")} />
      <Files one="is" many="are" what="merged from both sides, or as edited here" lines={of("merge")} />
      <Files one="is" many="are" what={`deleted in ${into}`} lines={of("delete")} />
      <Files
        one="is"
        many="are"
        what="in conflict and unresolved"
        lines={conflicts.map(({ path, kind }) => `${visible(path)}: ${KINDS[kind]}`)}
      />
      {conflicts.length > 0 && (
        <p class="hint">
          Resolve {formatCount(conflicts.length, "conflict")}{" "}
          first: open the files on the page of the branch, or choose a side below.
        </p>
      )}
    </>
  );
}

const KINDS: Readonly<Record<Merge["conflicts"][number]["kind"], string>> = {
  content: "the same lines were changed on both sides",
  binary: "changed on both sides, and not a text",
  deletedInBranch: "deleted in the branch, changed in the folder",
  deletedInTarget: "changed in the branch, deleted in the folder",
  baseGone: "the version that both sides started from was erased",
};
