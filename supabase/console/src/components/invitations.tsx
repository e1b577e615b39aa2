/** The invitations of the signed-in person to projects of others, to accept or to decline. */
import { reasonOf } from "../api/failure.ts";
import { acceptInvitation, declineInvitation, type Invitation } from "../api/members.ts";
import { visible } from "../format.ts";
import { notify, notifyProblem } from "../state/notices.ts";
import { invitations, updateProject } from "../state/projects.ts";
import { goTo } from "../state/router.ts";

export function Invitations() {
  if (invitations.value.length === 0) return null;
  return (
    <ul class="invitations" aria-label="Invitations">
      {invitations.value.map((one) => <Entry key={one.id} invitation={one} />)}
    </ul>
  );
}

function Entry({ invitation }: { readonly invitation: Invitation }) {
  const { id, projectName, role, invitedBy } = invitation;
  const name = visible(projectName);
  const answer = async (work: () => Promise<void>) => {
    try {
      await work();
      invitations.value = invitations.value.filter((one) => one.id !== id);
    } catch (error) {
      notifyProblem(reasonOf(error));
    }
  };
  const accept = () =>
    answer(async () => {
      const project = await acceptInvitation(id);
      updateProject(project);
      notify(`You are a member of ${name}.`);
      goTo({ name: "files", projectId: project.id, directory: "" });
    });
  const decline = () =>
    answer(async () => {
      await declineInvitation(id);
      notify(`You declined the invitation to ${name}.`);
    });
  return (
    <li>
      <span>
        {invitedBy === null ? "You are invited" : `${visible(invitedBy)} invites you`} to{" "}
        <strong>{name}</strong>, as {role}.
      </span>
      <span class="tools">
        <button
          type="button"
          class="primary"
          aria-label={`Accept the invitation to ${name}`}
          onClick={accept}
        >
          Accept
        </button>
        <button type="button" aria-label={`Decline the invitation to ${name}`} onClick={decline}>
          Decline
        </button>
      </span>
    </li>
  );
}
