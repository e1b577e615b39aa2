/** @jsxImportSource preact */
/// <reference lib="dom" />
/** Deletions for good: what is deleted has to be typed. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { deleteAccount, deleteProject } from "../../api/projects.ts";
import { reasonFor } from "../../api/failure.ts";
import type { Project } from "../../api/records.ts";
import { FormDialog } from "../../components/form_dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { FormProblem } from "../../components/states.tsx";
import { useSubmit } from "../../components/use_submit.ts";
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
        All files with their whole history, keys and links go with it. Keys are refused from now on. This
        cannot be undone.
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
      <p>All of its projects go with it, with everything in them. This cannot be undone.</p>
    </ConfirmDialog>
  );
}

interface Confirmation extends Closing {
  readonly title: string;
  readonly action: string;
  readonly label: string;
  /** Does it, where what was typed is what has to be. */
  readonly work: (typed: string) => Promise<void>;
  readonly children: ComponentChildren;
}

function ConfirmDialog({ title, action, label, work, onClose, children }: Confirmation) {
  const [typed, setTyped] = useState("");
  const { isBusy, error, submit } = useSubmit(() => work(typed));
  return (
    <FormDialog title={title} action={action} isDangerous {...{ isBusy, submit, onClose }}>
      {children}
      <TextField
        label={label}
        value={typed}
        onInput={setTyped}
        problem={reasonFor(error, "confirm")}
        input={{ autoComplete: "off", spellcheck: false }}
      />
      <FormProblem error={error} fields={["confirm"]} />
    </FormDialog>
  );
}
