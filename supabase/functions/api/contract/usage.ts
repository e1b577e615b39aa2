/** The usage of a project and its keys by day. */
import { z } from "zod";
import { count, type Wire } from "./values.ts";

/** `YYYY-MM-DD`, UTC. */
export const day = z.iso.date();
const done = {
  requests: count,
  versions: count.meta({ description: "Added versions, deletions included." }),
  bytesWritten: count.meta({
    description:
      "Bytes of content in these versions: for an append the added ones, for a copy, move, restore or undo none.",
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
        "Bytes that were stored at the last count of the day, as in `usage.bytes` of the project; null: not known.",
    }),
    databaseBytes: level,
  })).meta({ description: "Each day of the period up to today." }),
  keys: z.array(z.object({
    keyId: z.uuid().nullable().meta({ description: "Null: the console." }),
    name: z.string().nullable().meta({ description: "Null: the console, or a key that was deleted." }),
    prefix: z.string().nullable(),
    ...done,
  })).meta({ description: "For the whole period, the key with the most requests first." }),
  keyCount: count.meta({
    description: "The number of keys with usage, including those that are not listed.",
  }),
}).meta({ id: "Usage" });
export type Usage = Wire<typeof usage>;
