/** Checks whether the database accepts a commit, and Storage an object. Several health requests share a probe. */
import { HEALTH_PROBE_INTERVAL_MILLISECONDS } from "../limits.ts";
import { ApiError } from "../errors.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Segments } from "../ports/segments.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";

type ProbedPart = "database" | "storage";

/** One per isolate. A request during a probe, or within HEALTH_PROBE_INTERVAL_MILLISECONDS after it, gets its result. */
export class HealthProbe {
  private running: Promise<ProbedPart | null> | null = null;
  private last: { readonly failing: ProbedPart | null; readonly at: number } | null = null;

  /** `connect` returns the ports for one probe, with a deadline of its own. */
  constructor(
    private readonly connect: () => {
      readonly metadata: Pick<Metadata, "probe">;
      readonly segments: Pick<Segments, "probe">;
    },
    private readonly clock: Clock,
    private readonly log: Pick<Log, "backgroundFault">,
  ) {}

  /**
   * The part that does not work, as of at most HEALTH_PROBE_INTERVAL_MILLISECONDS ago; null: both work. Storage keeps its
   * own tables in the database, so where the database fails, a failure of Storage says nothing about Storage.
   */
  async failing(): Promise<ProbedPart | null> {
    const { last, clock } = this;
    if (last !== null && clock.now() - last.at < HEALTH_PROBE_INTERVAL_MILLISECONDS) return last.failing;
    this.running ??= this.probe().finally(() => this.running = null);
    return await this.running;
  }

  private async probe(): Promise<ProbedPart | null> {
    const { metadata, segments } = this.connect();
    const [database, storage] = await Promise.all([
      this.failed("database", metadata.probe()),
      this.failed("storage", segments.probe()),
    ]);
    const failing = database ?? storage;
    this.last = { failing, at: this.clock.now() };
    return failing;
  }

  /** Returns the part if its probe fails for any reason: a database with unexpected answers is not healthy either. */
  private async failed(part: ProbedPart, probe: Promise<void>): Promise<ProbedPart | null> {
    try {
      await probe;
      return null;
    } catch (error) {
      // A call to a back end that is out of reach has logged its failure itself.
      if (!(error instanceof ApiError)) this.log.backgroundFault("health", error);
      return part;
    }
  }
}
