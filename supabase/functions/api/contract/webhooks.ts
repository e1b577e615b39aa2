/** Webhooks: addresses that are told of a project's changes. */
import { z } from "zod";
import { count, cursor, time, type Wire } from "./values.ts";
import { versionOperation } from "./versions.ts";

export const webhookEvent = z.enum(["change", "branch.ready", "branch.merged"]);

export const webhook = z.object({
  id: z.uuid(),
  url: z.string(),
  directory: z.string().nullable().meta({ description: "Null: the whole project." }),
  operations: z.array(versionOperation).nullable().meta({ description: "Null: all." }),
  events: z.array(webhookEvent),
  description: z.string().nullable(),
  state: z.enum(["active", "paused", "disabled"]).meta({
    description: "`disabled`: the last try of a delivery has failed.",
  }),
  reason: z.enum(["deliveries_failed", "secret_unreadable", "other_database"]).nullable().meta({
    description: "Why the service has paused or disabled it.",
  }),
  cursor: cursor.meta({ description: "All changes up to this one were delivered." }),
  failures: count.meta({ description: "Failed tries of the present delivery." }),
  nextTryAt: time.nullable().meta({ description: "Null: at once, when there is something to deliver." }),
  createdAt: time,
}).meta({ id: "Webhook" });
export type Webhook = Wire<typeof webhook>;

export const webhookList = z.object({ webhooks: z.array(webhook) }).meta({ id: "WebhookList" });
export type WebhookList = Wire<typeof webhookList>;

const secret = z.string().meta({ description: "Signs the deliveries. It is not shown again." });
export const newWebhook = webhook.extend({ secret }).meta({ id: "NewWebhook" });
export type NewWebhook = Wire<typeof newWebhook>;
export const changedWebhook = webhook.extend({
  secret: secret.optional().meta({ description: "Of a rotation. It is not shown again." }),
}).meta({ id: "ChangedWebhook" });
export type ChangedWebhook = Wire<typeof changedWebhook>;

const status = z.int().nullable().meta({ description: "Of the receiver's answer; null: there was none." });
const error = z.string().optional();
export const webhookTest = z.object({ status, error }).meta({ id: "WebhookTest" });
export type WebhookTest = Wire<typeof webhookTest>;

export const webhookDeliveries = z.object({
  deliveries: z.array(z.object({
    id: z.uuid().meta({ description: "`webhook-id`, the same in all tries of a delivery." }),
    at: time,
    type: z.string(),
    attempt: z.int().min(1),
    status,
    error,
  })),
}).meta({ id: "WebhookDeliveries" });
export type WebhookDeliveries = Wire<typeof webhookDeliveries>;
