/**
 * Decides when an isolate delivers. Each webhook has its own place in the change feed, and deliveries run apart from each
 * other: one that hangs delays none of another webhook, and no commit. What an isolate leaves, because it ends or because
 * the next try is due much later, is left to the next commit of the project, or to the sweep.
 */
import {
  WEBHOOK_DELAY_MILLISECONDS,
  WEBHOOK_SWEEP_MILLISECONDS,
  WEBHOOK_WAIT_MILLISECONDS_MAX,
  WEBHOOKS_AT_ONCE,
} from "../limits.ts";
import type { SendMail } from "../mail/sender.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { WebhookDelivery, WebhookTarget, WebhookTry } from "../ports/webhooks.ts";
import type { Background } from "../runtime/background.ts";
import { type Clock, sleep } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";

export interface SchedulerParts {
  /** The database, for one call. */
  readonly connect: () => Pick<Metadata, "webhooksDue" | "webhookStep">;
  readonly send: (projectId: string, delivery: WebhookDelivery) => Promise<WebhookTry>;
  /** Null: the service sends no mails. */
  readonly sendMail: SendMail | null;
  readonly background: Background;
  readonly clock: Clock;
  readonly log: Log;
}

/** A run of one project: it ends once nothing is due soon. */
interface Run {
  isRequestedAgain: boolean;
  /** Ends the sleep until the next try is due. */
  wake: AbortController | null;
}

export class WebhookScheduler {
  readonly #runs = new Map<string, Run>();
  /** Webhooks with a delivery under way, at most WEBHOOKS_AT_ONCE. */
  readonly #delivering = new Map<string, Promise<void>>();
  /** Projects with webhooks that found no place there. */
  readonly #waiting = new Set<string>();

  constructor(private readonly parts: SchedulerParts) {}

  /** To be called after a commit of a project with webhooks. Returns at once; a run begins a moment later. */
  committed(projectId: string): void {
    const running = this.#runs.get(projectId);
    if (running) {
      running.isRequestedAgain = true;
      running.wake?.abort();
      return;
    }
    const run: Run = { isRequestedAgain: false, wake: null };
    this.#runs.set(projectId, run);
    this.parts.background(this.#run(projectId, run), "webhooks");
  }

  /** Delivers what is due for this webhook, in the background. */
  deliver(target: WebhookTarget): Promise<void> {
    const running = this.#delivering.get(nameOf(target));
    if (running) return running;
    if (this.#delivering.size >= WEBHOOKS_AT_ONCE) {
      this.#waiting.add(target.projectId);
      return Promise.resolve();
    }
    return this.#start(target, () => this.#step(target, null));
  }

  /** Records the result of a test, and then delivers what is due for this webhook, in the background. */
  async tested(target: WebhookTarget, result: WebhookTry): Promise<void> {
    const first = await this.#step(target, result);
    if (first !== null) void this.#start(target, () => Promise.resolve(first));
  }

  /** Delivers what is due, of all projects; a while later it goes on in the background. Returns whether anything was due. */
  async sweep(): Promise<boolean> {
    const { due } = await this.parts.connect().webhooksDue(null, WEBHOOKS_AT_ONCE);
    const delivering = Promise.all(due.map((target) => this.deliver(target)));
    if (due.length > 0) await Promise.race([delivering, sleep(WEBHOOK_SWEEP_MILLISECONDS, this.parts.clock)]);
    return due.length > 0;
  }

  async #run(projectId: string, run: Run): Promise<void> {
    const { connect, clock, log } = this.parts;
    try {
      for (let isDue = true; isDue || run.isRequestedAgain;) {
        // Commits that follow each other are delivered together.
        await sleep(WEBHOOK_DELAY_MILLISECONDS, clock);
        run.isRequestedAgain = false;
        const { due, nextDueMilliseconds: rest } = await connect().webhooksDue(projectId, WEBHOOKS_AT_ONCE);
        for (const target of due) void this.deliver(target);
        isDue = rest !== null && rest <= WEBHOOK_WAIT_MILLISECONDS_MAX;
        if (!isDue || run.isRequestedAgain) continue;
        run.wake = new AbortController();
        await sleep(rest ?? 0, clock, run.wake.signal).catch(() => {});
        run.wake = null;
      }
    } catch (error) {
      log.backgroundFault("webhooks", error);
    } finally {
      this.#runs.delete(projectId);
      if (run.isRequestedAgain) this.committed(projectId);
    }
  }

  #start(target: WebhookTarget, first: () => Promise<WebhookDelivery | null>): Promise<void> {
    const name = nameOf(target);
    const delivering = this.#deliver(target, first).finally(() => {
      if (this.#delivering.get(name) === delivering) this.#delivering.delete(name);
      this.#admit();
    });
    if (!this.#delivering.has(name)) this.#delivering.set(name, delivering);
    this.parts.background(delivering, "webhooks");
    return delivering;
  }

  /** A place is free: the project that has waited longest for one looks again for what is due. */
  #admit(): void {
    const [projectId] = this.#waiting;
    if (projectId === undefined) return;
    this.#waiting.delete(projectId);
    this.committed(projectId);
  }

  /** Records the result of a try, if there is one, and returns the next delivery. */
  async #step({ projectId, id }: WebhookTarget, tried: WebhookTry | null): Promise<WebhookDelivery | null> {
    const { connect, sendMail } = this.parts;
    const result = tried && { ...tried, mails: sendMail !== null };
    const next = await connect().webhookStep(projectId, id, result);
    if (next === null || !("disabled" in next)) return next;
    sendMail?.((mails, settings) => mails.disabledMail(next.disabled, settings));
    return null;
  }

  /**
   * One delivery after the other, until none is due. Where others wait for a place, it is given up after one: what is due
   * next waits until the lease ends.
   */
  async #deliver(target: WebhookTarget, first: () => Promise<WebhookDelivery | null>): Promise<void> {
    const { projectId } = target;
    const { send, clock, log } = this.parts;
    let isWaiting = false;
    try {
      for (let delivery = await first(); delivery !== null;) {
        const tried: WebhookTry | null = delivery.type === null ? null : await send(projectId, delivery);
        // A long part of the feed had nothing for the webhook. A pause, since nobody pays for these steps.
        if (tried === null) await sleep(WEBHOOK_DELAY_MILLISECONDS, clock);
        isWaiting = tried !== null && !(tried.status !== null && tried.status >= 200 && tried.status < 300);
        delivery = await this.#step(target, tried);
        if (delivery === null || this.#waiting.size === 0) continue;
        this.#waiting.add(projectId);
        break;
      }
    } catch (error) {
      log.backgroundFault("webhooks", error);
      isWaiting = false;
    }
    // Waits for the next try, if it is due soon.
    if (isWaiting) this.committed(projectId);
  }
}

/** A webhook's id is its own only within its project. */
function nameOf({ projectId, id }: WebhookTarget): string {
  return `${projectId}/${id}`;
}
