/** What a call of a tool says of the changes that it makes. */
import { actorOf, isRunId, parseProvenance } from "../http/provenance.ts";
import type { Provenance } from "../ports/answer.ts";

/**
 * The request's headers; without them, the run is the trace (W3C Trace Context) of `_meta`, and the actor what the
 * client says it is. Throws VALIDATION_ERROR for headers that break their rules; what clients put into `_meta` is made
 * to fit.
 */
export function provenanceOf(headers: Headers, message: unknown): Provenance {
  const meta = field(field(message, "params"), "_meta");
  const client = field(meta, "io.modelcontextprotocol/clientInfo");
  const trace = /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(text(field(meta, "traceparent")))?.[1];
  const isTrace = trace !== undefined && isRunId(trace) && !/^0+$/.test(trace);
  const said = parseProvenance(headers);
  return {
    runId: said?.runId ?? (isTrace ? trace : undefined),
    actor: said?.actor ?? actorOf(text(field(client, "name")), text(field(client, "version"))),
    note: said?.note,
  };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
