/** Dialogs about one key: the new key, shown only once; rotation; and revocation. */
import { type Key, type NewKey, revokeKey, rotateKey } from "../../api/projects.ts";
import { config } from "../../config.ts";
import { joinPath, quoteForShell } from "../../format.ts";
import { CopyField } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { FormDialog, FormProblem, SelectField, useSubmit } from "../../components/form.tsx";
import { notify } from "../../state/notices.ts";
import { keyTitle } from "./key_status.ts";
import { useState } from "preact/hooks";
import { reasonFor } from "../../api/failure.ts";

export function NewKeyDialog({ made, onClose }: { readonly made: NewKey; readonly onClose: () => void }) {
  return (
    <Dialog title="Your new key" onClose={onClose}>
      <p class="note">Copy the key now: only its hash is stored, and it is not shown again.</p>
      <CopyField label="API key" text={made.key} what="the key" rows={1} />
      <CopyField label="Try it in a terminal" text={curlLine(made)} what="the command" rows={4} />
      <footer class="dialog-foot">
        <button type="button" class="primary" onClick={onClose}>Done</button>
      </footer>
    </Dialog>
  );
}

/** Returns a command that writes a file, or lists the files if the key cannot write. */
function curlLine({ key, scopes, pathPrefix }: NewKey): string {
  const call = `curl "${config().functionUrl}/files" -H "x-api-key: ${key}"`;
  if (!scopes.includes("write") && !scopes.includes("admin")) return call;
  const body = JSON.stringify({ path: joinPath(pathPrefix ?? "", "hello.md"), content: "# Hello\n" });
  return `${call} -d ${quoteForShell(body)}`;
}

interface RevokeKeyDialogProperties {
  readonly projectId: string;
  readonly revoked: Key;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function RevokeKeyDialog({ projectId, revoked, onClose, onDone }: RevokeKeyDialogProperties) {
  const title = keyTitle(revoked);
  const isApp = revoked.kind === "app";
  const { isBusy, error, submit } = useSubmit(async () => {
    await revokeKey(projectId, revoked.id);
    notify(`${title} was revoked.`);
    onClose();
    onDone();
  });
  return (
    <FormDialog
      title={`Revoke ${title}?`}
      action={isApp ? "Revoke access" : "Revoke key"}
      isDangerous
      {...{ isBusy, submit, onClose }}
    >
      <p>Requests with {isApp ? "its tokens" : "this key"} are refused from now on. This cannot be undone.</p>
      <FormProblem error={error} fields={[]} />
    </FormDialog>
  );
}

interface RotateKeyDialogProperties {
  readonly projectId: string;
  readonly old: Key;
  readonly onClose: () => void;
  readonly onMade: (key: NewKey) => void;
}

/** In seconds, up to the API's maximum of a week. */
const GRACE_PERIODS = [
  ["0", "Ends at once"],
  ["3600", "Works for one more hour"],
  ["86400", "Works for one more day"],
  ["604800", "Works for seven more days"],
] as const;

export function RotateKeyDialog({ projectId, old, onClose, onMade }: RotateKeyDialogProperties) {
  const [gracePeriod, setGracePeriod] = useState("3600");
  const { isBusy, error, submit } = useSubmit(async () => {
    onMade(await rotateKey(projectId, old.id, Number(gracePeriod)));
  });
  return (
    <FormDialog title={`Rotate ${keyTitle(old)}`} action="Rotate key" {...{ isBusy, submit, onClose }}>
      <p>A new key with the same name, scopes and path prefix replaces this one.</p>
      <SelectField
        label="The old key"
        value={gracePeriod}
        onChange={setGracePeriod}
        options={GRACE_PERIODS}
        problem={reasonFor(error, "gracePeriodSeconds")}
      />
      <FormProblem error={error} fields={["gracePeriodSeconds"]} />
    </FormDialog>
  );
}
