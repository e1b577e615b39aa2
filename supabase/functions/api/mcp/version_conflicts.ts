/** Explains version conflicts to a model: the file's latest version, and what changed since the one it expected. */
import type { Context } from "../context.ts";
import { ApiError, type ErrorCode } from "../errors.ts";
import { diffSides } from "../files/diff.ts";
import { isText } from "../files/presentation.ts";
import { MCP_CONFLICT_DIFF_LINES_MAX } from "../limits.ts";
import type { Content } from "../ports/files.ts";
import { ToolRefusal } from "./failures.ts";
import { describeProvenance, fitLines, shownPath } from "./text.ts";
import { counted } from "../runtime/counted.ts";

/** Whether the error says that the file is at another version than the client expected. */
export function isVersionConflict(error: unknown): error is ApiError {
  return error instanceof ApiError &&
    (error.code === "PRECONDITION_FAILED" || error.code === "FILE_ALREADY_EXISTS");
}

function mayRead({ gate }: Pick<Context, "gate">): boolean {
  return gate.grant?.scopes.includes("read") ?? false;
}

/** By default the latest content; undefined where the key may not read, or there is none. */
export async function contentAt(
  { gate, metadata }: Context,
  path: string,
  version?: number,
): Promise<Content | undefined> {
  if (!mayRead({ gate })) return undefined;
  const answer = gate.observe(await metadata.content(gate.caller, path, version));
  return answer.ok ? answer.value : undefined;
}

/**
 * The refusal of a change that an earlier call whose answer was lost, or another agent, seems to have committed. It is
 * not reported as a success: where two agents count, or create the same file as a lock, only one of them may succeed.
 */
export function alreadyAppliedRefusal(code: ErrorCode, what: string): ToolRefusal {
  return new ToolRefusal(
    code,
    `${what}. Nothing was done now. If you sent this call before, it worked, and there is nothing left to do; ` +
      "otherwise another agent did the same.",
  );
}

/** The provenance of the latest version, by which people and agents find each other; "" where it is not known. */
export async function lastWriter({ gate, metadata }: Context, latest: Content | undefined): Promise<string> {
  if (!latest) return "";
  const answer = gate.observe(await metadata.versions(gate.caller, latest.file.path, 1, 0));
  const [last] = answer.ok ? answer.value.versions : [];
  return last?.version === latest.file.version ? describeProvenance(last) : "";
}

/**
 * The refusal of a change that expected another version than the latest. `details` are those of the refusal, `advice`
 * says what the model should do with the changes that the message shows.
 */
export async function versionRefusal(
  context: Context,
  latest: Content | undefined,
  { path, expected, details, advice }: {
    readonly path: string;
    readonly expected: number;
    readonly details: ApiError["details"];
    readonly advice: string;
  },
): Promise<ToolRefusal> {
  const version = latest?.file.version ?? details?.["version"];
  const isMissing = latest === undefined && mayRead(context);
  if (isMissing || typeof version !== "number") {
    return new ToolRefusal(
      "PRECONDITION_FAILED",
      `There is no file at ${shownPath(path)}, but you expected version ${expected}. Nothing was done. ` +
        "file_history shows whether it was deleted; write_file without expected_version creates it.",
    );
  }
  const writer = await lastWriter(context, latest);
  const changes = latest && version !== expected
    ? ` ${await changesSince(context, path, expected, latest)}\n`
    : " ";
  return new ToolRefusal(
    "PRECONDITION_FAILED",
    `${shownPath(path)} is at version ${version}, not ${expected}${writer && `: written${writer}`}. ` +
      `Nothing was done.${changes}${advice} Then send expected_version=${version}.`,
  );
}

async function changesSince(
  context: Context,
  path: string,
  expected: number,
  latest: Content,
): Promise<string> {
  const { gate, metadata } = context;
  const { version } = latest.file;
  if (expected > version) return `There is no version ${expected} yet.`;
  if (!isText(latest)) return "It is binary.";
  try {
    const compared = gate.unwrap(await metadata.comparison(gate.caller, path, expected, version));
    const { diff, additions, deletions } = await diffSides(context, path, compared);
    if (diff === "") return `The content is that of version ${expected}.`;
    const changed = `${counted(additions, "line")} added, ${deletions} removed`;
    const lines = diff.replace(/\n$/, "").split("\n");
    const more = lines.length - MCP_CONFLICT_DIFF_LINES_MAX;
    const advice = "diff_versions shows them";
    const shown = lines.slice(0, MCP_CONFLICT_DIFF_LINES_MAX);
    if (more > 0) shown.push(`… ${counted(more, "more line")}: ${advice}`);
    return `Since version ${expected}: ${changed}.\n${fitLines(shown.join("\n"), advice, 4000)}`;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    return `The changes since version ${expected} cannot be shown; read the file.`;
  }
}

/** The number of the latest version at `path`, if it has the same segments as that version of `other`. */
export async function versionWithContentOf(
  context: Context,
  path: string,
  other: string,
  version: number,
): Promise<number | undefined> {
  const latest = await contentAt(context, path);
  const wanted = latest && await contentAt(context, other, version);
  if (!wanted || latest.file.mimeType !== wanted.file.mimeType) return undefined;
  const [ids, wantedIds] = [latest, wanted].map(({ segments }) => segments.map(({ id }) => id).join());
  return ids === wantedIds ? latest.file.version : undefined;
}
