/** Projects with their limits and usage, and the accounts that own them. */
import { z } from "zod";
import {
  KEEP_DAYS_MAX,
  KEEP_VERSIONS_MAX,
  LIST_TOTAL_MAX,
  RETENTION_PREVIEW_FILES,
  RETENTION_PREVIEW_SHOWN,
  RETENTION_PREVIEW_VERSIONS,
} from "./limits.ts";
import { count, time, version, type Wire } from "./values.ts";

const limit = count.nullable().meta({ description: "Null: no limit." });
/** Which versions go by themselves; a client sends the same fields. */
export const retention = z.object({
  keepVersions: z.int().min(1).max(KEEP_VERSIONS_MAX).nullish().meta({
    description: "So many of the newest versions of a file stay.",
  }),
  keepDays: z.int().min(1).max(KEEP_DAYS_MAX).nullish().meta({
    description: "A version stays so many days after the next one took its place.",
  }),
  deletedDays: z.int().min(1).max(KEEP_DAYS_MAX).nullish().meta({
    description: "A deleted file goes whole so many days after. Absent: never.",
  }),
}).meta({ id: "Retention" });
export type Retention = Wire<typeof retention>;

export const project = z.object({
  id: z.uuid(),
  name: z.string(),
  tier: z.string(),
  createdAt: time,
  limits: z.object({ requestsPerMinute: limit, maxFileBytes: limit, maxProjectBytes: limit }),
  retention: retention.nullable().meta({ description: "Which versions go by themselves; null: none." }),
  usage: z.object({
    files: count.meta({ description: `Counted up to ${LIST_TOTAL_MAX}.` }),
    filesIsExact: z.literal(false).optional().meta({ description: "There are more files than `files`." }),
    bytes: count.meta({ description: "Of all versions; content that versions share counts once." }),
    databaseBytes: count.meta({
      description:
        "What files, versions, segments and the search index count towards the quota, beside `bytes`.",
    }),
    versions: count,
    requestsThisMinute: count,
  }),
  keyPrefix: z.string().nullable().meta({ description: "Of the newest active key." }),
}).meta({ id: "Project" });
export type Project = Wire<typeof project>;

export const projectList = z.object({ projects: z.array(project) }).meta({ id: "ProjectList" });
export type ProjectList = Wire<typeof projectList>;

const retentionPreview = z.object({
  versions: count.meta({ description: "All of them, those of files that go whole included." }),
  files: count.meta({ description: "Deleted files that go whole." }),
  examples: z.array(z.object({
    path: z.string(),
    versions: version,
    whole: z.boolean(),
  })).meta({ description: `Some of the files concerned, at most ${RETENTION_PREVIEW_SHOWN}.` }),
  lookedAt: count.meta({ description: "Files that were looked at." }),
  isComplete: z.boolean().meta({
    description:
      `False where there are more than ${RETENTION_PREVIEW_FILES} files or ${RETENTION_PREVIEW_VERSIONS} such versions.`,
  }),
}).meta({ id: "RetentionPreview" });
export type RetentionPreview = Wire<typeof retentionPreview>;

export const changedProject = project.extend({
  wouldRemove: retentionPreview.optional().meta({
    description: "With `dryRun`: what the rule would let go now.",
  }),
}).meta({ id: "ChangedProject" });
export type ChangedProject = Wire<typeof changedProject>;

/** A project or an account that was deleted. */
export const deletion = z.object({ id: z.uuid(), deletedAt: time });
export type Deletion = Wire<typeof deletion>;

export const account = z.object({
  id: z.uuid(),
  email: z.string().nullable().meta({ description: "Null: the account has no address." }),
  projectMakers: z.enum(["anyone", "listed", "nobody"]).meta({
    description:
      "Whom the operator lets make projects: any account; those with a confirmed address or domain on the operator's " +
      "list, which is not shown; or no account, only the operator.",
  }),
  mayCreateProjects: z.boolean().meta({ description: "Whether this account may make one now." }),
  reason: z.enum(["operator_only", "not_listed", "address_unconfirmed", "project_limit"]).nullable().meta({
    description:
      "Why it may not; null where it may. `address_unconfirmed` says nothing of whether the address is listed. " +
      "`project_limit`: it has as many as it may have.",
  }),
  limits: z.object({
    requestsPerMinute: count.meta({ description: "About projects and keys, whatever the projects' own." }),
    maxProjects: count.meta({ description: "The operator may give the account more." }),
    maxSharedBytes: count.nullable().meta({
      description:
        "What those of its projects that have the quota of their tier may use together. Null: no more than each.",
    }),
  }),
  usage: z.object({
    requestsThisMinute: count,
    projects: count,
    sharedBytes: count.meta({
      description: "Of `maxSharedBytes`: content and records, as `bytes` and `databaseBytes` of a project.",
    }),
  }),
}).meta({ id: "Account" });
export type Account = Wire<typeof account>;
