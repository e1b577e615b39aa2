/** The provenance of the changes that a tool's call commits. */
import { actorOf, isRunId, parseProvenance } from "../http/provenance.ts";
import type { Provenance } from "../ports/answer.ts";

/**
 * Reads the request's headers. Without them, the run is the trace (W3C Trace Context) of `_meta`, and the actor is the
 * client's name and version. Throws VALIDATION_ERROR for invalid headers; values of `_meta` are cut and cleaned
 * instead.
 */
export function provenanceOf(headers: Headers, message: unknown): Provenance {
  const meta = field(field(message, "params"), "_meta");
  const client = field(meta, "io.modelcontextprotocol/clientInfo");
  const trace = /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(text(field(meta, "traceparent")))?.[1];
  const isTrace = trace !== undefined && isRunId(trace) && !/^0+$/.test(trace);
  const sent = parseProvenance(headers);
  return {
    runId: sent?.runId ?? (isTrace ? trace : undefined),
    actor: sent?.actor ?? actorOf(text(field(client, "name")), text(field(client, "version"))),
    note: sent?.note,
  };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
