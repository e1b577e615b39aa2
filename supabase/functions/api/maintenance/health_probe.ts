/** Whether database and storage take a write and a read, found out as seldom as possible however many ask. */
import { HEALTH_PROBE_INTERVAL_MILLISECONDS } from "../limits.ts";
import { ApiError } from "../errors.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Segments } from "../ports/segments.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";

export type ProbedPart = "database" | "storage";

export interface Probed {
  readonly metadata: Pick<Metadata, "probe">;
  readonly segments: Pick<Segments, "probe">;
}

/** One per isolate: whoever asks while a probe runs, or shortly after it, gets its result. */
export class HealthProbe {
  private running: Promise<readonly ProbedPart[]> | null = null;
  private last: { readonly failing: readonly ProbedPart[]; readonly at: number } | null = null;

  /** `connect` returns what one probe uses, with a deadline of its own. */
  constructor(
    private readonly connect: () => Probed,
    private readonly clock: Clock,
    private readonly log: Pick<Log, "backgroundFault">,
  ) {}

  /** What does not work, as of at most HEALTH_PROBE_INTERVAL_MILLISECONDS ago. */
  async failing(): Promise<readonly ProbedPart[]> {
    const { last, clock } = this;
    if (last !== null && clock.now() - last.at < HEALTH_PROBE_INTERVAL_MILLISECONDS) return last.failing;
    this.running ??= this.probe().finally(() => this.running = null);
    return await this.running;
  }

  private async probe(): Promise<readonly ProbedPart[]> {
    const { metadata, segments } = this.connect();
    const failing = (await Promise.all([
      this.failed("database", metadata.probe()),
      this.failed("storage", segments.probe()),
    ])).flatMap((part) => part ?? []);
    this.last = { failing, at: this.clock.now() };
    return failing;
  }

  /** Whatever the reason: a database that answers what it should not is not in order either. */
  private async failed(part: ProbedPart, probe: Promise<void>): Promise<ProbedPart | undefined> {
    try {
      await probe;
      return undefined;
    } catch (error) {
      // What is out of reach is logged with its call.
      if (!(error instanceof ApiError)) this.log.backgroundFault("health", error);
      return part;
    }
  }
}
