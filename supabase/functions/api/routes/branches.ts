/** /branches: folders to work apart in. `merges.ts` has their merges and updates. */
import { z } from "zod";
import { branchName, branchState } from "../contract/branches.ts";
import { cursor } from "../contract/values.ts";
import { ERRORS, fail } from "../errors.ts";
import { changeBranch as changeTo, createWholeBranch, readBranch } from "../files/branches.ts";
import { readFields } from "../http/json_request.ts";
import { normalizeDirectory } from "../http/path.ts";
import { validateQuery } from "../http/validate.ts";
import {
  BRANCH_CHANGES_MAX,
  BRANCH_SECONDS_DEFAULT,
  BRANCH_SECONDS_MAX,
  BRANCH_SECONDS_MIN,
  BRANCH_TITLE_LENGTH_MAX,
  CHANGE_NOTE_LENGTH_MAX,
} from "../limits.ts";
import { defineRoute } from "../route.ts";
import { counted } from "../runtime/counted.ts";
import { moment, pageLimit, wholeNumber, withoutNul } from "./schemas.ts";

/** The branch that a URL names. Throws BRANCH_NOT_FOUND where no branch can have the name. */
export function parseBranch(name: string): string {
  return branchName.safeParse(name).success
    ? name
    : fail("BRANCH_NOT_FOUND", ERRORS.BRANCH_NOT_FOUND.message);
}

const text = (length: number) =>
  z.string().max(length).refine(...withoutNul)
    .refine((given) => given.isWellFormed(), "contains a lone surrogate, which cannot be stored as UTF-8");
const title = text(BRANCH_TITLE_LENGTH_MAX);
const expiresIn = z.int().min(BRANCH_SECONDS_MIN).max(BRANCH_SECONDS_MAX).nullish();

const creation = z.object({
  name: branchName.meta({ description: "Never used again in the project." }),
  directory: z.string().nullish().meta({ description: "The folder that is copied; by default the root." }),
  title: title.nullish(),
  at: moment.nullish().meta({
    type: "string",
    description: "The folder as it was at a moment: an ISO 8601 time, or a cursor of the change feed.",
  }),
  expiresIn: expiresIn.meta({ description: `Seconds; by default ${BRANCH_SECONDS_DEFAULT}.` }),
});

export const createBranch = defineRoute({
  operation: "create_branch",
  allows: { write: "create, change and merge branches" },
  makesVersions: true,
  async handle(context) {
    const fields = await readFields(context, creation);
    context.onEnd(await context.beginCostly());
    const data = await createWholeBranch(context, {
      name: fields.name,
      directory: normalizeDirectory(fields.directory ?? ""),
      title: fields.title,
      at: fields.at ?? undefined,
      expiresIn: fields.expiresIn ?? undefined,
    });
    return { data, message: `Copied ${counted(data.fileCount, "file")}.` };
  },
  openapi: {
    summary: "Create a branch: a copy of a folder, to work apart in",
    description: "Copies no bytes. A repeated request goes on with a creation that was cut off.",
    body: creation,
    answer: "branch",
    errors: ["INVALID_PATH", "BRANCH_ALREADY_EXISTS", "TOO_MANY_FILES", "PATH_TOO_LONG", "QUOTA_EXCEEDED"],
    example: { name: "try-1", directory: "notes", title: "A shorter plan" },
  },
});

const page = z.object({
  state: branchState.optional(),
  limit: pageLimit,
  after: cursor.optional().meta({ description: "`cursor` of the previous page." }),
});

export const listBranches = defineRoute({
  operation: "list_branches",
  allows: { read: "see branches" },
  parse: ({ query }) => validateQuery(page, query),
  async handle({ gate, metadata }, { limit, state, after }) {
    const data = gate.unwrap(await metadata.branches(gate.caller, limit, state, after));
    return { data, message: `${counted(data.branches.length, "branch", "branches")}.` };
  },
  openapi: { summary: "List branches, the newest first", query: page, answer: "branchPage" },
});

const changes = z.object({
  limit: wholeNumber(1, BRANCH_CHANGES_MAX).default(BRANCH_CHANGES_MAX),
  after: z.string().refine(...withoutNul).optional().meta({
    description: "`path` of the last change of the previous page.",
  }),
});

export const getBranch = defineRoute({
  operation: "get_branch",
  allows: { read: "see branches" },
  parse: ({ params, query }) => ({ name: parseBranch(params.id), ...validateQuery(changes, query) }),
  async handle(context, { name, limit, after }) {
    context.onEnd(await context.beginCostly());
    const data = await readBranch(context, name, limit, after);
    const { added, modified, deleted, conflicts } = data.counts;
    const message = `${counted(added + modified + deleted, "change")}; ${counted(conflicts, "conflict")}.`;
    return { data, message };
  },
  openapi: {
    summary: "Return a branch with what has changed in it",
    query: changes,
    answer: "branchDetails",
    errors: ["BRANCH_NOT_FOUND"],
  },
});

const change = z.object({
  title: title.nullish(),
  state: z.enum(["open", "ready", "closed"]).nullish().meta({
    description: "`closed` deletes the files of the branch, for good as far as the branch is concerned.",
  }),
  note: text(CHANGE_NOTE_LENGTH_MAX).nullish(),
  expiresIn: expiresIn.meta({ description: "Seconds from now." }),
});

export const changeBranch = defineRoute({
  operation: "change_branch",
  allows: { write: "create, change and merge branches" },
  parse: ({ params }) => parseBranch(params.id),
  async handle(context, name) {
    const fields = await readFields(context, change);
    const data = await changeTo(context, name, {
      title: fields.title,
      note: fields.note,
      state: fields.state ?? undefined,
      expiresIn: fields.expiresIn ?? undefined,
    });
    return { data, message: `The branch is ${data.state}.` };
  },
  openapi: {
    summary: "Change a branch: mark it ready, or close it",
    body: change,
    answer: "branch",
    errors: ["BRANCH_NOT_FOUND", "BRANCH_CLOSED"],
    example: { state: "ready", note: "Please look at the second section." },
  },
});
