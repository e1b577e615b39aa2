/** GET /files: list a directory. */
import { z } from "zod";
import { mediaType } from "../contract/media_types.ts";
import { checkPath, normalizeDirectory } from "../http/path.ts";
import { validateQuery } from "../http/validate.ts";
import { EXAMINED_FILES_PER_REQUEST } from "../limits.ts";
import { defineRoute } from "../route.ts";
import { date, pageLimit, pageOffset, pastMoment, truth } from "./schemas.ts";
import { counted } from "../runtime/counted.ts";

const size = z.string().regex(/^\d{1,15}$/, "must be a whole number").transform(Number)
  .meta({ type: "integer", minimum: 0 });

/** With `at`, these parameters are free, the others have these values. */
const WITH_AT = ["directory", "recursive", "limit", "after", "at"];
const PLAIN: Readonly<Record<string, unknown>> = {
  offset: 0,
  sortBy: "path",
  sortOrder: "asc",
  deleted: false,
};

const query = z.object({
  directory: z.string().default("/").meta({ description: "Leading and trailing slashes are tolerated." }),
  recursive: truth.default(false),
  limit: pageLimit,
  offset: pageOffset,
  sortBy: z.enum(["path", "created_at", "updated_at", "size"]).default("path"),
  sortOrder: z.enum(["asc", "desc"]).default("asc"),
  after: z.string().optional().meta({
    description:
      "With sortBy=path: only files after this path. A late page costs no more than the first one.",
  }),
  deleted: truth.default(false).meta({ description: "List deleted files instead." }),
  contentType: mediaType.optional(),
  minSize: size.optional(),
  maxSize: size.optional(),
  createdAfter: date.optional(),
  createdBefore: date.optional(),
  updatedAfter: date.optional(),
  updatedBefore: date.optional(),
  at: pastMoment("The directory", " Sorted by path, without filters; use `after` for the next page."),
}).refine((fields) => fields.after === undefined || fields.sortBy === "path", {
  path: ["after"],
  message: "requires sortBy=path",
}).superRefine((fields, context) => {
  if (fields.at === undefined) return;
  for (const [name, value] of Object.entries(fields)) {
    if (WITH_AT.includes(name) || value === undefined || value === PLAIN[name]) continue;
    context.addIssue({ code: "custom", path: [name], message: "cannot be combined with at" });
  }
});

export const list = defineRoute({
  operation: "list_files",
  allows: { read: "list files" },
  parse({ query: given }) {
    const { directory: asGiven, ...rest } = validateQuery(query, given);
    const directory = normalizeDirectory(asGiven);
    if (rest.after !== undefined) checkPath(rest.after);
    return { directory, ...rest };
  },
  async handle(context, parameters) {
    const { gate, metadata } = context;
    if (parameters.at !== undefined) context.onEnd(await context.beginCostly());
    const { examined, ...page } = gate.unwrap(await metadata.list(gate.caller, parameters));
    gate.addWork((examined ?? 0) / EXAMINED_FILES_PER_REQUEST);
    const { files, total = null, totalIsExact } = page;
    const unit = totalIsExact === false ? "or more file" : "file";
    const shown = total === null
      ? counted(files.length, "file")
      : `${files.length} of ${counted(total, unit)}`;
    return { data: page, message: `${shown}.` };
  },
  openapi: {
    summary: "List a directory",
    query,
    answer: "fileList",
    errors: ["INVALID_PATH"],
  },
});
