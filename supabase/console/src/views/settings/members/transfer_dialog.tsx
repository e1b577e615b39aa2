/** Makes a member the owner of the project. */
import { useState } from "preact/hooks";
import { isCode, reasonFor } from "../../../api/failure.ts";
import { listMembers, transferProject } from "../../../api/members.ts";
import type { Project } from "../../../api/projects.ts";
import { Dialog } from "../../../components/dialog.tsx";
import { DialogForm, FormProblem, SelectField, useSubmit } from "../../../components/form.tsx";
import { Pending } from "../../../components/states.tsx";
import { notify } from "../../../state/notices.ts";
import { updateProject } from "../../../state/projects.ts";
import { useLoad } from "../../../state/use_load.ts";

interface Properties {
  readonly project: Project;
  readonly onClose: () => void;
}

export function TransferDialog({ project: { id, name }, onClose }: Properties) {
  const { data, error: failure, reload } = useLoad(`heirs ${id}`, (signal) => listMembers(id, signal));
  const heirs = data?.filter(({ role, state }) => role !== "owner" && state === "active") ?? [];
  const [chosen, setChosen] = useState<string>();
  const heir = heirs.find((one) => one.id === chosen) ?? heirs[0];
  const { isBusy, error, submit } = useSubmit(async () => {
    if (heir === undefined) return;
    updateProject(await transferProject(id, heir.id));
    notify(`${heir.email} owns ${name} now.`);
    onClose();
  });
  const isNameTaken = isCode(error, "PROJECT_NAME_TAKEN");
  return (
    <Dialog title={`Transfer ${name}`} onClose={onClose}>
      {data === undefined
        ? <Pending {...{ error: failure, reload }} what="the members" />
        : heir === undefined
        ? <p>There is nobody to transfer it to. Invite somebody first, and wait until they accept.</p>
        : (
          <DialogForm action="Transfer project" isDangerous {...{ isBusy, submit, onClose }}>
            <SelectField
              label="New owner"
              value={heir.id}
              onChange={setChosen}
              options={heirs.map((one) => [one.id, one.email])}
              problem={isNameTaken
                ? `${heir.email} has a project of the name ${name}. Rename this one first.`
                : reasonFor(error, "memberId")}
            />
            <p>The project counts towards the new owner's quota. Only the new owner can transfer it back.</p>
            {!isNameTaken && <FormProblem error={error} fields={["memberId"]} />}
          </DialogForm>
        )}
    </Dialog>
  );
}
