/** Validation with zod; issues in the form of the contract. */
import type { z } from "zod";
import { fail } from "../errors.ts";

/** The value as parsed by the schema. Throws VALIDATION_ERROR with `details.issues`. */
export function validate<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => ({
    path: issue.path.map(String).join("."),
    reason: issue.code === "invalid_type" && issue.message.endsWith("received undefined")
      ? "is required"
      : issue.message,
  }));
  const [first] = issues;
  fail("VALIDATION_ERROR", first ? `${first.path || "The body"}: ${first.reason}` : "Not valid.", { issues });
}
