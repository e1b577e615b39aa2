import { assertEquals, assertNotEquals } from "@std/assert";
import {
  ensureReadConditions,
  idempotency,
  isRangeFresh,
  preconditions,
} from "../../../supabase/functions/api/http/conditions.ts";
import { ensurePreconditions } from "../../../supabase/functions/api/files/edit_file.ts";
import { ApiError } from "../../../supabase/functions/api/errors.ts";
import type { Preconditions } from "../../../supabase/functions/api/ports/commit.ts";
import type { FileRecord } from "../../../supabase/functions/api/contract/files.ts";

const ID = "3f1c8a52-0000-4000-8000-000000000000";
const FILE: FileRecord = {
  id: ID,
  path: "f",
  version: 3,
  mimeType: "text/plain",
  size: 0,
  createdAt: "2025-01-01T00:00:00.000Z",
  updatedAt: "2025-01-01T00:00:00.000Z",
};

/** Returns the header that the call refuses. */
function refusedHeader(call: () => unknown): unknown {
  try {
    call();
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    assertEquals([error.code, error.status], ["VALIDATION_ERROR", 400]);
    const [issue] = Object(error.details)["issues"];
    return issue.path;
  }
}

/**
 * Returns the code with which the preconditions refuse a change of FILE; the status is always 412, with the file's version.
 */
function refusalOf(required: Preconditions): string | null {
  try {
    ensurePreconditions(required, FILE);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    assertEquals([error.status, error.details], [412, { version: FILE.version }]);
    return error.code;
  }
}

Deno.test("preconditions name file versions, whatever the suffix and weakness; * stands for any", () => {
  const value = `"${ID}.3.j", W/"${ID}.4.r","${ID}.5.m" , "other.x"`;
  const versions = [`${ID}.3`, `${ID}.4`, `${ID}.5`, "other.x"];
  const headers = new Headers({ "if-match": value, "if-none-match": value });
  assertEquals(preconditions(headers, true), { ifMatch: versions, ifNoneMatch: versions });
  const star = new Headers({ "if-match": "*", "if-none-match": " * " });
  assertEquals(preconditions(star, true), { ifMatch: ["*"], ifNoneMatch: ["*"] });
});

Deno.test("preconditions: a star in quotes is a tag like any other, and stands for nothing", () => {
  for (const value of ['"*"', '"*.j"', 'W/"*"', '"*", "*.m"']) {
    const headers = new Headers({ "if-match": value, "if-none-match": value });
    assertEquals(preconditions(headers, true), { ifMatch: [], ifNoneMatch: [] }, value);
    assertEquals(refusalOf(preconditions(headers, true)), "PRECONDITION_FAILED", value);
  }
});

Deno.test("preconditions hold with no condition, any file, or this very version; If-Match and ifVersion both", () => {
  const matched = { ifMatch: ["x", `${ID}.3`] };
  for (const holding of [{}, { ifMatch: ["*"] }, matched, { ifVersion: 3 }, { ...matched, ifVersion: 3 }]) {
    assertEquals(refusalOf(holding), null);
  }
  for (const ifMatch of [[], [`${ID}.2`], [`${ID}.33`], [ID], ["x"]]) {
    assertEquals(refusalOf({ ifMatch }), "PRECONDITION_FAILED");
    assertEquals(refusalOf({ ifMatch, ifVersion: 3 }), "PRECONDITION_FAILED");
  }
  for (const ifVersion of [1, 2, 4]) {
    assertEquals(refusalOf({ ...matched, ifVersion }), "PRECONDITION_FAILED");
  }
  assertEquals(refusalOf({ ifVersion: 0 }), "FILE_ALREADY_EXISTS");
});

Deno.test("ensureReadConditions refuses a malformed If-None-Match, and that alone", () => {
  assertEquals(
    refusedHeader(() => ensureReadConditions(new Headers({ "if-none-match": "x" }))),
    "If-None-Match",
  );
  assertEquals(
    refusedHeader(() => ensureReadConditions(new Headers({ "if-match": "x", "if-range": "x" }))),
    null,
  );
});

Deno.test("isRangeFresh: without If-Range, or with the very tag; a weak one never", () => {
  const fresh = (value: string) => isRangeFresh(new Headers({ "if-range": value }), FILE);
  assertEquals(isRangeFresh(new Headers(), FILE), true);
  assertEquals(fresh(`"${ID}.3.r"`), true);
  for (
    const value of [`W/"${ID}.3.r"`, `"${ID}.3.j"`, `"${ID}.2.r"`, "*", "", "Wed, 01 Jan 2025 00:00:00 GMT"]
  ) {
    assertEquals(fresh(value), false, value);
  }
});

Deno.test("idempotency: the same request has the same fingerprint, any other another", async () => {
  const of = async (...request: [string, string, unknown, string[]]) => {
    const [route, path, fields, content] = request;
    return (await idempotency("k", route, path, fields, content.map((sha256) => ({ sha256 }))))?.fingerprint;
  };
  const first = await of("write", "a", { contentType: "text/csv" }, ["aa", "bb"]);
  assertEquals(await of("write", "a", { contentType: "text/csv" }, ["aa", "bb"]), first);
  assertEquals(first?.length, 64);
  const others: [string, string, unknown, string[]][] = [
    ["append", "a", { contentType: "text/csv" }, ["aa", "bb"]],
    ["write", "b", { contentType: "text/csv" }, ["aa", "bb"]],
    ["write", "a", { contentType: "text/html" }, ["aa", "bb"]],
    ["write", "a", {}, ["aa", "bb"]],
    ["write", "a", { contentType: "text/csv" }, ["bb", "aa"]],
    ["write", "a", { contentType: "text/csv" }, ["aabb"]],
    ["write", "a", { contentType: "text/csv" }, []],
  ];
  const fingerprints = await Promise.all(others.map((other) => of(...other)));
  for (const other of fingerprints) assertNotEquals(other, first);
  assertEquals(new Set(fingerprints).size, others.length);
  assertEquals(await idempotency(undefined, "write", "a", {}), undefined);
});
