/** A write: one idempotency key for all of its tries, so that it happens once however often it is sent. */
import type { Api, Call } from "./api.ts";
import { FilestoreError } from "./errors.ts";
import type { WriteOptions } from "./options.ts";

export async function write<T>(api: Api, path: string, call: Call, options: WriteOptions): Promise<T> {
  const { note, idempotencyKey = crypto.randomUUID() } = options;
  const headers = {
    ...call.headers,
    "idempotency-key": idempotencyKey,
    "x-change-note": note === undefined ? undefined : encoded(note),
  };
  return await api.data<T>(path, { ...call, headers });
}

function encoded(note: string): string {
  if (note.isWellFormed()) return encodeURIComponent(note);
  throw new FilestoreError("VALIDATION_ERROR", "note: has a lone surrogate, which UTF-8 cannot carry.");
}
