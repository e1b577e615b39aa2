/**
 * The results of the SQL functions, validated on arrival: records of the contract and the ports by their schemas, and
 * the parts around them that only the adapters see. See `supabase/schemas`.
 */
import { z } from "zod";
import { purged, redacted } from "../contract/files.ts";
import type { AccountAnswer } from "../ports/accounts.ts";
import { type Answer, grant, rate, refusal } from "../ports/answer.ts";
import type { BatchCommitted, Committed } from "../ports/commit.ts";
import type { ManyCommitted } from "../ports/commit_many.ts";
import { committedRecord } from "../ports/files.ts";
import { segment } from "../ports/segments.ts";

export const committed = z.object({
  file: committedRecord,
  segments: z.array(segment).nullish(),
  isReplayed: z.boolean().optional(),
}).transform(({ file, segments, isReplayed }) => ({
  file,
  segments: segments ?? null,
  isReplayed: isReplayed ?? false,
})) satisfies z.ZodType<Committed>;

export function manyCommitted<T>(answer: z.ZodType<T>): z.ZodType<ManyCommitted<T>> {
  return z.looseObject({ isReplayed: z.boolean().optional() }).transform(({ isReplayed, ...value }) => ({
    value: answer.parse(value),
    isReplayed: isReplayed ?? false,
  }));
}

export const batchCommitted = z.object({
  results: z.array(committedRecord),
  isReplayed: z.boolean().default(false),
}) satisfies z.ZodType<BatchCommitted>;

export const purge = z.object({
  file: purged.omit({ path: true }),
  isReplayed: z.literal(true).optional(),
}).transform(({ file, isReplayed }) => ({ value: file, isReplayed: isReplayed === true }));

export const redaction = redacted.omit({ path: true });

const accountEnvelope = z.object({
  rate: rate.optional(),
  value: z.unknown().optional(),
  refusal: refusal.optional(),
});

const envelope = accountEnvelope.extend({ grant: grant.optional(), segments: z.array(segment).optional() });

/** The answer of a function for accounts. Throws where the database returns another shape. */
export function parseAccountAnswer(data: unknown): AccountAnswer<unknown> {
  const { rate = null, value, refusal } = accountEnvelope.parse(data);
  return refusal ? { rate, ok: false, refusal } : { rate, ok: true, value };
}

/** The answer of one SQL function, its value checked by `schema`. Throws where the database returns another shape. */
export function parseAnswer<T>(data: unknown, isAmbiguous: boolean, schema: z.ZodType<T>): Answer<T> {
  const answer = envelope.parse(data);
  const rest = { rate: answer.rate ?? null, grant: answer.grant ?? null, isAmbiguous };
  return answer.refusal
    ? { ...rest, ok: false, refusal: { ...answer.refusal, segments: answer.segments } }
    : { ...rest, ok: true, value: schema.parse(answer.value) };
}
