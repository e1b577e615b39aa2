/** Sends one delivery, signed as Standard Webhooks says (https://www.standardwebhooks.com). */
import { Webhook } from "standardwebhooks";
import { WEBHOOK_MILLISECONDS } from "../limits.ts";
import { LateError, type Outside } from "../outbound/outside.ts";
import { NotPublicError, readStatus } from "../outbound/public_request.ts";
import type { WebhookDelivery, WebhookTry } from "../ports/webhooks.ts";
import { addressProblem } from "./address.ts";
import type { WebhookSecrets } from "./secrets.ts";

export interface Sender {
  readonly secrets: WebhookSecrets;
  readonly outside: Outside;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Never throws for what the receiver or the address does: that is the result of the try. */
export async function sendDelivery(
  sender: Sender,
  projectId: string,
  delivery: WebhookDelivery,
): Promise<WebhookTry> {
  const { id, leaseId, type, attempt, webhookId } = delivery;
  const result = { id, leaseId, type: type ?? "", attempt, status: null };
  const secrets = await openSecrets(sender, webhookId, [delivery.secret, delivery.previousSecret]);
  if (secrets === null) {
    const error = "The secret cannot be read with the service's secret keys. Rotate it.";
    return { ...result, error, reason: "secret_unreadable" };
  }
  const url = URL.parse(delivery.url);
  const problem = addressProblem(sender.outside, delivery.url);
  if (url === null || problem !== null) {
    return { ...result, error: `The address ${problem ?? "is not valid"}.` };
  }
  const body = bodyOf(projectId, delivery);
  const headers = headersOf(id, new Date(sender.now()), body, secrets);
  try {
    const request = { method: "POST", headers, body } as const;
    const status = await sender.outside.request(url, request, WEBHOOK_MILLISECONDS, readStatus);
    return status >= 300 && status < 400
      ? { ...result, status, error: "Redirects are not followed." }
      : { ...result, status };
  } catch (error) {
    return { ...result, error: reasonOf(error) };
  }
}

/** Null where the present secret cannot be read. */
async function openSecrets(
  { secrets }: Sender,
  webhookId: string,
  [present, previous]: readonly [string, string | null],
): Promise<readonly string[] | null> {
  const opened = await secrets.open(webhookId, present);
  if (opened === undefined) return null;
  const before = previous === null ? undefined : await secrets.open(webhookId, previous);
  return before === undefined ? [opened] : [opened, before];
}

function bodyOf(projectId: string, { type, timestamp, cursor, changes, branch }: WebhookDelivery): string {
  // JSON leaves out what is undefined.
  const data = { projectId, cursor, changes, branch: branch ?? undefined };
  return JSON.stringify({ type, timestamp, data });
}

function headersOf(id: string, at: Date, body: string, secrets: readonly string[]): Record<string, string> {
  return {
    "Content-Type": "application/json",
    "Content-Length": String(new TextEncoder().encode(body).length),
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(" "),
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof LateError) return `No answer within ${WEBHOOK_MILLISECONDS / 1000} seconds.`;
  if (error instanceof NotPublicError) return "The address is not that of a public host.";
  return "The host cannot be reached, or its answer is not HTTP.";
}
