/** Makes a folder what it was: first what would become of which file, then the restoring. */
import { isCode } from "../../api/failure.ts";
import { planRestore, restoreFolder } from "../../api/many.ts";
import { FormDialog, useSubmit } from "../../components/form.tsx";
import { Pending } from "../../components/states.tsx";
import { UndoPlan } from "../../components/undo_plan.tsx";
import { nameOf } from "../../format.ts";
import { describeRefusal, finish, refresh } from "../../state/many.ts";
import { goTo } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";

interface Properties {
  readonly projectId: string;
  readonly directory: string;
  readonly at: string;
  readonly onClose: () => void;
}

export function RestoreFolderDialog({ projectId, directory, at, onClose }: Properties) {
  const plan = useLoad(
    `restore ${projectId} ${directory} ${at}`,
    (signal) => planRestore(projectId, directory, at, signal),
  );
  const { data } = plan;
  const { isBusy, error, submit } = useSubmit(async () => {
    const { runId, actions } = await restoreFolder(projectId, directory, at);
    onClose();
    goTo({ name: "files", projectId, directory });
    if (runId !== null) finish(projectId, { runId, count: actions.length }, "Restored", "restoring");
    refresh(projectId, actions.map(({ path }) => path));
  });
  return (
    <FormDialog
      title={directory === "" ? "Restore the project?" : `Restore ${nameOf(directory)}?`}
      action="Restore"
      isBusy={isBusy || data === undefined || data.actions.length === 0}
      {...{ submit, onClose }}
    >
      {isCode(plan.error, "TOO_MANY_FILES")
        ? <p class="form-problem" role="alert">{describeRefusal(plan.error)}</p>
        : data === undefined
        ? <Pending {...plan} what="what it would do" />
        : <UndoPlan plan={data} gone="made later" same="it was then" />}
      <p class="hint">Every file gets a new version: what came later stays in its history.</p>
      {error !== undefined && (
        <p class="form-problem" role="alert">Nothing was restored. {describeRefusal(error)}</p>
      )}
    </FormDialog>
  );
}
