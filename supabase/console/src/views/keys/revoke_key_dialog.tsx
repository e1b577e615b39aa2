import { revokeKey } from "../../api/projects.ts";
import type { Key } from "../../api/records.ts";
import { FormDialog } from "../../components/form_dialog.tsx";
import { FormProblem } from "../../components/states.tsx";
import { useSubmit } from "../../components/use_submit.ts";
import { notify } from "../../state/notices.ts";
import { keyTitle } from "./key_status.ts";

interface Properties {
  readonly projectId: string;
  readonly revoked: Key;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function RevokeKeyDialog({ projectId, revoked, onClose, onDone }: Properties) {
  const title = keyTitle(revoked);
  const { isBusy, error, submit } = useSubmit(async () => {
    await revokeKey(projectId, revoked.id);
    notify(`${title} was revoked.`);
    onClose();
    onDone();
  });
  return (
    <FormDialog title={`Revoke ${title}?`} action="Revoke key" isDangerous {...{ isBusy, submit, onClose }}>
      <p>Requests with this key are refused from now on. This cannot be undone.</p>
      <FormProblem error={error} fields={[]} />
    </FormDialog>
  );
}
