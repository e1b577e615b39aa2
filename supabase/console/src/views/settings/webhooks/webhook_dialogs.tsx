/** Dialogs about one webhook: making and changing it, its secret, delivering again, and deleting it. */
import { useState } from "preact/hooks";
import { reasonFor } from "../../../api/failure.ts";
import { listChangesBefore } from "../../../api/changes.ts";
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  replayWebhook,
  type Webhook,
} from "../../../api/webhooks.ts";
import { CopyField } from "../../../components/copy.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { FormDialog, FormProblem, SelectField, TextField, useSubmit } from "../../../components/form.tsx";
import { visible } from "../../../format.ts";
import { notify } from "../../../state/notices.ts";

type Event = Webhook["events"][number];

export const EVENTS: readonly (readonly [Event, string])[] = [
  ["change", "Changes of files"],
  ["branch.ready", "A branch is ready to be merged"],
  ["branch.merged", "A branch was merged"],
];

interface FormProperties {
  readonly projectId: string;
  /** Undefined: a new one is made. */
  readonly webhook?: Webhook | undefined;
  readonly onClose: () => void;
  /** Called with the secret of a new webhook. */
  readonly onDone: (secret?: string) => void;
}

export function WebhookDialog({ projectId, webhook, onClose, onDone }: FormProperties) {
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [directory, setDirectory] = useState(webhook?.directory ?? "");
  const [events, setEvents] = useState<readonly Event[]>(webhook?.events ?? ["change"]);
  const [description, setDescription] = useState(webhook?.description ?? "");
  const { isBusy, error, submit } = useSubmit(async () => {
    const wanted = {
      url: url.trim(),
      directory: directory.trim() || null,
      events: [...events],
      description: description.trim() || null,
    };
    const secret = webhook === undefined
      ? (await createWebhook(projectId, wanted)).secret
      : (await changeWebhook(projectId, webhook.id, wanted)).secret;
    onDone(secret);
  });
  const noEvent = reasonFor(error, "events");
  return (
    <FormDialog
      title={webhook === undefined ? "New webhook" : "Edit webhook"}
      action={webhook === undefined ? "Create webhook" : "Save"}
      {...{ isBusy, submit, onClose }}
    >
      <TextField
        label="Address"
        value={url}
        onInput={setUrl}
        hint="https, on a host that everybody can reach. It answers with 2xx within 10 seconds."
        problem={reasonFor(error, "url")}
        input={{ autoFocus: true, autoComplete: "off", spellcheck: false }}
      />
      <TextField
        label="Folder"
        value={directory}
        onInput={setDirectory}
        hint="Only changes below it. Empty: the whole project."
        problem={reasonFor(error, "directory")}
        input={{ autoComplete: "off", spellcheck: false }}
      />
      <fieldset class="field">
        <legend>Events</legend>
        {EVENTS.map(([event, text]) => (
          <label key={event} class="check">
            <input
              type="checkbox"
              checked={events.includes(event)}
              onChange={({ currentTarget }) =>
                setEvents(currentTarget.checked ? [...events, event] : events.filter((one) => one !== event))}
            />
            {text}
          </label>
        ))}
        {noEvent && <p class="field-problem">{noEvent}</p>}
      </fieldset>
      <TextField
        label="Description"
        value={description}
        onInput={setDescription}
        problem={reasonFor(error, "description")}
        input={{ autoComplete: "off" }}
      />
      <FormProblem error={error} fields={["url", "directory", "events", "description"]} />
    </FormDialog>
  );
}

/** Shows a secret, which the service does not show again. */
export function SecretDialog({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <Dialog title="Secret of the webhook" onClose={onClose}>
      <p class="note">
        Copy the secret now: it is not shown again. The receiver verifies each delivery with it.
      </p>
      <CopyField label="Secret" text={secret} what="the secret" rows={1} />
      <footer class="dialog-foot">
        <button type="button" class="primary" onClick={onClose}>Done</button>
      </footer>
    </Dialog>
  );
}

interface OneProperties {
  readonly projectId: string;
  readonly webhook: Webhook;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** In seconds. */
const SPANS = [["3600", "the last hour"], ["86400", "the last day"], ["604800", "the last 7 days"]] as const;

export function ReplayDialog({ projectId, webhook, onClose, onDone }: OneProperties) {
  const [span, setSpan] = useState("3600");
  const { isBusy, error, submit } = useSubmit(async () => {
    const before = new Date(Date.now() - 1000 * Number(span)).toISOString();
    const page = await listChangesBefore(projectId, { before, limit: 1 }, new AbortController().signal);
    await replayWebhook(projectId, webhook.id, page.changes[0]?.cursor);
    notify("The changes are delivered again.");
    onDone();
  });
  return (
    <FormDialog title="Deliver again" action="Deliver again" {...{ isBusy, submit, onClose }}>
      <p>{visible(webhook.url)} gets these changes once more, in order, and then goes on with new ones.</p>
      <SelectField label="Changes of" value={span} onChange={setSpan} options={SPANS} />
      <FormProblem error={error} fields={[]} />
    </FormDialog>
  );
}

export function RotateSecretDialog(
  { projectId, webhook, onClose, onMade }: Omit<OneProperties, "onDone"> & {
    readonly onMade: (secret: string | undefined) => void;
  },
) {
  const { isBusy, error, submit } = useSubmit(async () => {
    onMade((await changeWebhook(projectId, webhook.id, { rotateSecret: true })).secret);
  });
  return (
    <FormDialog title="Rotate the secret" action="Rotate secret" {...{ isBusy, submit, onClose }}>
      <p>
        A new secret replaces the one of{" "}
        {visible(webhook.url)}. For 24 hours each delivery is signed with both, so that the receiver can
        change over.
      </p>
      <FormProblem error={error} fields={[]} />
    </FormDialog>
  );
}

export function DeleteWebhookDialog({ projectId, webhook, onClose, onDone }: OneProperties) {
  const { isBusy, error, submit } = useSubmit(async () => {
    await deleteWebhook(projectId, webhook.id);
    notify("The webhook was deleted.");
    onDone();
  });
  return (
    <FormDialog title="Delete webhook?" action="Delete webhook" isDangerous {...{ isBusy, submit, onClose }}>
      <p>Nothing is sent to {visible(webhook.url)} any more. This cannot be undone.</p>
      <FormProblem error={error} fields={[]} />
    </FormDialog>
  );
}
