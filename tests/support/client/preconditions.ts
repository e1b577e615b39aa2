/** Assertions on entity tags, and on answers to requests with preconditions. */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { type Answer, assertRefused, type OperationName } from "./contract.ts";

/** The entity tag of an answer. Fails if there is none. */
export function tagOf({ headers }: { readonly headers: Headers }): string {
  const tag = headers.get("etag");
  if (tag === null) throw new Error("the answer has no ETag");
  return tag;
}

/** Asserts that the file exists although the client sent its absence as a condition: 412, not 409. */
export function assertNotCreated(answer: Answer): Record<string, unknown> {
  assertEquals(answer.status, 412, answer.text.slice(0, 500));
  const { error, details } = z.looseObject({
    error: z.looseObject({ code: z.string() }),
    details: z.record(z.string(), z.unknown()),
  }).parse(answer.body);
  assertEquals(error.code, "FILE_ALREADY_EXISTS");
  return details;
}

/** Asserts 412 PRECONDITION_FAILED with the file's current version; null: the file never existed. */
export function assertStale(answer: Answer, version: number | null, operation?: OperationName): void {
  assertEquals(assertRefused(answer, "PRECONDITION_FAILED", operation), { version });
}

/** Asserts that the file is deleted, and the version of its tombstone. */
export function assertDeleted(answer: Answer, deletedVersion: number, operation?: OperationName): void {
  assertEquals(assertRefused(answer, "FILE_NOT_FOUND", operation), { deletedVersion });
}
