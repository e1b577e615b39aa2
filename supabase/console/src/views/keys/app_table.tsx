/** The apps that a person has let in. They sign in, so there is nothing to copy or to rotate. */
import type { Key } from "../../api/projects.ts";
import { Age, ListTable } from "../../components/list.tsx";
import { visible } from "../../format.ts";
import { keyStatus, keyTitle } from "./key_status.ts";
import { StatusCell } from "./key_table.tsx";

interface Properties {
  readonly apps: readonly Key[];
  readonly onRevoke: (app: Key) => void;
}

export function AppTable({ apps, onRevoke }: Properties) {
  return (
    <>
      <h2>Connected apps</h2>
      <ListTable
        class="list keys"
        caption="Connected apps, newest first"
        columns={[["Name"], ["App", "extra"], ["Scopes", "extra"], ["Last used", "extra"], [
          "Status",
          "status",
        ], ["Actions", "actions"]]}
      >
        {apps.map((app) => <Row key={app.id} app={app} onRevoke={() => onRevoke(app)} />)}
      </ListTable>
    </>
  );
}

function Row({ app, onRevoke }: { readonly app: Key; readonly onRevoke: () => void }) {
  const title = keyTitle(app);
  const isActive = keyStatus(app) === "active";
  const host = app.client?.host;
  return (
    <tr class={isActive ? "" : "faded"}>
      <td>
        <span class="key-name">{title}</span>
        <span class="key-prefix">{host ? visible(host) : "an app on a device"}</span>
        {app.pathPrefix && <span class="key-path">below {visible(app.pathPrefix)}</span>}
      </td>
      <td class="extra">{visible(app.client?.name ?? "")}</td>
      <td class="extra">{app.scopes.join(", ")}</td>
      <td class="extra">{app.lastUsedAt === null ? "never" : <Age iso={app.lastUsedAt} />}</td>
      <StatusCell shown={app} />
      <td class="actions">
        {isActive && (
          <button type="button" class="danger" aria-label={`Revoke ${title}`} onClick={onRevoke}>
            Revoke
          </button>
        )}
      </td>
    </tr>
  );
}
