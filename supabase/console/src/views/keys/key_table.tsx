import type { Key } from "../../api/projects.ts";
import { Age, ListTable } from "../../components/list.tsx";
import { visible } from "../../format.ts";
import { keyStatus, keyTitle } from "./key_status.ts";

const ACTIONS = [["edit", "Edit"], ["rotate", "Rotate"], ["revoke", "Revoke"]] as const;
export type KeyAction = typeof ACTIONS[number][0];

const CAPTIONS = { key: "API keys, newest first", app: "Connected apps, newest first" };

interface Properties {
  readonly kind: Key["kind"];
  readonly keys: readonly Key[];
  readonly onChoose: (action: KeyAction, key: Key) => void;
}

export function KeyTable({ kind, keys, onChoose }: Properties) {
  return (
    <ListTable
      class="list keys"
      caption={CAPTIONS[kind]}
      columns={[
        ["Name"],
        [kind === "app" ? "App" : "Environment", "extra"],
        ["Scopes", "extra"],
        ["Last used", "extra"],
        ["Status", "status"],
        ["Actions", "actions"],
      ]}
    >
      {keys.map((key) => <Row key={key.id} shown={key} onChoose={(action) => onChoose(action, key)} />)}
    </ListTable>
  );
}

function Row({ shown, onChoose }: { readonly shown: Key; readonly onChoose: (action: KeyAction) => void }) {
  const status = keyStatus(shown);
  const title = keyTitle(shown);
  const { client } = shown;
  // An app signs in, so there is nothing to copy or to rotate.
  const actions = ACTIONS.filter(([action]) => client === undefined || action === "revoke");
  return (
    <tr class={status === "active" ? "" : "faded"}>
      <td>
        <span class="key-name">{title}</span>
        {client === undefined
          ? <code class="key-prefix">{shown.prefix}…</code>
          : <span class="key-prefix">{visible(client.host) || "an app on a device"}</span>}
        {shown.pathPrefix && <span class="key-path">below {visible(shown.pathPrefix)}</span>}
      </td>
      <td class="extra">{client === undefined ? shown.environment : visible(client.name)}</td>
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
        {status === "active" && actions.map(([action, text]) => (
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
