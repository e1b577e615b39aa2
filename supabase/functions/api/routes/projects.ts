/** /projects and /project: an account's projects, and one project with its limits, usage and latest writes. */
import { z } from "zod";
import { changedProject, deletion, project, projectList, retention } from "../contract/projects.ts";
import { day, usage } from "../contract/usage.ts";
import { activity } from "../contract/versions.ts";
import { ACTIVITY_DEFAULT, EXAMINED_FILES_PER_REQUEST, PAGE_LIMIT_MAX, USAGE_DAYS_MAX } from "../limits.ts";
import { validateQuery } from "../http/validate.ts";
import { administer, confirmation, nameSchema, readAdministrationFields } from "./administration.ts";
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
    const data = projectList.parse(gate.unwrapAccount(await accounts.projects(gate.accessToken)));
    return { data, message: `${counted(data.projects.length, "project")}.` };
  },
  openapi: {
    summary: "List the projects that the account owns or is a member of, oldest first, and its invitations",
    answer: "projectList",
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
    answer: "project",
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
    answer: "project",
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
    answer: "changedProject",
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
    const data = activity.parse({ activity: await administer(context, "activity", parameters) });
    return { data, message: "The latest writes." };
  },
  openapi: {
    summary: "List the latest writes across a project, newest first",
    query: activityQuery,
    answer: "activity",
  },
});

const confirmed = confirmation("The project's name, exactly as it is.");

export const deleteProject = defineRoute({
  operation: "delete_project",
  credentials: "account or key",
  allows: { admin: "delete the project with everything in it" },
  parse: ({ query }) => validateQuery(confirmed, query),
  async handle(context, { confirm }) {
    const request = { confirm, deletionId: crypto.randomUUID() };
    const data = deletion.parse(await administer(context, "delete", request));
    return { data, message: "Deleted. The service refuses its keys; the sweep erases its data." };
  },
  openapi: {
    summary:
      "Delete a project for good, with everything in it; a request with an API key needs the scope `admin`",
    description:
      "From then on the service refuses the project's keys, links and console sessions. The sweep erases all of its data.",
    query: confirmed,
    answer: "deletedProject",
  },
});

const usageQuery = z.object({
  from: day.optional().meta({ description: "First day (UTC); by default 29 days before `to`." }),
  to: day.optional().meta({
    description: `Last day (UTC), by default today; the period has at most ${USAGE_DAYS_MAX} days.`,
  }),
  keyId: z.union([z.uuid(), z.literal("console")]).optional().meta({
    description: "Count only this key (or the console) in `days`. Stored bytes are not counted for each key.",
  }),
});

export const getUsage = defineRoute({
  operation: "get_usage",
  credentials: "account or key",
  allows: { admin: "see the usage of each key" },
  parse: ({ query }) => validateQuery(usageQuery, query),
  async handle(context, parameters) {
    // The counts of this isolate are complete; other isolates send theirs within seconds.
    await context.requestCounts.flush().catch(() => {});
    const data = usage.parse(await administer(context, "usage", parameters));
    return { data, message: `Usage from ${data.from} to ${data.to}.` };
  },
  openapi: {
    summary: "Return requests, versions and bytes of a project, by day and by key",
    description: "An API key without the scope `admin` sees only its own usage in `keys`.",
    query: usageQuery,
    answer: "usage",
  },
});
