/** The project's webhooks: where each delivers, its state, and what a person does with it. */
import { useState } from "preact/hooks";
import { reasonOf } from "../../../api/failure.ts";
import type { Project } from "../../../api/projects.ts";
import { changeWebhook, listWebhooks, testWebhook, type Webhook } from "../../../api/webhooks.ts";
import { Icon } from "../../../components/icon.tsx";
import { Age } from "../../../components/list.tsx";
import { MenuButton } from "../../../components/menu_button.tsx";
import { Pending } from "../../../components/states.tsx";
import { formatCount, visible } from "../../../format.ts";
import { notify, notifyProblem } from "../../../state/notices.ts";
import { useLoad } from "../../../state/use_load.ts";
import { Deliveries, isAccepted } from "./deliveries.tsx";
import {
  DeleteWebhookDialog,
  EVENTS,
  ReplayDialog,
  RotateSecretDialog,
  SecretDialog,
  WebhookDialog,
} from "./webhook_dialogs.tsx";

type Asked =
  | { readonly about: "new" }
  | { readonly about: "secret"; readonly secret: string }
  | { readonly about: "edit" | "replay" | "rotate" | "delete"; readonly webhook: Webhook };

export function WebhooksCard({ project: { id: projectId } }: { readonly project: Project }) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const { data, error, reload } = useLoad(
    `webhooks ${projectId}`,
    (signal) => listWebhooks(projectId, signal),
  );
  const done = (secret?: string) => {
    setAsked(secret === undefined ? null : { about: "secret", secret });
    reload();
  };
  return (
    <section class="card" aria-labelledby="webhooks-title">
      <div class="card-head">
        <h2 id="webhooks-title">Webhooks</h2>
        <button type="button" class="primary" onClick={() => setAsked({ about: "new" })}>
          <Icon name="plus" />New webhook
        </button>
      </div>
      <p class="hint">
        The service sends every change to these addresses, in order and at least once, signed with the secret
        of the webhook.
      </p>
      {data === undefined
        ? <Pending {...{ error, reload }} what="the webhooks" />
        : data.length === 0
        ? <p>There are no webhooks.</p>
        : (
          <ul class="webhooks">
            {data.map((webhook) => (
              <Entry key={webhook.id} {...{ projectId, webhook, reload }} onAsk={setAsked} onSecret={done} />
            ))}
          </ul>
        )}
      {asked && <Question {...{ projectId, asked, done }} onClose={() => setAsked(null)} />}
    </section>
  );
}

interface QuestionProperties {
  readonly projectId: string;
  readonly asked: Asked;
  readonly done: (secret?: string) => void;
  readonly onClose: () => void;
}

function Question({ projectId, asked, done, onClose }: QuestionProperties) {
  switch (asked.about) {
    case "new":
      return <WebhookDialog {...{ projectId, onClose }} onDone={done} />;
    case "secret":
      return <SecretDialog secret={asked.secret} onClose={onClose} />;
    case "edit":
      return <WebhookDialog {...{ projectId, onClose }} webhook={asked.webhook} onDone={done} />;
    case "rotate":
      return <RotateSecretDialog {...{ projectId, onClose }} webhook={asked.webhook} onMade={done} />;
    case "replay":
      return <ReplayDialog {...{ projectId, onClose }} webhook={asked.webhook} onDone={done} />;
    case "delete":
      return <DeleteWebhookDialog {...{ projectId, onClose }} webhook={asked.webhook} onDone={done} />;
  }
}

interface EntryProperties {
  readonly projectId: string;
  readonly webhook: Webhook;
  readonly reload: () => void;
  readonly onAsk: (asked: Asked) => void;
  /** Called after a change, which sometimes makes a new secret. */
  readonly onSecret: (secret?: string) => void;
}

function Entry({ projectId, webhook, reload, onAsk, onSecret }: EntryProperties) {
  const { id, url, description, state } = webhook;
  const [isOpen, setOpen] = useState(false);
  const [version, setVersion] = useState(0);
  const perform = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      notifyProblem(reasonOf(error));
    }
    setVersion((before) => before + 1);
  };
  const refresh = () => {
    reload();
    setVersion(version + 1);
  };
  const test = () =>
    perform(async () => {
      const { status, error = "no answer" } = await testWebhook(projectId, id);
      if (isAccepted(status)) notify(`The receiver answered ${status}.`);
      else notifyProblem(`The test failed: ${status === null ? error : `the receiver answered ${status}`}.`);
      setOpen(true);
    });
  const turn = (next: "active" | "paused") =>
    perform(async () => onSecret((await changeWebhook(projectId, id, { state: next })).secret));
  const ask = (about: "edit" | "replay" | "rotate" | "delete") => () => onAsk({ about, webhook });
  return (
    <li aria-label={url}>
      <p class="webhook-head">
        <strong>{visible(url)}</strong>
        <span class={`tag ${state === "active" ? "active" : state === "disabled" ? "danger" : ""}`}>
          {state}
        </span>
      </p>
      {description !== null && <p>{visible(description)}</p>}
      <p class="hint">{heard(webhook)}</p>
      <State webhook={webhook} />
      <div class="tools">
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>Deliveries</button>
        <button type="button" onClick={test}>Send test</button>
        {state === "active"
          ? <button type="button" onClick={() => turn("paused")}>Pause</button>
          : <button type="button" onClick={() => turn("active")}>Resume</button>}
        <MenuButton
          label={`Actions for ${url}`}
          actions={[
            { text: "Edit …", run: ask("edit") },
            { text: "Deliver again …", run: ask("replay") },
            { text: "Rotate secret …", run: ask("rotate") },
            { text: "Refresh", run: refresh },
            { text: "Delete …", isDangerous: true, isApart: true, run: ask("delete") },
          ]}
        >
          <Icon name="more" />
        </MenuButton>
      </div>
      {isOpen && <Deliveries {...{ projectId, webhook, version }} />}
    </li>
  );
}

/** `Changes of files below notes; a branch was merged`. */
function heard({ events, directory, operations }: Webhook): string {
  const texts = EVENTS.filter(([event]) => events.includes(event)).map(([, text]) => text.toLowerCase());
  const [first = ""] = texts;
  const all = [first.charAt(0).toUpperCase() + first.slice(1), ...texts.slice(1)].join("; ");
  const where = directory === null ? "" : `, below ${visible(directory)}`;
  return `${all}${where}${operations === null ? "" : `, only ${operations.join(", ")}`}`;
}

const REASONS: Readonly<Record<NonNullable<Webhook["reason"]>, string>> = {
  deliveries_failed:
    "All tries of a delivery failed, so nothing more is sent. Resume it when the receiver works.",
  secret_unreadable: "The service cannot read its secret any more. Resume it to get a new one.",
  other_database: "The database was restored elsewhere. Resume it if this copy should send, too.",
};

function State({ webhook: { reason, failures, nextTryAt, state } }: { readonly webhook: Webhook }) {
  if (reason !== null) return <p class="note">{REASONS[reason]}</p>;
  if (failures === 0 || state !== "active") return null;
  return (
    <p class="note">
      {formatCount(failures, "try", "tries")} failed.{" "}
      {nextTryAt === null ? "The next one follows at once." : (
        <>
          Next try <Age iso={nextTryAt} />.
        </>
      )}
    </p>
  );
}
