import type {
  ChangedWebhook,
  NewWebhook,
  Webhook,
  WebhookDeliveries,
  WebhookList,
  WebhookTest,
} from "../../../functions/api/contract/webhooks.ts";
import { call } from "./client.ts";

export type { NewWebhook, Webhook, WebhookTest };
export type Delivery = WebhookDeliveries["deliveries"][number];

/** What a person decides about a webhook. */
export interface WantedWebhook {
  readonly url: string;
  /** Null: the whole project. */
  readonly directory: string | null;
  readonly events: Webhook["events"];
  readonly description: string | null;
}

const WEBHOOKS = "/project/webhooks";

/** Newest first. */
export async function listWebhooks(projectId: string, signal?: AbortSignal): Promise<readonly Webhook[]> {
  return (await call<WebhookList>({ path: WEBHOOKS, projectId, signal })).webhooks;
}

export function createWebhook(projectId: string, body: WantedWebhook): Promise<NewWebhook> {
  return call({ method: "POST", path: WEBHOOKS, projectId, body });
}

export function changeWebhook(
  projectId: string,
  id: string,
  body: Partial<WantedWebhook> & { readonly state?: "active" | "paused"; readonly rotateSecret?: true },
): Promise<ChangedWebhook> {
  return call({ method: "PATCH", path: `${WEBHOOKS}/${id}`, projectId, body });
}

export async function deleteWebhook(projectId: string, id: string): Promise<void> {
  await call<Webhook>({ method: "DELETE", path: `${WEBHOOKS}/${id}`, projectId });
}

/** Delivers a `webhook.test` once. */
export function testWebhook(projectId: string, id: string): Promise<WebhookTest> {
  return call({ method: "POST", path: `${WEBHOOKS}/${id}/test`, projectId, body: {} });
}

/** Delivers everything after a cursor again; by default, everything. */
export async function replayWebhook(projectId: string, id: string, after: string | undefined): Promise<void> {
  await call<Webhook>({ method: "POST", path: `${WEBHOOKS}/${id}/replay`, projectId, body: { after } });
}

/** The last tries, newest first. */
export async function listDeliveries(
  projectId: string,
  id: string,
  signal?: AbortSignal,
): Promise<readonly Delivery[]> {
  const path = `${WEBHOOKS}/${id}/deliveries`;
  return (await call<WebhookDeliveries>({ path, projectId, signal })).deliveries;
}
