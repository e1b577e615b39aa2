/** Searches that wait until their directory is indexed. */
import type { Metadata } from "../ports/metadata.ts";
import type { IndexedScope } from "../ports/search_index.ts";
import type { Clock } from "../runtime/clock.ts";
import { ProjectWatch } from "../runtime/project_watch.ts";

/** Waits until everything in a directory of a project is indexed. */
export class IndexWatch extends ProjectWatch<IndexedScope> {
  /** `connect` returns the port for one call, with a deadline of its own. */
  constructor(connect: () => Pick<Metadata, "areIndexed">, clock: Clock) {
    super((projectId, scopes) => connect().areIndexed(projectId, scopes), clock);
  }
}
