/** Validates with zod, and reports issues in the form of the contract. */
import type { z } from "zod";
import { fail } from "../errors.ts";
import { unknownFields } from "./unknown_names.ts";

/**
 * The value as the schema parses it. Throws VALIDATION_ERROR with `details.issues`, also for fields that the schema
 * does not have, at any depth; `prefix` is put before the names of fields.
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown, prefix = ""): T {
  const unknown = unknownFields(schema, value, prefix);
  const result = schema.safeParse(value);
  if (result.success && unknown.length === 0) return result.data;
  // Unknown fields first: a required field that is misspelt is also missing.
  const issues = [
    ...unknown,
    ...(result.error?.issues ?? []).map((issue) => ({
      path: prefix + issue.path.map(String).join("."),
      reason: issue.code === "invalid_type" && issue.message.endsWith("received undefined")
        ? "is required"
        : issue.message,
    })),
  ];
  const [first] = issues;
  fail("VALIDATION_ERROR", first ? `${first.path || "The body"}: ${first.reason}` : "Not valid.", { issues });
}
