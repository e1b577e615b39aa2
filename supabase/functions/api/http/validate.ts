/** Validation with zod; issues in the form of the contract. */
import type { z } from "zod";
import { fail } from "../errors.ts";

/**
 * The value as parsed by the schema. Throws VALIDATION_ERROR with `details.issues`; `prefix` stands before the names of
 * fields.
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown, prefix = ""): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => ({
    path: prefix + issue.path.map(String).join("."),
    reason: issue.code === "invalid_type" && issue.message.endsWith("received undefined")
      ? "is required"
      : issue.message,
  }));
  const [first] = issues;
  fail("VALIDATION_ERROR", first ? `${first.path || "The body"}: ${first.reason}` : "Not valid.", { issues });
}
