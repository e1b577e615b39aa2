/** What a project and its keys did, day by day. */
import { z } from "zod";
import { count, type Wire } from "./values.ts";

/** `YYYY-MM-DD`, UTC. */
export const day = z.iso.date();
const done = {
  requests: count,
  versions: count.meta({ description: "Made, deletions included." }),
  bytesWritten: count.meta({
    description:
      "Content of these versions: of an append what was added, of a copy, move, restore or undo none.",
  }),
};
const level = count.nullable();

export const usage = z.object({
  from: day,
  to: day,
  days: z.array(z.object({
    day,
    ...done,
    bytes: level.meta({
      description:
        "Stored when the day was last looked at, as in `usage.bytes` of the project; null: not known.",
    }),
    databaseBytes: level,
  })).meta({ description: "Each day of the period up to today." }),
  keys: z.array(z.object({
    keyId: z.uuid().nullable().meta({ description: "Null: the console." }),
    name: z.string().nullable().meta({ description: "Null: the console, or a key that is forgotten." }),
    prefix: z.string().nullable(),
    ...done,
  })).meta({ description: "In the whole period, those with most requests first." }),
  keyCount: count.meta({ description: "How many keys did anything, those not named included." }),
}).meta({ id: "Usage" });
export type Usage = Wire<typeof usage>;
