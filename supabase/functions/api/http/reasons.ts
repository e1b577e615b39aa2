/** What is wrong with a value, as `details.issues` tells it. A schema's own message takes precedence. */
import type { z } from "zod";
import { counted } from "../runtime/counted.ts";

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: "must be a UUID",
  datetime: "must be a time in ISO 8601 with a zone, such as 2026-01-31T12:00:00Z",
};

/** The reason of an issue; undefined for those that only our own schemas' messages can explain. */
export function reasonOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "invalid_value": {
      const values = issue.values.map((value) => JSON.stringify(value));
      return `must be ${values.length === 1 ? values[0] : `one of ${values.join(", ")}`}`;
    }
    case "too_small":
      if (issue.origin === "string" && Number(issue.minimum) === 1) return "must not be empty";
      return `must ${bound(issue.origin, "at least", Number(issue.minimum))}`;
    case "too_big":
      return `must ${bound(issue.origin, "at most", Number(issue.maximum))}`;
    case "invalid_format":
      return FORMATS[issue.format];
  }
}

function bound(origin: string, side: string, limit: number): string {
  if (origin === "string") return `have ${side} ${counted(limit, "character")}`;
  if (origin === "array") return `have ${side} ${counted(limit, "item")}`;
  return `be ${side} ${limit}`;
}
