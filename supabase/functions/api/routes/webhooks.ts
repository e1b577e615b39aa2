/** /project/webhooks: addresses that are told of a project's changes. A secret is shown once, and stored encrypted. */
import { z } from "zod";
import { cursor } from "../contract/values.ts";
import { versionOperation } from "../contract/versions.ts";
import * as contract from "../contract/webhooks.ts";
import type { Context } from "../context.ts";
import { ApiError, ERRORS, fail, failField } from "../errors.ts";
import { normalizeDirectory } from "../http/path.ts";
import type { RequestData } from "../http/request_data.ts";
import {
  PROJECT_WEBHOOKS_MAX,
  WEBHOOK_DELIVERIES_KEPT,
  WEBHOOK_DESCRIPTION_LENGTH_MAX,
  WEBHOOK_SECRETS_HOURS,
  WEBHOOK_URL_LENGTH_MAX,
} from "../limits.ts";
import { defineRoute } from "../route.ts";
import { counted } from "../runtime/counted.ts";
import { addressProblem, privateProblem } from "../webhooks/address.ts";
import type { WebhookParts } from "../webhooks/mod.ts";
import { administer, readAdministrationFields } from "./administration.ts";
import { withoutNul } from "./schemas.ts";

const directory = z.string().transform((text, context) => {
  try {
    return normalizeDirectory(text);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    context.addIssue({ code: "custom", message: error.message });
    return z.NEVER;
  }
}).meta({ type: "string", description: "Only changes below it; by default the whole project." });

const url = z.string().min(1).meta({
  maxLength: WEBHOOK_URL_LENGTH_MAX,
  description: "`https`, of a public host.",
});
const optional = {
  directory: directory.nullish(),
  operations: z.array(versionOperation).min(1).nullish().meta({ description: "By default all." }),
  events: z.array(contract.webhookEvent).min(1).nullish().meta({ description: "By default `change`." }),
  description: z.string().max(WEBHOOK_DESCRIPTION_LENGTH_MAX).refine(...withoutNul)
    .refine((text) => text.isWellFormed(), "must be well-formed Unicode").nullish(),
};
const creation = z.object({ url, ...optional });
const change = z.object({
  url: url.nullish(),
  ...optional,
  state: z.enum(["active", "paused"]).nullish().meta({ description: "`active` tries at once." }),
  rotateSecret: z.boolean().nullish().meta({
    description:
      `The answer has a new \`secret\`. For ${WEBHOOK_SECRETS_HOURS} h deliveries are signed with both.`,
  }),
});
const replay = z.object({
  after: cursor.nullish().meta({ description: "A cursor of the change feed; by default its beginning." }),
});

/** What the database answers besides the webhook. */
const stored = z.object({ projectId: z.uuid(), sealed: z.string(), sealedBefore: z.string().nullish() });

/** The id of a webhook in the URL. A malformed id belongs to no webhook. */
function parseId({ params: { id } }: RequestData): string {
  if (!z.uuid().safeParse(id).success) fail("WEBHOOK_NOT_FOUND", ERRORS.WEBHOOK_NOT_FOUND.message);
  return id;
}

/** Throws VALIDATION_ERROR unless the service would deliver to this address. */
async function ensureAddress(context: Context, { outside }: WebhookParts, address: string): Promise<void> {
  const problem = addressProblem(outside, address);
  if (problem !== null) failField("url", problem);
  if (outside.isTrusted(new URL(address))) return;
  // Nobody has the service resolve names who may not create webhooks.
  await administer(context, "webhooks", {});
  const found = await privateProblem(outside, address);
  if (found !== null) failField("url", found);
}

const OF_WEBHOOKS = {
  credentials: "account or key",
  allows: { admin: "list, create, change and delete webhooks" },
} as const;

export const listWebhooks = defineRoute({
  operation: "list_webhooks",
  ...OF_WEBHOOKS,
  async handle(context) {
    const data = contract.webhookList.parse({ webhooks: await administer(context, "webhooks", {}) });
    return { data, message: `${counted(data.webhooks.length, "webhook")}.` };
  },
  openapi: { summary: "List the project's webhooks, newest first", answer: "webhookList" },
});

export const createWebhook = defineRoute({
  operation: "create_webhook",
  ...OF_WEBHOOKS,
  async handle(context) {
    const fields = await readAdministrationFields(context, creation);
    const parts = await context.webhooks();
    await ensureAddress(context, parts, fields.url);
    const id = crypto.randomUUID();
    const secret = parts.secrets.create();
    const sealed = await parts.secrets.seal(id, secret);
    const made = await administer(context, "create_webhook", { ...fields, id, secret: sealed });
    const data = contract.newWebhook.parse({ ...Object(made), secret });
    return { data, message: "Created. The secret will not be shown again." };
  },
  openapi: {
    summary: "Create a webhook: an address that is told of changes from now on",
    description:
      `A project has at most ${PROJECT_WEBHOOKS_MAX} webhooks. Deliveries are signed as Standard Webhooks says.`,
    body: creation,
    example: { url: "https://example.com/hooks/files", directory: "notes", events: ["change"] },
    answer: "newWebhook",
    errors: ["WEBHOOK_LIMIT_REACHED"],
  },
});

export const changeWebhook = defineRoute({
  operation: "update_webhook",
  ...OF_WEBHOOKS,
  parse: parseId,
  async handle(context, id) {
    const { rotateSecret, url, events, state, ...fields } = await readAdministrationFields(context, change);
    const parts = await context.webhooks();
    const { secrets, scheduler } = parts;
    if (url) await ensureAddress(context, parts, url);
    const perform = async (changes: Readonly<Record<string, unknown>>, secret?: string) => {
      const sealed = secret === undefined ? {} : { secret: await secrets.seal(id, secret) };
      return await administer(context, "change_webhook", { ...changes, ...sealed, id });
    };
    let secret = rotateSecret ? secrets.create() : undefined;
    let changed = await perform({ ...fields, ...given({ url, events, state }) }, secret);
    const { projectId, sealed } = stored.parse(changed);
    // In another installation, or after the service's secret key was replaced, a webhook needs a new secret to go on.
    if (state === "active" && await secrets.open(id, sealed) === undefined) {
      changed = await perform({}, secret = secrets.create());
    }
    if (state === "active") void scheduler.deliver({ projectId, id });
    const data = contract.changedWebhook.parse({ ...Object(changed), secret });
    return { data, message: secret ? "Changed. The secret will not be shown again." : "Changed." };
  },
  openapi: {
    summary: "Change a webhook, pause it, turn it on again, or rotate its secret",
    description:
      "A webhook that is turned on again goes on where it was. If the service cannot read its secret any more, " +
      "the answer has a new one.",
    body: change,
    example: { state: "active" },
    answer: "changedWebhook",
    errors: ["WEBHOOK_NOT_FOUND"],
  },
});

/** The fields that are present: none of these can be removed. */
function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}

export const deleteWebhook = defineRoute({
  operation: "delete_webhook",
  ...OF_WEBHOOKS,
  parse: parseId,
  async handle(context, id) {
    const data = contract.webhook.parse(await administer(context, "delete_webhook", { id }));
    return { data, message: "Deleted. Nothing is delivered any more." };
  },
  openapi: { summary: "Delete a webhook", answer: "webhook", errors: ["WEBHOOK_NOT_FOUND"] },
});

export const testWebhook = defineRoute({
  operation: "test_webhook",
  ...OF_WEBHOOKS,
  parse: parseId,
  async handle(context, id) {
    const found = await administer(context, "test_webhook", { id });
    const { projectId, sealed, sealedBefore = null } = stored.parse(found);
    const { url, cursor } = contract.webhook.parse(found);
    const { send, scheduler } = await context.webhooks();
    const result = await send(projectId, {
      ...{ id: crypto.randomUUID(), leaseId: null, webhookId: id, attempt: 1, url, cursor },
      ...{ secret: sealed, previousSecret: sealedBefore, type: "webhook.test", changes: [], branch: null },
      timestamp: new Date(context.now()).toISOString(),
    });
    await scheduler.tested({ projectId, id }, result);
    const data = contract.webhookTest.parse(result);
    return { data, message: data.status === null ? "There was no answer." : `Answered ${data.status}.` };
  },
  openapi: {
    summary: "Deliver a `webhook.test` now, once, and return the status of the answer",
    answer: "webhookTest",
    errors: ["WEBHOOK_NOT_FOUND"],
  },
});

export const replayWebhook = defineRoute({
  operation: "replay_webhook",
  ...OF_WEBHOOKS,
  parse: parseId,
  async handle(context, id) {
    const fields = await readAdministrationFields(context, replay);
    const moved = await administer(context, "replay_webhook", { ...fields, id });
    const { scheduler } = await context.webhooks();
    void scheduler.deliver({ projectId: stored.shape.projectId.parse(Object(moved).projectId), id });
    return { data: contract.webhook.parse(moved), message: "It goes on after this cursor." };
  },
  openapi: {
    summary: "Deliver everything after a cursor again",
    body: replay,
    answer: "webhook",
    errors: ["WEBHOOK_NOT_FOUND"],
  },
});

export const listDeliveries = defineRoute({
  operation: "list_webhook_deliveries",
  ...OF_WEBHOOKS,
  parse: parseId,
  async handle(context, id) {
    const found = await administer(context, "webhook_deliveries", { id });
    const data = contract.webhookDeliveries.parse({ deliveries: found });
    return { data, message: `${counted(data.deliveries.length, "delivery", "deliveries")}.` };
  },
  openapi: {
    summary: `List the last ${WEBHOOK_DELIVERIES_KEPT} tries of a webhook, newest first`,
    answer: "webhookDeliveries",
    errors: ["WEBHOOK_NOT_FOUND"],
  },
});
