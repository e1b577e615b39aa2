/** Failures as text for a model: `CODE: sentence. What to do.` */
import { ApiError, type ErrorCode } from "../errors.ts";
import { MCP_LINE_LENGTH_MAX } from "../limits.ts";
import { cutLine, numbered } from "./text.ts";

/** A refusal whose message already says what to do. */
export class ToolRefusal extends Error {
  override readonly name = "ToolRefusal";
  constructor(readonly code: ErrorCode, message: string) {
    super(message);
  }
}

type Details = Readonly<Record<string, unknown>>;

/** What a model should do after a failure, by its code. */
const ADVICE: { readonly [Code in ErrorCode]?: string | ((details: Details) => string) } = {
  INVALID_PATH:
    "Write paths like notes/plan.md: forward slashes, no leading slash, and no segment that is `.` or `..`.",
  FILE_NOT_FOUND: adviseOnMissingFile,
  VERSION_NOT_FOUND: ({ latestVersion }) =>
    (latestVersion === undefined ? "" : `The latest is ${latestVersion}. `) +
    "file_history lists the versions.",
  VERSION_REDACTED: "Its content was erased for good; file_history lists the versions.",
  VERSION_DELETED: "Restore an earlier version instead: file_history lists them.",
  FILE_ALREADY_EXISTS: "Choose another destination, or send overwrite=true to replace that file.",
  VERSION_CONFLICT: "Read the file again, then send the change again.",
  PRECONDITION_FAILED: "Read the file again, then decide.",
  STRING_NOT_FOUND: adviseOnMissingString,
  STRING_NOT_UNIQUE: adviseOnRepeatedString,
  NOT_TEXT: "It is binary content, which the text tools do not handle.",
  CONTENT_TOO_LARGE: ({ limitBytes, limit }) =>
    `The limit is ${limitBytes ?? limit} ${limit === undefined ? "bytes" : "characters"}. ` +
    "Split the content into several files.",
  TOO_MANY_FILES: ({ files }) => `It is about ${files} files. Take smaller folders, one after the other.`,
  RUN_NOT_FOUND: "recent_changes without run shows the latest runs.",
  BRANCH_NOT_FOUND: "Write only below .branches/ in a branch that create_branch has shown.",
  BRANCH_CLOSED: "What you changed before stays. Tell the person: to go on, it takes another branch.",
  BRANCH_ALREADY_EXISTS: "Choose another name; none is used twice.",
  PATH_TOO_LONG: "Branch a deeper folder instead.",
  LINK_LIMIT_REACHED: "Use a link that you created before, or wait until some have expired.",
  QUOTA_EXCEEDED: "Nothing was written. Tell the person who gave you the key: they can raise the quota.",
  DIFF_TOO_LARGE: "Read both versions with read_file (version=…) instead.",
  SEARCH_TOO_BROAD: "Use a longer or more literal pattern, or narrow it with path or glob.",
  FORBIDDEN_SCOPE: ({ pathPrefix, suspended }) =>
    suspended === true
      ? "Tell the person who gave you the key."
      : typeof pathPrefix === "string"
      ? "Use a path there."
      : "Ask the person who gave it to you for a key that has it.",
  CONTENT_CORRUPT: "An earlier version may be readable: file_history lists them.",
  SERVICE_UNAVAILABLE:
    "Wait two seconds and call again. A change may have been saved all the same: read the file first.",
};

export function failureText(error: ApiError | ToolRefusal): string {
  if (error instanceof ToolRefusal) return `${error.code}: ${error.message}`;
  const advice = ADVICE[error.code];
  const text = typeof advice === "function" ? advice(error.details ?? {}) : advice;
  return `${error.code}: ${error.message}${/[.!?]$/.test(error.message) ? "" : "."}${text ? ` ${text}` : ""}`;
}

function adviseOnMissingFile({ directory, deletedVersion }: Details): string {
  if (directory === true) return "list_files shows what is in it.";
  if (typeof deletedVersion === "number") {
    const how = `restore_file with version=${deletedVersion - 1} restores it`;
    return `${how}; write_file creates it with new content.`;
  }
  return "list_files and search_files show which files exist; write_file creates one.";
}

const DIFFERS: Readonly<Record<string, string>> = {
  whitespace: "spaces, tabs or line breaks",
  lineEndings: "line endings: the file has \\r\\n or \\r where old_string has \\n, or the other way round",
  case: "upper and lower case",
  escaping: 'escaping, such as \\n, \\" or &amp;',
};

function adviseOnMissingString({ nearest, differsOnlyBy, version }: Details): string {
  const lines = (Array.isArray(nearest) ? nearest : []).map((near) =>
    numbered(Reflect.get(near, "line"), cutLine(String(Reflect.get(near, "text")), MCP_LINE_LENGTH_MAX))
  );
  const only = typeof differsOnlyBy === "string"
    ? ` It differs from the file only by ${DIFFERS[differsOnlyBy] ?? differsOnlyBy}.`
    : "";
  const latest = `The latest is version ${version}.${only}`;
  if (lines.length === 0) return `${latest} No line is similar: read_file shows what is there.`;
  return `${latest} Copy old_string from these most similar lines, without the numbers, or read the file around ` +
    `them:\n${lines.join("\n")}`;
}

function adviseOnRepeatedString({ occurrences, lines, version }: Details): string {
  const places = Array.isArray(lines) ? lines.slice(0, 20).join(", ") : "";
  return `In version ${version} it occurs ${occurrences} times, in lines ${places}. Add surrounding lines to ` +
    "old_string and new_string until it is unique, or send replace_all=true to change all of them.";
}
