/** /projects and /project: an account's projects, and one project with its limits and usage. */
import { z } from "zod";
import { changedProject, project, projectList, retention } from "../contract/projects.ts";
import { activity } from "../contract/versions.ts";
import { ACTIVITY_DEFAULT, EXAMINED_FILES_PER_REQUEST, PAGE_LIMIT_MAX } from "../limits.ts";
import { validateQuery } from "../http/validate.ts";
import { administer, nameSchema, readAdministrationFields } from "./administration.ts";
import { defineRoute } from "../route.ts";
import { wholeNumber } from "./schemas.ts";
import { counted } from "../runtime/counted.ts";

/** The rule as a client sends it: without unknown fields, and not empty. */
const newRetention = z.object(retention.shape).refine(
  (rule) => Object.values(rule).some((value) => typeof value === "number"),
  `must have one of ${Object.keys(retention.shape).join(", ")}; null removes the rule`,
).meta({ id: "NewRetention", minProperties: 1 });
const named = z.object({ name: nameSchema(1) });
const changes = z.object({
  name: nameSchema(1).nullish(),
  dryRun: z.boolean().nullish().meta({
    description:
      "Preview: changes nothing, and returns what the new rule, or without one the present rule, would erase now.",
  }),
  retention: newRetention.nullable().optional().meta({
    description:
      "Replaces the present rule. The sweep erases a version if each of `keepVersions` and `keepDays` that the rule has allows it; never the latest version. Null removes the rule.",
  }),
});

/** Without the fields that are not given. */
function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}

export const listProjects = defineRoute({
  operation: "list_projects",
  credentials: "account",
  async handle({ gate, accounts }) {
    const found = gate.unwrapAccount(await accounts.projects(gate.accessToken));
    const data = projectList.parse({ projects: found });
    return { data, message: `${counted(data.projects.length, "project")}.` };
  },
  openapi: {
    summary:
      "List the account's projects, oldest first; the first call creates one if the account may create projects",
    answer: projectList,
  },
});

export const createProject = defineRoute({
  operation: "create_project",
  credentials: "account",
  async handle(context) {
    const { gate, accounts } = context;
    const { name } = await readAdministrationFields(context, named);
    const created = gate.unwrapAccount(await accounts.createProject(gate.accessToken, name));
    return { data: project.parse(created), message: "Created." };
  },
  openapi: {
    summary: "Create a project of the free tier",
    body: named,
    example: { name: "Research" },
    answer: project,
    errors: ["PROJECT_NAME_TAKEN", "PROJECT_LIMIT_REACHED"],
  },
});

export const getProject = defineRoute({
  operation: "get_project",
  credentials: "account or key",
  async handle(context) {
    const data = project.parse(await administer(context, "project", {}));
    return { data, message: "The project." };
  },
  openapi: {
    answer: project,
    summary:
      "Return a project with its limits and usage: the key's project, or one of the account (by default the oldest)",
  },
});

export const renameProject = defineRoute({
  operation: "update_project",
  credentials: "account or key",
  allows: { admin: "rename the project and choose which versions are kept" },
  async handle(context) {
    const { name, dryRun, retention: rule } = await readAdministrationFields(context, changes);
    if (dryRun) context.onEnd(await context.beginCostly());
    const data = changedProject.parse(
      await administer(context, "rename", {
        ...given({ name, dryRun }),
        ...rule !== undefined && { retention: rule && given(rule) },
      }),
    );
    context.gate.addWork((data.wouldRemove?.lookedAt ?? 0) / EXAMINED_FILES_PER_REQUEST);
    return { data, message: dryRun ? "Nothing was changed." : "Changed." };
  },
  openapi: {
    summary: "Rename a project, or set its retention rule; a request with an API key needs the scope `admin`",
    body: changes,
    answer: changedProject,
    example: { name: "Research", retention: { keepVersions: 100, keepDays: 30 } },
    errors: ["PROJECT_NAME_TAKEN"],
  },
});

const activityQuery = z.object({ limit: wholeNumber(1, PAGE_LIMIT_MAX).default(ACTIVITY_DEFAULT) });

export const listActivity = defineRoute({
  operation: "list_activity",
  credentials: "account or key",
  allows: { read: "follow changes and runs" },
  parse: ({ query }) => validateQuery(activityQuery, query),
  async handle(context, parameters) {
    const writes = await administer(context, "activity", parameters);
    const data = activity.parse({ activity: writes });
    return { data, message: "The latest writes." };
  },
  openapi: {
    summary: "List the latest writes across a project, newest first",
    query: activityQuery,
    answer: activity,
  },
});
