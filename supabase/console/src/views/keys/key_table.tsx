import type { Key } from "../../api/projects.ts";
import { Age, ListTable } from "../../components/list.tsx";
import { visible } from "../../format.ts";
import { keyStatus, keyTitle } from "./key_status.ts";

const ACTIONS = [["edit", "Edit"], ["rotate", "Rotate"], ["revoke", "Revoke"]] as const;
export type KeyAction = typeof ACTIONS[number][0];

interface Properties {
  readonly keys: readonly Key[];
  readonly onChoose: (action: KeyAction, key: Key) => void;
}

export function KeyTable({ keys, onChoose }: Properties) {
  return (
    <ListTable
      class="list keys"
      caption="API keys, newest first"
      columns={[["Name"], ["Environment", "extra"], ["Scopes", "extra"], ["Last used", "extra"], [
        "Status",
        "status",
      ], ["Actions", "actions"]]}
    >
      {keys.map((key) => <Row key={key.id} shown={key} onChoose={(action) => onChoose(action, key)} />)}
    </ListTable>
  );
}

export function StatusCell({ shown }: { readonly shown: Key }) {
  const status = keyStatus(shown);
  return (
    <td class="status">
      <span class={`tag ${status}`}>{status}</span>
      {status === "active" && shown.expiresAt && (
        <span class="hint">
          ends <Age iso={shown.expiresAt} />
        </span>
      )}
    </td>
  );
}

function Row({ shown, onChoose }: { readonly shown: Key; readonly onChoose: (action: KeyAction) => void }) {
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
      <StatusCell shown={shown} />
      <td class="actions">
        {status === "active" && ACTIONS.map(([action, text]) => (
          <button
            key={action}
            type="button"
            class={action === "revoke" ? "danger" : ""}
            aria-label={`${text} ${title}`}
            onClick={() => onChoose(action)}
          >
            {text}
          </button>
        ))}
      </td>
    </tr>
  );
}
