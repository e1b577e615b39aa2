/** POST /branches/{name}/merge and /update: a branch into its folder, and what came since into the branch. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { cursor } from "../contract/values.ts";
import { failField } from "../errors.ts";
import { commitMerge, type MergeRequest, planMerge, removeBranchFiles } from "../files/merge_branch.ts";
import { isBodyAbsent } from "../http/body.ts";
import { idempotencyKey } from "../http/conditions.ts";
import { Base64Decoder, NOT_BASE64, readFields, textField } from "../http/json_request.ts";
import { checkPath } from "../http/path.ts";
import { COMMIT_FILES_MAX, CONTENT_LENGTH_MAX, JSON_FIELDS_BYTES_MAX } from "../limits.ts";
import { defineRoute, type Definition } from "../route.ts";
import type { OpenapiProperties } from "../openapi_properties.ts";
import { counted } from "../runtime/counted.ts";
import { parseBranch } from "./branches.ts";

const resolution = z.union([
  z.object({ path: z.string(), take: z.enum(["branch", "current"]) }),
  z.object({ path: z.string(), content: textField(0, CONTENT_LENGTH_MAX), isBase64: z.boolean().nullish() }),
]);

const body = z.object({
  dryRun: z.boolean().nullish().meta({
    default: true,
    description: "By default **true**: returns the plan and changes nothing.",
  }),
  onConflict: z.enum(["refuse", "branch", "current"]).nullish().meta({
    default: "refuse",
    description: "The side to take where both have changed the same lines, or a file that has no lines.",
  }),
  paths: z.array(z.string()).min(1).max(COMMIT_FILES_MAX).nullish().meta({
    description: "Only these files. Paths are relative to the branch, here and below.",
  }),
  resolutions: z.array(resolution).max(COMMIT_FILES_MAX).nullish().meta({
    description: "What to take for single files, whatever `onConflict` says.",
  }),
  expected: cursor.nullish().meta({
    description: "Refuses with 412 if the folder that is written was changed since this position.",
  }),
  keep: z.boolean().nullish().meta({ description: "Keep the files of the branch after the merge." }),
});

function contentOf(
  { content, isBase64 }: { readonly content: string; readonly isBase64?: boolean | null | undefined },
  field: string,
): Uint8Array {
  const bytes = new TextEncoder().encode(content);
  if (!isBase64) return bytes;
  const decoder = new Base64Decoder();
  const decoded = decoder.push(bytes);
  return decoded && decoder.finish() ? decoded : failField(field, NOT_BASE64);
}

function parseMerge(kind: MergeRequest["kind"], branch: string, fields: z.infer<typeof body>): MergeRequest {
  const resolutions = (fields.resolutions ?? []).map((one, index) => {
    const field = `resolutions.${index}.content`;
    return [checkPath(one.path), "take" in one ? { take: one.take } : contentOf(one, field)] as const;
  });
  return {
    kind,
    branch,
    onConflict: fields.onConflict ?? "refuse",
    paths: fields.paths?.map(checkPath),
    resolutions: new Map(resolutions),
    expected: fields.expected ?? undefined,
    keep: fields.keep ?? false,
  };
}

/** A dry run, unless `dryRun` is false. The files of a merged branch are deleted by commits of their own. */
async function planOrCommit(context: Context, key: string | undefined, merge: MergeRequest, isPlan: boolean) {
  if (isPlan) return { data: await planMerge(context, merge), isReplayed: false };
  const { value: { isEnded, ...data }, isReplayed } = await commitMerge(context, key, merge);
  if (isEnded && !merge.keep) await removeBranchFiles(context, merge.branch);
  return { data, isReplayed };
}

function merging(kind: MergeRequest["kind"], openapi: OpenapiProperties): Definition {
  return defineRoute({
    operation: kind,
    allows: { write: "create, change and merge branches" },
    makesVersions: true,
    parse: ({ params, headers }) => ({ name: parseBranch(params.id), key: idempotencyKey(headers) }),
    async handle(context, { name, key }) {
      const isAbsent = isBodyAbsent(context.request.headers);
      const fields: z.infer<typeof body> = isAbsent
        ? {}
        : await readFields(context, body, { fieldsBytesMax: JSON_FIELDS_BYTES_MAX });
      const isPlan = fields.dryRun ?? true;
      const merge = parseMerge(kind, name, fields);
      context.onEnd(await context.beginCostly());
      const { data, isReplayed } = await planOrCommit(context, key, merge, isPlan);
      const done = isPlan ? "would be changed" : "changed";
      const conflicts = counted(data.conflicts.length, "conflict");
      return { data, message: `${counted(data.actions.length, "file")} ${done}; ${conflicts}.`, isReplayed };
    },
    openapi: {
      body,
      isBodyOptional: true,
      headers: ["Idempotency-Key"],
      answer: "mergeResult",
      errors: [
        "INVALID_PATH",
        "MERGE_CONFLICT",
        "VERSION_CONFLICT",
        "PRECONDITION_FAILED",
        "TOO_MANY_FILES",
        "QUOTA_EXCEEDED",
      ],
      example: { dryRun: true },
      ...openapi,
    },
  });
}

export const mergeBranch = merging("merge_branch", {
  summary: "Merge a branch into its folder",
  description:
    "By file, three ways: what only the branch has changed is taken; where both sides have changed a text, their lines " +
    "are merged. What is left is a conflict: then the merge is refused, unless `onConflict` or `resolutions` choose. Only " +
    "returns a plan unless `dryRun` is false. One commit and one run, which can be undone; then the branch has ended.",
});

export const updateBranch = merging("update_branch", {
  summary: "Update a branch from its folder",
  description:
    "The other way round: what was changed in the folder since the branch was created or last updated.",
});
