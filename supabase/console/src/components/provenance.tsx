/** Actor, run and note of a change, as the client sent them. The service verifies the key beside them, but not these. */
import { shortenId, visible } from "../format.ts";
import { hrefOf } from "../state/router.ts";

interface Properties {
  readonly projectId: string;
  readonly actor?: string | undefined;
  readonly runId?: string | undefined;
  readonly note?: string | undefined;
}

/** Renders nothing if the client sent none. */
export function Provenance({ projectId, actor, runId, note }: Properties) {
  if (actor === undefined && runId === undefined && note === undefined) return null;
  return (
    <div class="provenance">
      {actor !== undefined && <span class="actor" title="X-Actor">{visible(actor)}</span>}
      {runId !== undefined && (
        <a class="run" title={`Run ${runId}`} href={hrefOf({ name: "run", projectId, runId })}>
          run {shortenId(runId)}
        </a>
      )}
      {note !== undefined && <q title="X-Change-Note">{visible(note)}</q>}
    </div>
  );
}
