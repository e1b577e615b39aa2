/** What answers say of a file's state, and of the conditions that a client made about it. */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { type Answer, assertRefused, type OperationName } from "./contract.ts";

/** The entity tag of an answer, which must have one. */
export function tagOf({ headers }: { readonly headers: Headers }): string {
  const tag = headers.get("etag");
  if (tag === null) throw new Error("the answer has no ETag");
  return tag;
}

/** Asserts that a file exists where the client made its absence a condition: 412, not 409. */
export function assertNotCreated(answer: Answer): Record<string, unknown> {
  assertEquals(answer.status, 412, answer.text.slice(0, 500));
  const { error, details } = z.looseObject({
    error: z.looseObject({ code: z.string() }),
    details: z.record(z.string(), z.unknown()),
  }).parse(answer.body);
  assertEquals(error.code, "FILE_ALREADY_EXISTS");
  return details;
}

/** Asserts 412 PRECONDITION_FAILED, with the version that the file is at (null: there never was one). */
export function assertStale(answer: Answer, version: number | null, operation?: OperationName): void {
  assertEquals(assertRefused(answer, "PRECONDITION_FAILED", operation), { version });
}

/** Asserts that there is no file, and which tombstone says so. */
export function assertDeleted(answer: Answer, deletedVersion: number, operation?: OperationName): void {
  assertEquals(assertRefused(answer, "FILE_NOT_FOUND", operation), { deletedVersion });
}
