/** /projects and /project: what an account has, and one project with its limits and usage. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { pick } from "../http/query.ts";
import {
  ACTIVITY_DEFAULT,
  ADMINISTRATION_BYTES_MAX,
  NAME_LENGTH_MAX,
  PAGE_LIMIT_MAX,
  UNAUTHORIZED_BODY_BYTES_MAX,
} from "../limits.ts";
import { readBody } from "../http/body.ts";
import { success } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import type { Route, RouteDocument } from "./route.ts";
import { BODY_ERRORS, wholeNumber } from "./schemas.ts";

/** Refusals of every route about accounts. */
export const ACCOUNT_ERRORS = ["INVALID_SESSION", "PROJECT_NOT_FOUND", "SERVICE_UNAVAILABLE"] as const;
/** And where a key will do. */
export const ACCOUNT_OR_KEY_ERRORS = [
  ...ACCOUNT_ERRORS,
  "INVALID_API_KEY",
  "FORBIDDEN_SCOPE",
  "RATE_LIMIT_EXCEEDED",
] as const;
export const PROJECT_HEADERS = ["x-project-id"] as const;

/** A name of a project or key: no control characters, no space at either end. */
export function nameOf(minimum: number) {
  return z.string().min(minimum, "must not be empty")
    .max(NAME_LENGTH_MAX, `must have at most ${NAME_LENGTH_MAX} characters`)
    .regex(/^(?!\s)[^\p{Cc}]*(?<!\s)$/u, "must have no control characters and no space at either end")
    .refine((text) => text.isWellFormed(), "must be well-formed Unicode");
}

const limit = z.int().min(0).nullable().meta({ description: "Null: no limit." });
const project = z.object({
  id: z.uuid(),
  name: z.string(),
  tier: z.string(),
  createdAt: z.iso.datetime(),
  limits: z.object({ requestsPerMinute: limit, maxFileBytes: limit, maxProjectBytes: limit }),
  usage: z.object({
    files: z.int().min(0),
    bytes: z.int().min(0).meta({ description: "Of all versions; what versions share counts once." }),
    versions: z.int().min(0),
    requestsThisMinute: z.int().min(0),
  }),
  keyPrefix: z.string().nullable().meta({ description: "Of the newest key that works." }),
}).meta({ id: "Project" });
const projects = z.object({ projects: z.array(project) }).meta({ id: "ProjectList" });
const named = z.object({ name: nameOf(1) });

/** The body of a request about projects and keys, which is small. */
export function readFields<T>(context: Context, schema: z.ZodType<T>): Promise<T> {
  const declared = Number(context.request.headers.get("content-length") ?? Infinity);
  const admit = declared > UNAUTHORIZED_BODY_BYTES_MAX ? () => context.gate.admit() : null;
  return readBody(context, schema, admit, ADMINISTRATION_BYTES_MAX);
}

export const listProjects: Route = {
  method: "GET",
  pattern: "/projects",
  operation: "list_projects",
  needsKey: false,
  async handle(context) {
    await context.gate.identifyAccount(context.request.headers, false);
    const data = { projects: z.array(project).parse(await context.gate.projects()) };
    return success("list_projects", data, `${data.projects.length} projects.`);
  },
  document: {
    id: "listProjects",
    summary: "The account's projects, oldest first; the first call makes one",
    credentials: "account",
    answer: projects,
    errors: ACCOUNT_ERRORS,
  },
};

export const createProject: Route = {
  method: "POST",
  pattern: "/projects",
  operation: "create_project",
  needsKey: false,
  async handle(context) {
    await context.gate.identifyAccount(context.request.headers, false);
    const { name } = await readFields(context, named);
    const made = project.parse(await context.gate.createProject(name));
    return success("create_project", made, "Created.");
  },
  document: {
    id: "createProject",
    summary: "Make a free project",
    credentials: "account",
    body: named,
    answer: project,
    errors: [
      ...ACCOUNT_ERRORS,
      ...BODY_ERRORS,
      "VALIDATION_ERROR",
      "PROJECT_NAME_TAKEN",
      "PROJECT_LIMIT_REACHED",
    ],
  },
};

const oneProject: Omit<RouteDocument, "id" | "summary"> = {
  credentials: "account or key",
  headers: PROJECT_HEADERS,
  answer: project,
  errors: ACCOUNT_OR_KEY_ERRORS,
};

export const getProject: Route = {
  method: "GET",
  pattern: "/project",
  operation: "get_project",
  needsKey: false,
  async handle(context) {
    await context.gate.identifyAccount(context.request.headers, true);
    const data = project.parse(await context.gate.administer("project", {}));
    return success("get_project", data, "The project.");
  },
  document: {
    ...oneProject,
    id: "getProject",
    summary: "A project with its limits and usage: the key's, or one of the account (by default its oldest)",
  },
};

export const renameProject: Route = {
  method: "PATCH",
  pattern: "/project",
  operation: "update_project",
  needsKey: false,
  async handle(context) {
    await context.gate.identifyAccount(context.request.headers, true);
    const fields = await readFields(context, named);
    const data = project.parse(await context.gate.administer("rename", fields));
    return success("update_project", data, "Renamed.");
  },
  document: {
    ...oneProject,
    id: "updateProject",
    summary: "Rename a project; of keys, with the scope `admin`",
    body: named,
    errors: [...ACCOUNT_OR_KEY_ERRORS, ...BODY_ERRORS, "VALIDATION_ERROR", "PROJECT_NAME_TAKEN"],
  },
};

const writes = z.array(z.object({
  fileId: z.uuid(),
  path: z.string(),
  version: z.int(),
  size: z.int(),
  mimeType: z.string(),
  deleted: z.literal(true).optional(),
  createdAt: z.iso.datetime(),
  keyId: z.uuid().nullable().meta({ description: "Null: written in the console." }),
}));
const activityQuery = z.object({ limit: wholeNumber(1, PAGE_LIMIT_MAX).default(ACTIVITY_DEFAULT) });

export const activity: Route = {
  method: "GET",
  pattern: "/project/activity",
  operation: "list_activity",
  needsKey: false,
  async handle(context) {
    await context.gate.identifyAccount(context.request.headers, true);
    const parameters = await context.gate.check(() =>
      validate(activityQuery, pick(context.query, ["limit"]))
    );
    const data = { activity: writes.parse(await context.gate.administer("activity", parameters)) };
    return success("list_activity", data, "The latest writes.");
  },
  document: {
    id: "listActivity",
    summary: "The latest writes across a project, newest first",
    credentials: "account or key",
    headers: PROJECT_HEADERS,
    query: activityQuery,
    answer: z.object({ activity: writes }).meta({ id: "Activity" }),
    errors: [...ACCOUNT_OR_KEY_ERRORS, "VALIDATION_ERROR"],
  },
};
