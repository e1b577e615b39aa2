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
import { invitation, role } from "./members.ts";
import { count, time, version, type Wire } from "./values.ts";

const limit = count.nullable().meta({ description: "Null: no limit." });
/** The retention rule, by which versions are erased automatically; a client sends the same fields. */
export const retention = z.object({
  keepVersions: z.int().min(1).max(KEEP_VERSIONS_MAX).nullish().meta({
    description: "The number of newest versions of a file to keep.",
  }),
  keepDays: z.int().min(1).max(KEEP_DAYS_MAX).nullish().meta({
    description: "The number of days to keep a version after the next version replaced it.",
  }),
  deletedDays: z.int().min(1).max(KEEP_DAYS_MAX).nullish().meta({
    description: "The number of days after which a deleted file is purged. Absent: never.",
  }),
}).meta({ id: "Retention" });
export type Retention = Wire<typeof retention>;

export const project = z.object({
  id: z.uuid(),
  name: z.string(),
  tier: z.string(),
  createdAt: time,
  limits: z.object({ requestsPerMinute: limit, maxFileBytes: limit, maxProjectBytes: limit }),
  retention: retention.nullable().meta({
    description: "The rule by which the sweep erases versions; null: none.",
  }),
  usage: z.object({
    files: count.meta({ description: `Counted up to ${LIST_TOTAL_MAX}.` }),
    filesIsExact: z.literal(false).optional().meta({
      description: "False: counting stopped, and there are more files than `files`.",
    }),
    bytes: count.meta({ description: "Of all versions; a segment that several versions use counts once." }),
    databaseBytes: count.meta({
      description:
        "Bytes that count towards the quota for the rows of files, versions, segments and the search index, in addition to `bytes`.",
    }),
    versions: count,
    requestsThisMinute: count,
  }),
  keyPrefix: z.string().nullable().meta({ description: "Of the newest active key." }),
  role: role.optional().meta({ description: "For a person's token: the person's role." }),
}).meta({ id: "Project" });
export type Project = Wire<typeof project>;

export const projectList = z.object({
  projects: z.array(project),
  invitations: z.array(invitation).meta({ description: "To the account's confirmed address, not answered." }),
}).meta({ id: "ProjectList" });
export type ProjectList = Wire<typeof projectList>;

const retentionPreview = z.object({
  versions: count.meta({ description: "All versions to erase, including those of deleted files." }),
  files: count.meta({ description: "Deleted files to purge." }),
  examples: z.array(z.object({
    path: z.string(),
    versions: version,
    whole: z.boolean(),
  })).meta({ description: `Some of these files, at most ${RETENTION_PREVIEW_SHOWN}.` }),
  lookedAt: count.meta({ description: "Files that the preview examined." }),
  isComplete: z.boolean().meta({
    description:
      `False if there are more than ${RETENTION_PREVIEW_FILES} files or ${RETENTION_PREVIEW_VERSIONS} such versions.`,
  }),
}).meta({ id: "RetentionPreview" });
export type RetentionPreview = Wire<typeof retentionPreview>;

export const changedProject = project.extend({
  wouldRemove: retentionPreview.optional().meta({
    description: "With `dryRun`: what the rule would erase now.",
  }),
}).meta({ id: "ChangedProject" });
export type ChangedProject = Wire<typeof changedProject>;

export const deletion = z.object({ id: z.uuid(), deletedAt: time });
export type Deletion = Wire<typeof deletion>;
export const deletedProject = deletion.meta({ id: "DeletedProject" });
export const deletedAccount = deletion.meta({ id: "DeletedAccount" });

export const account = z.object({
  id: z.uuid(),
  email: z.string().nullable().meta({ description: "Null: the account has no e-mail address." }),
  projectMakers: z.enum(["anyone", "listed", "nobody"]).meta({
    description:
      "Who may create projects: any account; accounts with a confirmed e-mail address or domain on the operator's list, " +
      "which is not shown; or nobody but the operator.",
  }),
  mayCreateProjects: z.boolean().meta({ description: "Whether this account may create a project now." }),
  reason: z.enum(["operator_only", "not_listed", "address_unconfirmed", "project_limit"]).nullable().meta({
    description:
      "Why the account may not create a project; null if it may. `address_unconfirmed` does not reveal whether the " +
      "e-mail address is on the list. `project_limit`: the account has reached its maximum number of projects.",
  }),
  limits: z.object({
    requestsPerMinute: count.meta({
      description: "Requests about projects and keys, independent of the limits of its projects.",
    }),
    maxProjects: count.meta({ description: "The operator may give the account more." }),
    maxSharedBytes: count.nullable().meta({
      description:
        "The shared quota of the account's projects that have no quota of their own. Null: there is none.",
    }),
  }),
  usage: z.object({
    requestsThisMinute: count,
    projects: count,
    sharedBytes: count.meta({
      description:
        "The used part of `maxSharedBytes`: the sum of `bytes` and `databaseBytes` of these projects.",
    }),
  }),
}).meta({ id: "Account" });
export type Account = Wire<typeof account>;
