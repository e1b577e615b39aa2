/** Dialogs of a file: moving it, copying it, and its links. */
import { useState } from "preact/hooks";
import { reasonForPath } from "../../api/failure.ts";
import { copyFile, moveFile } from "../../api/files.ts";
import { FormDialog, FormProblem, TextField, useSubmit } from "../../components/form.tsx";
import { endUndo, notify } from "../../state/notices.ts";
import { goTo } from "../../state/router.ts";
import { listLinks, type NewLink } from "../../api/links.ts";
import { Age } from "../../components/list.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { describeLink, EndLink, LinkForm, MadeLink } from "../../components/links.tsx";
import { Pending } from "../../components/states.tsx";
import { useLoad } from "../../state/use_load.ts";

interface PathDialogProperties {
  readonly kind: "move" | "copy";
  readonly projectId: string;
  readonly path: string;
  readonly onClose: () => void;
}

const PATH_DIALOGS = {
  move: {
    title: "Move or rename",
    action: "Move",
    done: "Moved",
    run: moveFile,
    // They stay there as those of a deleted file.
    hint: "Earlier versions stay at the old path; the file's history links to them.",
  },
  copy: {
    title: "Copy file",
    action: "Copy",
    done: "Copied",
    run: copyFile,
    hint: "The copy has a history of its own, which starts with the latest version.",
  },
} as const;

/** Asks for a new path, and opens the file there. */
export function PathDialog({ kind, projectId, path, onClose }: PathDialogProperties) {
  const { title, action, done, run, hint } = PATH_DIALOGS[kind];
  const [destination, setDestination] = useState(path);
  const { isBusy, error, submit } = useSubmit(async () => {
    const { path: made } = await run({ projectId, path }, destination);
    onClose();
    endUndo({ projectId, path: made });
    notify(`${done} to ${made}.`, { projectId, path: made });
    goTo({ name: "file", projectId, path: made, tab: "content" });
  });
  const problem = reasonForPath(error, "destination");
  return (
    <FormDialog {...{ title, action, isBusy, submit, onClose }}>
      <TextField
        label="New path"
        value={destination}
        onInput={setDestination}
        hint={hint}
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
      <p class="hint">A link works without a key: it reads the file, or writes it once.</p>
      {made === null ? <LinkForm {...{ projectId, path, version, onMade }} /> : <MadeLink made={made} />}
      {data === undefined && <Pending {...{ error, reload }} what="the links" />}
      {data !== undefined && data.length > 0 && (
        <ul class="file-links" aria-label="Active links">
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
        {made !== null && <button type="button" onClick={() => setMade(null)}>Create another</button>}
        <button type="button" onClick={onClose}>Done</button>
      </footer>
    </Dialog>
  );
}
