/** Error answers of real servers, gateways and the platform, byte for byte. */
import { z } from "zod";
import recorded from "./recorded_answers.json" with { type: "json" };

export type RecordedName = keyof typeof recorded;

/** `target`: the calls that may get this answer; none: it is a defect. `acts`: the back end had already acted. */
const answer = z.object({
  from: z.string(),
  target: z.enum(["database", "storage", "any", "none"]),
  acts: z.boolean(),
  /** The answer states a definite fact: if all later calls get it, too, the service must not treat it as a fault. */
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

/** Names of the answers that a call of the back end may get. `filestore_…` calls the database, other names call storage. */
export function recordedFor(call: string): RecordedName[] {
  const target = call.startsWith("filestore_") ? "database" : "storage";
  return Object.keys(recorded).filter(isRecorded).filter((name) =>
    ["any", target].includes(recordedAnswer(name).target)
  );
}
