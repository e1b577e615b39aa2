/** Shows a new key; this is the only time it is shown. */
import type { NewKey } from "../../api/records.ts";
import { config } from "../../config.ts";
import { joinPath, quoteForShell } from "../../format.ts";
import { CopyField } from "../../components/copy_field.tsx";
import { Dialog } from "../../components/dialog.tsx";

interface Properties {
  readonly made: NewKey;
  readonly onClose: () => void;
}

export function NewKeyDialog({ made, onClose }: Properties) {
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
