/** Deliveries of webhooks, as the database leases them and learns of their results. */
import { z } from "zod";
import type { Wire } from "../contract/values.ts";

const target = z.object({ projectId: z.string(), id: z.string() });
export type WebhookTarget = Wire<typeof target>;

export const webhooksDue = z.object({
  due: z.array(target),
  /** In how many milliseconds the next webhook is due; null: none. */
  nextDueMilliseconds: z.number().nullable(),
});

const delivery = z.object({
  /** The same in all tries. */
  id: z.string(),
  /** Null: a test, which nobody leases. */
  leaseId: z.string().nullable(),
  webhookId: z.string(),
  /** From 1. */
  attempt: z.number(),
  url: z.string(),
  /** Encrypted, as the previous one, with which deliveries are signed, too. */
  secret: z.string(),
  previousSecret: z.string().nullable(),
  /** Null: nothing was to be delivered; the next step goes on. */
  type: z.string().nullable(),
  timestamp: z.string().nullable(),
  cursor: z.string().nullable(),
  /** Entries of the change feed. */
  changes: z.array(z.unknown()),
  branch: z.unknown(),
});
export type WebhookDelivery = Wire<typeof delivery>;

/** The try has disabled the webhook: what is to be mailed, and to whom. */
const disabled = z.object({
  disabled: z.object({
    to: z.array(z.string()),
    projectName: z.string(),
    url: z.string(),
    failures: z.number(),
  }),
});
export const webhookStep = z.union([disabled, delivery]).nullable();

/** The result of a try. */
export interface WebhookTry extends Pick<WebhookDelivery, "id" | "leaseId" | "attempt"> {
  readonly type: string;
  /** Null: there was no answer. */
  readonly status: number | null;
  readonly error?: string;
  /** Present: the webhook is paused for this reason. */
  readonly reason?: "secret_unreadable";
  /** Whether the service sends mails: only then it is told that the try has disabled the webhook. */
  readonly mails?: boolean;
}
