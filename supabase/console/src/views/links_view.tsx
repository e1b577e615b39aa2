/** The project's valid links: what each allows, who created it, and when it expires. */
import { may } from "../state/projects.ts";
import { Allowed } from "../components/allowed.tsx";
import { useEffect, useState } from "preact/hooks";
import { type Link, listLinks, type NewLink } from "../api/links.ts";
import { Age, ListTable, moveInList, RowLink } from "../components/list.tsx";
import { useCommands } from "../components/commands.ts";
import { Dialog } from "../components/dialog.tsx";
import { fileIcon } from "../components/file_icon.ts";
import { Icon } from "../components/icon.tsx";
import { describeLink, EndLink, LinkForm, MadeLink } from "../components/links.tsx";
import { Empty, Pending } from "../components/states.tsx";
import { ensureKeys, writerName } from "../state/keys.ts";
import { hrefOf } from "../state/router.ts";
import { useLoad } from "../state/use_load.ts";

export function LinksView({ projectId }: { readonly projectId: string }) {
  const [isMaking, setMaking] = useState(false);
  const { data, error, reload } = useLoad(`links ${projectId}`, (signal) => listLinks(projectId, signal));
  useEffect(() => void ensureKeys(projectId), [projectId]);
  useCommands(
    may("write") ? [{ id: "new-link", text: "New link …", icon: "link", run: () => setMaking(true) }] : [],
  );
  return (
    <section class="view" aria-labelledby="links-title">
      <div class="view-head">
        <h1 id="links-title">Links</h1>
        <Allowed right="write">
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            <Icon name="plus" />New link
          </button>
        </Allowed>
      </div>
      {data === undefined
        ? <Pending {...{ error, reload }} what="the links" />
        : data.length === 0
        ? (
          <Empty icon="link" title="There are no links.">
            <p>A link reads one file, or writes it once, without a key. Agents can create links, too.</p>
            <Allowed right="admin">
              <p>
                <a href={hrefOf({ name: "connect", projectId })}>Connect an agent</a>
              </p>
            </Allowed>
          </Empty>
        )
        : <Table {...{ projectId, reload }} links={data} />}
      {isMaking && <NewLinkDialog projectId={projectId} onMade={reload} onClose={() => setMaking(false)} />}
    </section>
  );
}

interface TableProperties {
  readonly projectId: string;
  readonly links: readonly Link[];
  readonly reload: () => void;
}

function Table({ projectId, links, reload }: TableProperties) {
  return (
    <ListTable
      caption="Active links, newest first"
      columns={[["File"], ["Permission"], ["Created by", "made-by extra"], ["Created", "when extra"], [
        "Expires",
        "when",
      ], ["Actions", "actions"]]}
      onKeyDown={moveInList}
    >
      {links.map((link) => (
        <tr key={link.id}>
          <td class="name">
            <RowLink
              to={{
                name: "file",
                projectId,
                path: link.path,
                tab: "content",
                version: link.version,
              }}
              icon={fileIcon(link)}
              text={link.path}
            />
          </td>
          <td>{describeLink(link)}</td>
          <td class="made-by extra">{writerName(projectId, link.keyId)}</td>
          <td class="when extra">
            <Age iso={link.createdAt} />
          </td>
          <td class="when">
            <Age iso={link.expiresAt} />
          </td>
          <td class="actions">
            <Allowed right="write">
              <EndLink {...{ projectId, link }} onEnded={reload} />
            </Allowed>
          </td>
        </tr>
      ))}
    </ListTable>
  );
}

interface DialogProperties {
  readonly projectId: string;
  readonly onMade: () => void;
  readonly onClose: () => void;
}

function NewLinkDialog({ projectId, onMade, onClose }: DialogProperties) {
  const [made, setMade] = useState<NewLink | null>(null);
  return (
    <Dialog title={made === null ? "New link" : "Your new link"} onClose={onClose}>
      {made === null
        ? (
          <LinkForm
            projectId={projectId}
            onMade={(link) => {
              setMade(link);
              onMade();
            }}
          />
        )
        : <MadeLink made={made} />}
      <footer class="dialog-foot">
        <button type="button" onClick={onClose}>{made === null ? "Cancel" : "Done"}</button>
      </footer>
    </Dialog>
  );
}
