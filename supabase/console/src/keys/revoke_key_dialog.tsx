/** @jsxImportSource preact */
/// <reference lib="dom" />
import { revokeKey } from "../api/projects.ts";
import type { Key } from "../api/records.ts";
import { Dialog } from "../parts/dialog.tsx";
import { FormProblem } from "../parts/states.tsx";
import { useSubmit } from "../parts/submit.ts";
import { notify } from "../state/notices.ts";
import { titleOf } from "./key_status.ts";

interface Properties {
  readonly projectId: string;
  readonly revoked: Key;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function RevokeKeyDialog({ projectId, revoked, onClose, onDone }: Properties) {
  const title = titleOf(revoked);
  const { isBusy, error, submit } = useSubmit(async () => {
    await revokeKey(projectId, revoked.id);
    notify(`${title} is revoked.`);
    onClose();
    onDone();
  });
  return (
    <Dialog title={`Revoke ${title}?`} onClose={onClose}>
      <form onSubmit={submit}>
        <p>Whoever uses this key is refused from now on. That cannot be taken back.</p>
        <FormProblem error={error} fields={[]} />
        <footer class="dialog-foot">
          <button type="button" autoFocus onClick={onClose}>Cancel</button>
          <button type="submit" class="danger solid" disabled={isBusy}>Revoke key</button>
        </footer>
      </form>
    </Dialog>
  );
}
