/** The links to a file: those that can be used, and a new one. */
import { useState } from "preact/hooks";
import { listLinks, type NewLink } from "../../api/links.ts";
import { Age } from "../../components/list.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { describeLink, EndLink, LinkForm, MadeLink } from "../../components/links.tsx";
import { Pending } from "../../components/states.tsx";
import { useLoad } from "../../state/use_load.ts";

interface Properties {
  readonly projectId: string;
  readonly path: string;
  readonly version: number;
  readonly onClose: () => void;
}

export function LinksDialog({ projectId, path, version, onClose }: Properties) {
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
