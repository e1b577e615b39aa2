/** GET /files: list a directory. */
import { z } from "zod";
import { checkPath, normalizeDirectory } from "../http/path.ts";
import { pick } from "../http/query.ts";
import { success } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import { defineRoute } from "./route.ts";
import { EXAMPLE_RECORD, fileRecord, mediaType, pageLimit, pageOffset } from "./schemas.ts";

const DATE = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?([Zz]|[+-]\d{2}:\d{2}))?$/;

/** An ISO 8601 date (midnight UTC) or date and time with a zone; parsed to ISO 8601 in UTC. */
const date = z.string().regex(DATE, "must be an ISO 8601 date, or date and time with a zone")
  .transform((text, context) => {
    const time = new Date(text.replace(" ", "T"));
    const year = time.getUTCFullYear();
    // A zone can move a time beyond the four digits of a year. NaN is in no range.
    if (year >= 1 && year <= 9999 && isDay(text.slice(0, 10))) return time.toISOString();
    context.addIssue({ code: "custom", message: "must be a valid date" });
    return z.NEVER;
  })
  .meta({ type: "string", format: "date-time" });

/** Whether the day exists: `Date` parses 30 February as 1 March. */
function isDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

const size = z.string().regex(/^\d{1,15}$/, "must be a whole number").transform(Number)
  .meta({ type: "integer", minimum: 0 });

/** The literal `true` or `false`; absent is false. */
const truth = z.string().regex(/^(true|false)$/, "must be true or false").transform((text) => text === "true")
  .default(false);

const query = z.object({
  directory: z.string().default("/").meta({ description: "Leading and trailing slashes are tolerated." }),
  recursive: truth.meta({ type: "boolean" }),
  limit: pageLimit,
  offset: pageOffset,
  sortBy: z.enum(["path", "created_at", "updated_at", "size"]).default("path"),
  sortOrder: z.enum(["asc", "desc"]).default("asc"),
  after: z.string().optional()
    .meta({
      description:
        "With sortBy=path: only files that come after this path. Pages of any depth cost the same.",
    }),
  deleted: truth.meta({
    type: "boolean",
    description: "Deleted files instead of live ones.",
  }),
  contentType: mediaType.optional(),
  minSize: size.optional(),
  maxSize: size.optional(),
  createdAfter: date.optional(),
  createdBefore: date.optional(),
  updatedAfter: date.optional(),
  updatedBefore: date.optional(),
}).refine((fields) => fields.after === undefined || fields.sortBy === "path", {
  path: ["after"],
  message: "requires sortBy=path",
});

const answer = z.object({
  files: z.array(fileRecord.extend({ deleted: z.literal(true).optional() })),
  directories: z.array(z.string()).optional()
    .meta({ description: "When not recursive: names of the sub-folders, at most 1000." }),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
  hasMore: z.boolean(),
}).meta({ id: "FileList" });

export const list = defineRoute({
  method: "GET",
  pattern: "/files",
  operation: "list_files",
  credentials: "key",
  parse({ query: given }) {
    const { directory, after, ...rest } = validate(query, pick(given, Object.keys(query.shape)));
    return {
      directory: normalizeDirectory(directory),
      after: after === undefined ? undefined : checkPath(after),
      ...rest,
    };
  },
  async handle({ gate, metadata }, parameters) {
    const page = gate.unwrap(await metadata.list(gate.caller, parameters));
    return success("list_files", page, `${page.files.length} of ${page.total} files.`);
  },
  openapi: {
    id: "listFiles",
    summary: "List a directory",
    query,
    answer,
    errors: ["INVALID_PATH", "VALIDATION_ERROR"],
    example: {
      data: [{
        files: [EXAMPLE_RECORD],
        directories: ["archive"],
        total: 1,
        limit: 10,
        offset: 0,
        hasMore: false,
      }],
    },
  },
});
