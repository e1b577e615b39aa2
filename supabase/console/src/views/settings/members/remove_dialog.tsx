/** Asks before a member is removed, an invitation is withdrawn, or the person leaves. */
import { type Member, removeMember } from "../../../api/members.ts";
import { FormDialog, FormProblem, useSubmit } from "../../../components/form.tsx";
import { visible } from "../../../format.ts";
import { notify } from "../../../state/notices.ts";
import { forgetProject } from "../../../state/projects.ts";
import { goTo } from "../../../state/router.ts";
import { isOwnAddress } from "./roles.ts";

interface Properties {
  readonly projectId: string;
  readonly member: Member;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function RemoveDialog({ projectId, member: { id, email, state }, onClose, onDone }: Properties) {
  const isOneself = state === "active" && isOwnAddress(email);
  const { isBusy, error, submit } = useSubmit(async () => {
    await removeMember(projectId, id);
    if (isOneself) {
      notify("You left the project.");
      forgetProject(projectId);
      goTo({ name: "home" });
      return;
    }
    notify(state === "invited" ? "The invitation was withdrawn." : `${visible(email)} was removed.`);
    onDone();
  });
  const [title, action] = state === "invited"
    ? [`Withdraw the invitation of ${email}?`, "Withdraw"]
    : isOneself
    ? ["Leave the project?", "Leave"]
    : [`Remove ${email}?`, "Remove"];
  return (
    <FormDialog {...{ title, action, isBusy, submit, onClose }} isDangerous>
      {state === "invited" ? <p>The address can be invited again.</p> : (
        <p>
          {isOneself ? "Your" : "This person’s"} access, links and apps end with the next request. Keys stay.
        </p>
      )}
      <FormProblem error={error} fields={[]} />
    </FormDialog>
  );
}
