/** The provenance that a client sends with a change: X-Run-Id, X-Actor, X-Change-Note. */
import { RUN_ID_RULE, RUN_ID_SHAPE } from "../contract/run_id.ts";
import { failField } from "../errors.ts";
import { ACTOR_LENGTH_MAX, CHANGE_NOTE_LENGTH_MAX } from "../limits.ts";
import { percentDecoded } from "./query.ts";
import type { Provenance } from "../ports/answer.ts";

/** The request headers of every operation that adds versions. */
export const PROVENANCE_HEADERS = ["X-Run-Id", "X-Actor", "X-Change-Note"] as const;

const ACTOR = new RegExp(`^[\\x20-\\x7e]{1,${ACTOR_LENGTH_MAX}}$`);

/** Whether a text may be the id of a run. */
export function isRunId(text: string): boolean {
  return RUN_ID_SHAPE.test(text);
}

/** The run id in a segment of a URL's path. Throws VALIDATION_ERROR where it is not a valid id. */
export function parseRunId(segment: string): string {
  const runId = percentDecoded(segment) ?? "";
  return isRunId(runId) ? runId : failField("runId", RUN_ID_RULE);
}

/** Undefined where the request has none of the headers. Throws VALIDATION_ERROR, naming the header. */
export function parseProvenance(headers: Headers): Provenance | undefined {
  const runId = headers.get("X-Run-Id") ?? undefined;
  const actor = headers.get("X-Actor") ?? undefined;
  const encoded = headers.get("X-Change-Note");
  if (runId === undefined && actor === undefined && encoded === null) return undefined;
  if (runId !== undefined && !isRunId(runId)) failField("X-Run-Id", RUN_ID_RULE);
  if (actor !== undefined && !ACTOR.test(actor)) {
    failField("X-Actor", `must be 1 to ${ACTOR_LENGTH_MAX} printable ASCII characters`);
  }
  return { runId, actor, note: encoded === null ? undefined : decodeNote(encoded) };
}

function decodeNote(encoded: string): string | undefined {
  // Refuses bytes above 127 that were not encoded: each would become a character of Latin-1.
  const note = /[^\x20-\x7e]/.test(encoded) ? undefined : percentDecoded(encoded);
  if (note === undefined) failField("X-Change-Note", "must be percent-encoded UTF-8");
  if ([...note].length > CHANGE_NOTE_LENGTH_MAX) {
    failField("X-Change-Note", `must have at most ${CHANGE_NOTE_LENGTH_MAX} characters`);
  }
  if (/\p{Cc}/u.test(note)) failField("X-Change-Note", "must have no control characters");
  return note === "" ? undefined : note;
}

/** The name and version of an MCP client as an actor, cleaned and cut to fit. Undefined where nothing remains. */
export function actorOf(name: string, version: string): string | undefined {
  const cleaned = (text: string) => text.replaceAll(/[^\x20-\x7e]+/g, "").trim();
  const [left, right] = [cleaned(name), cleaned(version)];
  const actor = right === "" ? left : `${left}/${right}`;
  return left === "" ? undefined : actor.slice(0, ACTOR_LENGTH_MAX).trim();
}
