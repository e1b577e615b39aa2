/** Requests that wait for changes. */
import type { Metadata } from "../ports/metadata.ts";
import type { Clock } from "../runtime/clock.ts";
import { ProjectWatch } from "../runtime/project_watch.ts";

/** Waits until a project has a change after the position that was read. */
export class ChangeWatch extends ProjectWatch<number> {
  /** `connect` returns the port for one call, with a deadline of its own. */
  constructor(connect: () => Pick<Metadata, "newestChange">, clock: Clock) {
    const ask = async (projectId: string, positions: readonly number[]) => {
      // The database needs to search only after the highest position: changes up to it exist already.
      const newest = await connect().newestChange(projectId, Math.max(...positions));
      return positions.map((position) => newest > position);
    };
    super(ask, clock);
  }
}
