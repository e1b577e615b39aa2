/** Dialogs of a file: moving it, and its links. */
import { useState } from "preact/hooks";
import { reasonForPath } from "../../api/failure.ts";
import { moveFile } from "../../api/files.ts";
import { FormDialog, FormProblem, TextField, useSubmit } from "../../components/form.tsx";
import { endUndo, notify } from "../../state/notices.ts";
import { goTo } from "../../state/router.ts";
import { listLinks, type NewLink } from "../../api/links.ts";
import { Age } from "../../components/list.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { describeLink, EndLink, LinkForm, MadeLink } from "../../components/links.tsx";
import { Pending } from "../../components/states.tsx";
import { useLoad } from "../../state/use_load.ts";

interface MoveDialogProperties {
  readonly projectId: string;
  readonly path: string;
  readonly onClose: () => void;
}

/** Existing versions stay at the old path, which becomes a deleted file. The history links to them. */
export function MoveDialog({ projectId, path, onClose }: MoveDialogProperties) {
  const [destination, setDestination] = useState(path);
  const { isBusy, error, submit } = useSubmit(async () => {
    const moved = await moveFile({ projectId, path }, destination);
    onClose();
    endUndo({ projectId, path: moved.path });
    notify(`Moved to ${moved.path}.`, { projectId, path: moved.path });
    goTo({ name: "file", projectId, path: moved.path, tab: "content" });
  });
  const problem = reasonForPath(error, "destination");
  return (
    <FormDialog title="Move or rename" action="Move" {...{ isBusy, submit, onClose }}>
      <TextField
        label="New path"
        value={destination}
        onInput={setDestination}
        hint="The versions so far stay at the old path; the history of the file goes on to show them."
        problem={problem}
        input={{ autoFocus: true, autoComplete: "off", spellcheck: false }}
      />
      {problem === undefined && <FormProblem error={error} fields={["destination"]} />}
    </FormDialog>
  );
}

interface LinksDialogProperties {
  readonly projectId: string;
  readonly path: string;
  readonly version: number;
  readonly onClose: () => void;
}

export function LinksDialog({ projectId, path, version, onClose }: LinksDialogProperties) {
  const [made, setMade] = useState<NewLink | null>(null);
  const { data, error, reload } = useLoad(`links ${projectId} ${path}`, async (signal) => {
    const links = await listLinks(projectId, signal);
    return links.filter((link) => link.path === path);
  });
  const onMade = (link: NewLink) => {
    setMade(link);
    reload();
  };
  return (
    <Dialog title="Links to this file" onClose={onClose}>
      <p class="hint">A link needs no key: it reads the file, or writes it once.</p>
      {made === null ? <LinkForm {...{ projectId, path, version, onMade }} /> : <MadeLink made={made} />}
      {data === undefined && <Pending {...{ error, reload }} what="the links" />}
      {data !== undefined && data.length > 0 && (
        <ul class="file-links" aria-label="Links that can be used">
          {data.map((link) => (
            <li key={link.id}>
              <span>
                {describeLink(link)}, expires <Age iso={link.expiresAt} />
              </span>
              <EndLink {...{ projectId, link }} onEnded={reload} />
            </li>
          ))}
        </ul>
      )}
      <footer class="dialog-foot">
        {made !== null && <button type="button" onClick={() => setMade(null)}>Make another</button>}
        <button type="button" onClick={onClose}>Done</button>
      </footer>
    </Dialog>
  );
}
