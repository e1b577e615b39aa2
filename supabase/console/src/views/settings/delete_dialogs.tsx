/** Permanent deletions: the person types the name of what is deleted. */
import { deleteAccount, deleteProject, type Project } from "../../api/projects.ts";
import { ConfirmDialog } from "../../components/confirm_dialog.tsx";
import { signOut } from "../../session/session.ts";
import { notify } from "../../state/notices.ts";
import { forgetProject, loadProjects } from "../../state/projects.ts";
import { goTo } from "../../state/router.ts";

interface Closing {
  readonly onClose: () => void;
}

export function DeleteProjectDialog(
  { project: { id, name }, onClose }: Closing & { readonly project: Project },
) {
  return (
    <ConfirmDialog
      title={`Delete ${name} for good?`}
      action="Delete project"
      label={`Type the project's name, ${name}`}
      work={async (confirm) => {
        await deleteProject(id, confirm);
        notify(`${name} was deleted.`);
        onClose();
        forgetProject(id);
        goTo({ name: "home" });
        await loadProjects();
      }}
      onClose={onClose}
    >
      <p>
        This deletes all files with their whole history, all keys and all links. Keys are refused from now on.
        You cannot undo this.
      </p>
    </ConfirmDialog>
  );
}

export function DeleteAccountDialog({ email, onClose }: Closing & { readonly email: string }) {
  return (
    <ConfirmDialog
      title="Delete your account for good?"
      action="Delete account"
      label={`Type the account's e-mail address, ${email}`}
      work={async (confirm) => {
        await deleteAccount(confirm);
        await signOut();
      }}
      onClose={onClose}
    >
      <p>This deletes all of its projects with everything in them. You cannot undo this.</p>
    </ConfirmDialog>
  );
}
