/** The parts of an isolate with which it delivers. They are created with the first webhook that it meets. */
import { WEBHOOK_STEP_DEADLINE_MILLISECONDS } from "../limits.ts";
import { Outside } from "../outbound/outside.ts";
import type { WebhookDelivery } from "../ports/webhooks.ts";
import { Deadline } from "../runtime/deadline.ts";
import type { Background } from "../runtime/background.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Metadata } from "../ports/metadata.ts";
import { type SchedulerParts, WebhookScheduler } from "./scheduler.ts";
import { WebhookSecrets } from "./secrets.ts";
import { sendDelivery } from "./send.ts";

/** The parts of the service that deliveries need. */
interface Parts {
  readonly connectBackground: (deadline: Deadline) => { readonly metadata: Metadata };
  readonly secretKeys: readonly string[];
  readonly outboundAllowedHosts: readonly string[];
  readonly sendMail: SchedulerParts["sendMail"];
  readonly background: Background;
  readonly clock: Clock;
  readonly log: Log;
  readonly now: () => number;
}

export type WebhookParts = ReturnType<typeof createWebhooks>;

export function createWebhooks(
  { connectBackground, secretKeys, outboundAllowedHosts, sendMail, background, clock, log, now }: Parts,
) {
  const sender = {
    secrets: new WebhookSecrets(secretKeys),
    outside: new Outside(outboundAllowedHosts),
    now,
  };
  const send = (projectId: string, delivery: WebhookDelivery) => sendDelivery(sender, projectId, delivery);
  const connect = () => connectBackground(new Deadline(WEBHOOK_STEP_DEADLINE_MILLISECONDS, clock)).metadata;
  return {
    ...sender,
    send,
    scheduler: new WebhookScheduler({ connect, send, sendMail, background, clock, log }),
  };
}
