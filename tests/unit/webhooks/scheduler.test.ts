/** When an isolate delivers to which webhook, where more are due than it delivers to at a time. */
import { assertEquals } from "@std/assert";
import { WEBHOOK_DELAY_MILLISECONDS, WEBHOOKS_AT_ONCE } from "../../../supabase/functions/api/limits.ts";
import type { WebhookDelivery, WebhookTarget } from "../../../supabase/functions/api/ports/webhooks.ts";
import { WebhookScheduler } from "../../../supabase/functions/api/webhooks/scheduler.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { silent } from "../../support/stack/supabase_client.ts";

const delivery: Omit<WebhookDelivery, "webhookId" | "changes"> = {
  ...{ id: "m", leaseId: "l", attempt: 1, url: "https://app.example/", secret: "", previousSecret: null },
  ...{ type: "change", timestamp: null, cursor: null, branch: null },
};

/** A scheduler whose database always has something for each of these webhooks, and whose receivers answer when told. */
function scheduled(due: readonly WebhookTarget[]) {
  const clock = new ManualClock();
  const sends: { readonly name: string; readonly answer: () => void }[] = [];
  const scheduler = new WebhookScheduler({
    connect: () => ({
      webhooksDue: (projectId) =>
        Promise.resolve({
          due: due.filter((one) => projectId === null || one.projectId === projectId).slice(
            0,
            WEBHOOKS_AT_ONCE,
          ),
          nextDueMilliseconds: null,
        }),
      webhookStep: (_projectId, id) => Promise.resolve({ ...delivery, changes: [], webhookId: id }),
    }),
    send(projectId, { webhookId, id, leaseId, attempt }) {
      const { promise, resolve } = Promise.withResolvers<void>();
      sends.push({ name: `${projectId}/${webhookId}`, answer: resolve });
      return promise.then(() => ({ id, leaseId, attempt, type: "change", status: 200 }));
    },
    sendMail: null,
    background: () => {},
    clock,
    log: silent,
  });
  /** Lets everything happen that does not wait for a receiver. */
  const pass = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
    clock.advance(WEBHOOK_DELAY_MILLISECONDS);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
  };
  return { scheduler, sends, pass };
}

Deno.test("webhooks that fill an isolate with slow deliveries give way after one: others have the next free places", async () => {
  const slow = Array.from({ length: WEBHOOKS_AT_ONCE }, (_, n) => ({ projectId: "slow", id: `${n}` }));
  const others = ["a", "b"].map((projectId) => ({ projectId, id: "0" }));
  const { scheduler, sends, pass } = scheduled([...slow, ...others]);
  void scheduler.sweep();
  await pass();
  assertEquals(sends.length, WEBHOOKS_AT_ONCE);
  for (const { projectId } of others) scheduler.committed(projectId);
  await pass();
  assertEquals(sends.length, WEBHOOKS_AT_ONCE);
  for (const [index, { projectId }] of others.entries()) {
    sends[index]?.answer();
    await pass();
    assertEquals(sends.slice(WEBHOOKS_AT_ONCE + index).map(({ name }) => name), [`${projectId}/0`]);
  }
});

Deno.test("a webhook of another project with the same id does not stand in for this one", async () => {
  const { scheduler, sends, pass } = scheduled(["a", "b"].map((projectId) => ({ projectId, id: "same" })));
  scheduler.committed("a");
  await pass();
  scheduler.committed("b");
  await pass();
  assertEquals(sends.map(({ name }) => name), ["a/same", "b/same"]);
});
