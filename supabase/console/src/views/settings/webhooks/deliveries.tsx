/** The last tries of a webhook: what was sent, when, and what the receiver answered. */
import { listDeliveries, type Webhook } from "../../../api/webhooks.ts";
import { Age, ListTable } from "../../../components/list.tsx";
import { Pending } from "../../../components/states.tsx";
import { useLoad } from "../../../state/use_load.ts";

/** `version` changes when the list is to be read again. */
export function Deliveries(
  { projectId, webhook, version }: {
    readonly projectId: string;
    readonly webhook: Webhook;
    readonly version: number;
  },
) {
  const { data, error, reload } = useLoad(
    `deliveries ${projectId} ${webhook.id} ${version}`,
    (signal) => listDeliveries(projectId, webhook.id, signal),
  );
  if (data === undefined) return <Pending {...{ error, reload }} what="the deliveries" />;
  if (data.length === 0) return <p class="hint">Nothing was sent yet.</p>;
  return (
    <ListTable
      class="list deliveries"
      caption={`Deliveries to ${webhook.url}, newest first`}
      columns={[["Sent", "when"], ["Event"], ["Try", "number"], ["Answer"], ["Id", "extra"]]}
    >
      {data.map(({ id, at, type, attempt, status, error }) => (
        <tr key={`${id} ${attempt} ${at}`}>
          <td class="when">
            <Age iso={at} />
          </td>
          <td>{type}</td>
          <td class="number">{attempt}</td>
          <td>
            <span class={`tag ${isAccepted(status) ? "active" : "danger"}`}>{status ?? "none"}</span>
            {error !== undefined && <span class="hint">{error}</span>}
          </td>
          <td class="extra">
            <code>{id}</code>
          </td>
        </tr>
      ))}
    </ListTable>
  );
}

export function isAccepted(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}
