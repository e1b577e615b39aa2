/** Parts of requests that several routes use. */
import { z } from "zod";
import { cursor } from "../contract/values.ts";
import { INTEGER_MAX, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from "../limits.ts";
import { failField } from "../errors.ts";
import type { RequestData } from "../http/request_data.ts";
import { validateQuery } from "../http/validate.ts";

/** Postgres cannot store NUL in a text. */
export const withoutNul = [(text: string) => !text.includes("\0"), "must not contain NUL"] as const;

const DATE = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?([Zz]|[+-]\d{2}:\d{2}))?$/;

/** An ISO 8601 date (midnight UTC) or date and time with a zone; parsed to ISO 8601 in UTC. */
export const date = z.string().regex(DATE, "must be an ISO 8601 date, or date and time with a zone")
  .transform((text, context) => {
    const time = new Date(text.replace(" ", "T"));
    const year = time.getUTCFullYear();
    // A zone can move a time beyond the four digits of a year. NaN fails every comparison with a range.
    if (year >= 1 && year <= 9999 && isDay(text.slice(0, 10))) return time.toISOString();
    context.addIssue({ code: "custom", message: "must be a valid date" });
    return z.NEVER;
  })
  .meta({ type: "string", format: "date-time" });

/** Whether the day exists: `Date` parses 30 February as 1 March. */
function isDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

/** The moment at which the project is read: a time, parsed to ISO 8601 in UTC, or a cursor of the change feed. */
export const moment = z.union(
  [cursor, date],
  "must be a time in ISO 8601 with a zone, such as 2026-01-31T12:00:00Z, or a cursor of the change feed",
);

/** The parameter `at` of a read; `what` is read, and `rule` is added to the description. */
export function pastMoment(what: string, rule = "") {
  const forms = "an ISO 8601 time (inclusive), or a cursor of the change feed";
  return moment.optional().meta({
    type: "string",
    description: `${what} as it was at a moment: ${forms}.${rule}`,
  });
}

/** A whole number in a query: digits only, within its range. */
export function wholeNumber(minimum: number, maximum = INTEGER_MAX) {
  return z.string().regex(/^\d{1,10}$/, "must be a whole number").transform(Number)
    .pipe(z.number().min(minimum).max(maximum))
    .meta({ type: "integer", minimum, maximum });
}

/** The literal `true` or `false`. */
export const truth = z.string().regex(/^(true|false)$/, "must be true or false")
  .transform((text) => text === "true").meta({ type: "boolean" });

export const pageLimit = wholeNumber(1, PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT);
export const pageOffset = wholeNumber(0).default(0);

export const WRITE_HEADERS = ["If-Match", "Idempotency-Key"] as const;

/** The description of `ifVersion`, which is in a JSON body, or in the query where the body is raw bytes or absent. */
const description = "The version that the file at `path` must be at; 0: there must be none.";

export const ifVersionField = { ifVersion: z.int().min(0).max(INTEGER_MAX).nullish().meta({ description }) };

export const ifVersionParameter = {
  ifVersion: wholeNumber(0).optional().meta({
    description: `${description} Where the body is JSON, it is a field there.`,
  }),
};

const query = z.object(ifVersionParameter);

/** The `ifVersion` of the query. Throws VALIDATION_ERROR if it is invalid or the body is JSON, which has its own field. */
export function parseIfVersion(
  data: RequestData,
  isJson: boolean,
): { readonly ifVersion: number | undefined } {
  const { ifVersion } = validateQuery(query, data.query);
  if (isJson && ifVersion !== undefined) {
    failField(
      "ifVersion",
      "is a field of the JSON body; it is allowed in the query only if the body is the file's bytes",
    );
  }
  return { ifVersion };
}

/** The query of a write whose body may be the bytes themselves. `raw` marks it, whatever its Content-Type. */
export const rawQuery = z.object({
  raw: z.enum(["", "true", "false"]).optional().meta({
    description: "Present, or `true`: the body is the file's bytes.",
  }),
  ...ifVersionParameter,
});
