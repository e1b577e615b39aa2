/** Closes branches without merging them. */
import { changeBranch } from "../../api/branches.ts";
import { isCode } from "../../api/failure.ts";
import { FormDialog, FormProblem, useSubmit } from "../../components/form.tsx";
import { formatCount } from "../../format.ts";
import { notify } from "../../state/notices.ts";

interface Properties {
  readonly projectId: string;
  readonly names: readonly string[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function CloseDialog({ projectId, names, onClose, onDone }: Properties) {
  const what = names.length === 1 ? `branch ${names[0]}` : formatCount(names.length, "branch", "branches");
  const { isBusy, error, submit } = useSubmit(async () => {
    for (const name of names) {
      try {
        await changeBranch(projectId, name, { state: "closed" });
      } catch (failure) {
        // Somebody else has closed or merged it.
        if (!isCode(failure, "BRANCH_CLOSED")) throw failure;
      }
    }
    notify(`Closed: ${what}.`);
    onClose();
    onDone();
  });
  return (
    <FormDialog
      title={`Close ${what}?`}
      action={names.length === 1 ? "Close branch" : "Close branches"}
      isDangerous
      {...{ isBusy, submit, onClose }}
    >
      <p>
        Nothing is merged. The files of the branch are deleted, and it cannot be opened again.
      </p>
      {names.length > 1 && <ul class="paths">{names.map((name) => <li key={name}>{name}</li>)}</ul>}
      <FormProblem error={error} fields={[]} />
    </FormDialog>
  );
}
