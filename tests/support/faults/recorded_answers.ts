/** What real servers, gateways and the platform answer when something is wrong, byte for byte. */
import { z } from "zod";
import recorded from "./recorded_answers.json" with { type: "json" };

export type RecordedName = keyof typeof recorded;

/** `target`: whose calls it may meet; none: a defect. `acts`: what was asked was done before this answer. */
const answer = z.object({
  from: z.string(),
  target: z.enum(["database", "storage", "any", "none"]),
  acts: z.boolean(),
  /** Says for good what is: where it lasts, the service may not take it for a fault. */
  isDefinite: z.boolean().default(false),
  status: z.number(),
  type: z.string(),
  body: z.string(),
});

export type RecordedAnswer = z.infer<typeof answer>;

export function isRecorded(name: string): name is RecordedName {
  return Object.hasOwn(recorded, name);
}

export function recordedAnswer(name: RecordedName): RecordedAnswer {
  return answer.parse(recorded[name]);
}

/** Names of the answers that a call of the back end may get: `filestore_…` asks the database, others the storage. */
export function recordedFor(call: string): RecordedName[] {
  const target = call.startsWith("filestore_") ? "database" : "storage";
  return Object.keys(recorded).filter(isRecorded).filter((name) =>
    ["any", target].includes(recordedAnswer(name).target)
  );
}
