/** /projects and /project: an account's projects, and one project with its limits and usage. */
import { z } from "zod";
import { pick } from "../http/query.ts";
import {
  ACTIVITY_DEFAULT,
  EXAMINED_FILES_PER_REQUEST,
  KEEP_DAYS_MAX,
  KEEP_VERSIONS_MAX,
  LIST_TOTAL_MAX,
  PAGE_LIMIT_MAX,
  RETENTION_PREVIEW_FILES,
  RETENTION_PREVIEW_SHOWN,
  RETENTION_PREVIEW_VERSIONS,
} from "../limits.ts";
import { success } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import {
  ACCOUNT_ERRORS,
  ACCOUNT_OR_KEY_ERRORS,
  administer,
  nameSchema,
  PROJECT_HEADERS,
  readAdministrationFields,
} from "./administration.ts";
import { defineRoute, noParameters, type OpenapiProperties } from "../route.ts";
import { BODY_ERRORS, versionOrigin, wholeNumber } from "./schemas.ts";

const limit = z.int().min(0).nullable().meta({ description: "Null: no limit." });
const retentionFields = {
  keepVersions: z.int().min(1).max(KEEP_VERSIONS_MAX).nullish().meta({
    description: "So many of the newest versions of a file stay.",
  }),
  keepDays: z.int().min(1).max(KEEP_DAYS_MAX).nullish().meta({
    description: "A version stays so many days after the next one took its place.",
  }),
  deletedDays: z.int().min(1).max(KEEP_DAYS_MAX).nullish().meta({
    description: "A deleted file goes whole so many days after. Absent: never.",
  }),
};
const retention = z.object(retentionFields).meta({ id: "Retention" });
/** As a client sends it: closed, and not empty. */
const newRetention = z.object(retentionFields).refine(
  (rule) => Object.values(rule).some((value) => typeof value === "number"),
  `must have one of ${Object.keys(retentionFields).join(", ")}; null takes the rule away`,
).meta({ id: "NewRetention", minProperties: 1 });
const project = z.object({
  id: z.uuid(),
  name: z.string(),
  tier: z.string(),
  createdAt: z.iso.datetime(),
  limits: z.object({ requestsPerMinute: limit, maxFileBytes: limit, maxProjectBytes: limit }),
  retention: retention.nullable().meta({ description: "Which versions go by themselves; null: none." }),
  usage: z.object({
    files: z.int().min(0).meta({ description: `Counted up to ${LIST_TOTAL_MAX}.` }),
    filesIsExact: z.literal(false).optional().meta({ description: "There are more files than `files`." }),
    bytes: z.int().min(0).meta({ description: "Of all versions; content that versions share counts once." }),
    databaseBytes: z.int().min(0).meta({
      description:
        "What files, versions, segments and the search index count towards the quota, beside `bytes`.",
    }),
    versions: z.int().min(0),
    requestsThisMinute: z.int().min(0),
  }),
  keyPrefix: z.string().nullable().meta({ description: "Of the newest active key." }),
}).meta({ id: "Project" });
const projects = z.object({ projects: z.array(project) }).meta({ id: "ProjectList" });
const named = z.object({ name: nameSchema(1) });
const wouldRemove = z.object({
  versions: z.int().min(0).meta({ description: "All of them, those of files that go whole included." }),
  files: z.int().min(0).meta({ description: "Deleted files that go whole." }),
  examples: z.array(z.object({
    path: z.string(),
    versions: z.int().min(1),
    whole: z.boolean(),
  })).meta({ description: `Some of the files concerned, at most ${RETENTION_PREVIEW_SHOWN}.` }),
  lookedAt: z.int().min(0).meta({ description: "Files that were looked at." }),
  isComplete: z.boolean().meta({
    description:
      `False where there are more than ${RETENTION_PREVIEW_FILES} files or ${RETENTION_PREVIEW_VERSIONS} such versions.`,
  }),
}).meta({ id: "RetentionPreview" });
const changed = project.extend({
  wouldRemove: wouldRemove.optional().meta({
    description: "With `dryRun`: what the rule would let go now.",
  }),
}).meta({ id: "ChangedProject" });
const changes = z.object({
  name: nameSchema(1).nullish(),
  dryRun: z.boolean().nullish().meta({
    description: "Changes nothing, and answers what the rule, or the present one, would let go now.",
  }),
  retention: newRetention.nullable().optional().meta({
    description:
      "Replaced whole. A version goes when both `keepVersions` and `keepDays`, as far as they are given, let it " +
      "go; the latest never. Applied by the sweep. Null: no version goes by itself.",
  }),
});

/** Without what is not given. */
function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}

export const listProjects = defineRoute({
  method: "GET",
  pattern: "/projects",
  operation: "list_projects",
  credentials: "account",
  parse: noParameters,
  async handle({ gate, accounts }) {
    const found = gate.unwrapAccount(await accounts.projects(gate.accessToken));
    const data = projects.parse({ projects: found });
    return success("list_projects", data, `${data.projects.length} projects.`);
  },
  openapi: {
    id: "listProjects",
    summary:
      "The account's projects, oldest first; the first call creates one where the account may make any",
    answer: projects,
    errors: ACCOUNT_ERRORS,
  },
});

export const createProject = defineRoute({
  method: "POST",
  pattern: "/projects",
  operation: "create_project",
  credentials: "account",
  parse: noParameters,
  async handle(context) {
    const { gate, accounts } = context;
    const { name } = await readAdministrationFields(context, named);
    const created = gate.unwrapAccount(await accounts.createProject(gate.accessToken, name));
    return success("create_project", project.parse(created), "Created.");
  },
  openapi: {
    id: "createProject",
    summary: "Create a project of the free tier",
    body: named,
    example: { body: { name: "Research" } },
    answer: project,
    errors: [
      ...ACCOUNT_ERRORS,
      ...BODY_ERRORS,
      "VALIDATION_ERROR",
      "PROJECT_NAME_TAKEN",
      "PROJECT_LIMIT_REACHED",
    ],
  },
});

const oneProject: Omit<OpenapiProperties, "id" | "summary"> = {
  headers: PROJECT_HEADERS,
  answer: project,
  errors: ACCOUNT_OR_KEY_ERRORS,
};

export const getProject = defineRoute({
  method: "GET",
  pattern: "/project",
  operation: "get_project",
  credentials: "account or key",
  parse: noParameters,
  async handle(context) {
    const data = project.parse(await administer(context, "project", {}));
    return success("get_project", data, "The project.");
  },
  openapi: {
    ...oneProject,
    id: "getProject",
    summary: "A project with its limits and usage: the key's, or one of the account (by default its oldest)",
  },
});

export const renameProject = defineRoute({
  method: "PATCH",
  pattern: "/project",
  operation: "update_project",
  credentials: "account or key",
  allows: { admin: "rename the project and choose which versions are kept" },
  parse: noParameters,
  async handle(context) {
    const { name, dryRun, retention: rule } = await readAdministrationFields(context, changes);
    if (dryRun) context.onEnd(await context.beginCostly());
    const data = changed.parse(
      await administer(context, "rename", {
        ...given({ name, dryRun }),
        ...rule !== undefined && { retention: rule && given(rule) },
      }),
    );
    context.gate.addWork((data.wouldRemove?.lookedAt ?? 0) / EXAMINED_FILES_PER_REQUEST);
    return success("update_project", data, dryRun ? "Nothing was changed." : "Changed.");
  },
  openapi: {
    ...oneProject,
    id: "updateProject",
    summary: "Rename a project, or set its rule of retention; a calling key needs the scope `admin`",
    body: changes,
    answer: changed,
    example: { body: { name: "Research", retention: { keepVersions: 100, keepDays: 30 } } },
    errors: [...ACCOUNT_OR_KEY_ERRORS, ...BODY_ERRORS, "VALIDATION_ERROR", "PROJECT_NAME_TAKEN"],
  },
});

const writes = z.array(z.object({
  fileId: z.uuid(),
  path: z.string(),
  version: z.int(),
  size: z.int(),
  mimeType: z.string(),
  deleted: z.literal(true).optional(),
  ...versionOrigin.shape,
  createdAt: z.iso.datetime(),
  keyId: z.uuid().nullable().meta({ description: "Null: written in the console." }),
}));
const activityQuery = z.object({ limit: wholeNumber(1, PAGE_LIMIT_MAX).default(ACTIVITY_DEFAULT) });

export const activity = defineRoute({
  method: "GET",
  pattern: "/project/activity",
  operation: "list_activity",
  credentials: "account or key",
  allows: { read: "follow changes and runs" },
  parse: ({ query }) => validate(activityQuery, pick(query, ["limit"])),
  async handle(context, parameters) {
    const data = { activity: writes.parse(await administer(context, "activity", parameters)) };
    return success("list_activity", data, "The latest writes.");
  },
  openapi: {
    id: "listActivity",
    summary: "The latest writes across a project, newest first",
    headers: PROJECT_HEADERS,
    query: activityQuery,
    answer: z.object({ activity: writes }).meta({ id: "Activity" }),
    errors: [...ACCOUNT_OR_KEY_ERRORS, "VALIDATION_ERROR"],
  },
});
