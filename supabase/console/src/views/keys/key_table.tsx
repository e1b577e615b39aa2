import type { Key } from "../../api/projects.ts";
import { Age, ListTable } from "../../components/list.tsx";
import { visible } from "../../format.ts";
import { keyStatus, keyTitle } from "./key_status.ts";

interface Actions {
  readonly onEdit: (key: Key) => void;
  readonly onRotate: (key: Key) => void;
  readonly onRevoke: (key: Key) => void;
}

export function KeyTable({ keys, ...actions }: Actions & { readonly keys: readonly Key[] }) {
  return (
    <ListTable
      class="list keys"
      caption="API keys, newest first"
      columns={[["Name"], ["Environment", "extra"], ["Scopes", "extra"], ["Last used", "extra"], [
        "Status",
        "status",
      ], ["Actions", "actions"]]}
    >
      {keys.map((key) => <Row key={key.id} shown={key} {...actions} />)}
    </ListTable>
  );
}

function Row({ shown, onEdit, onRotate, onRevoke }: Actions & { readonly shown: Key }) {
  const status = keyStatus(shown);
  const title = keyTitle(shown);
  return (
    <tr class={status === "active" ? "" : "faded"}>
      <td>
        <span class="key-name">{title}</span>
        <code class="key-prefix">{shown.prefix}…</code>
        {shown.pathPrefix && <span class="key-path">below {visible(shown.pathPrefix)}</span>}
      </td>
      <td class="extra">{shown.environment}</td>
      <td class="extra">{shown.scopes.join(", ")}</td>
      <td class="extra">{shown.lastUsedAt === null ? "never" : <Age iso={shown.lastUsedAt} />}</td>
      <td class="status">
        <span class={`tag ${status}`}>{status}</span>
        {status === "active" && shown.expiresAt && (
          <span class="hint">
            ends <Age iso={shown.expiresAt} />
          </span>
        )}
      </td>
      <td class="actions">
        {status === "active" && (
          <>
            <button type="button" aria-label={`Edit ${title}`} onClick={() => onEdit(shown)}>
              Edit
            </button>
            <button type="button" aria-label={`Rotate ${title}`} onClick={() => onRotate(shown)}>
              Rotate
            </button>
            <button
              type="button"
              class="danger"
              aria-label={`Revoke ${title}`}
              onClick={() => onRevoke(shown)}
            >
              Revoke
            </button>
          </>
        )}
      </td>
    </tr>
  );
}
