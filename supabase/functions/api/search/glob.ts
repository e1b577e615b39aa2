/**
 * Globs for paths: `*` and `?` stop at a slash, `**` does not, `[abc]` and `[!a-z]` match one character, `{a,b}` either
 * one. A glob without a slash matches the file's name, at any depth; with one, the path below the directory.
 */
import { SEARCH_GLOB_PATTERNS_MAX } from "../limits.ts";

/** The text is not a valid glob; the message says why. */
export class GlobError extends Error {
  override readonly name = "GlobError";
}

/**
 * The glob as a regular expression for the whole path. It uses only constructs that a database matches in linear time:
 * literals, `.`, `[^/]`, sets, `*` of these, and alternatives. Throws GlobError.
 */
export function globPattern(glob: string, directory: string): string {
  const patterns = expandBraces(glob.startsWith("/") ? glob : glob.replace(/^\.\//, ""));
  const below = directory === "" ? "" : escapeLiteral(`${directory}/`);
  const whole = patterns.map((pattern) => {
    const isName = !pattern.includes("/");
    return (isName ? "(.*/)?" : "") + translate(pattern.replace(/^\//, ""));
  });
  return `^${below}(${whole.join("|")})$`;
}

/** One pattern for each combination of the braces' alternatives. */
function expandBraces(glob: string): string[] {
  const open = glob.indexOf("{");
  if (open < 0) {
    if (glob.includes("}")) throw new GlobError("has a `}` without `{`");
    return [glob];
  }
  const { choices, close } = choicesAt(glob, open);
  const found = choices.flatMap((choice) =>
    expandBraces(glob.slice(0, open) + choice + glob.slice(close + 1))
  );
  if (found.length > SEARCH_GLOB_PATTERNS_MAX) throw new GlobError("has too many alternatives");
  return found;
}

function choicesAt(glob: string, open: number): { choices: string[]; close: number } {
  const choices = [""];
  let depth = 0;
  for (let at = open + 1; at < glob.length; at++) {
    const character = glob[at] ?? "";
    if (character === "}" && depth === 0) return { choices, close: at };
    if (character === "," && depth === 0) {
      choices.push("");
      continue;
    }
    if (character === "{") depth++;
    if (character === "}") depth--;
    choices[choices.length - 1] += character;
  }
  throw new GlobError("has a `{` without `}`");
}

function translate(pattern: string): string {
  let result = "";
  for (let rest = pattern; rest !== "";) {
    const [token = ""] = /^(\*\*\/|\*{1,2}|\?|\[!?\]?[^\]/]*\]|[^])/u.exec(rest) ?? [];
    rest = rest.slice(token.length);
    if (token === "**/") result += "(.*/)?";
    else if (token === "**") result += ".*";
    else if (token === "*") result += "[^/]*";
    else if (token === "?") result += "[^/]";
    else if (token.length > 1 && token.startsWith("[")) result += bracket(token);
    else if (token === "[") throw new GlobError("has a `[` without `]`");
    else result += escapeLiteral(token);
  }
  return result;
}

/** `[!a-c]` → `[^/a-c]`. Refuses members that have a special meaning in a regular expression, other than ranges. */
function bracket(token: string): string {
  const isNegated = token.startsWith("[!");
  const members = token.slice(isNegated ? 2 : 1, -1);
  if (!/^([\p{L}\p{N}_.+ -]-[\p{L}\p{N}_]|[\p{L}\p{N}_.+ ,@#=-])+$/u.test(members)) {
    throw new GlobError("has a `[ ]` with other members than letters, digits, ranges and simple punctuation");
  }
  for (const [, from = "", to = ""] of members.matchAll(/(.)-(.)/gu)) {
    if (from > to) throw new GlobError("has a range in the wrong order");
  }
  const dash = members.startsWith("-") || members.endsWith("-") ? "-" : "";
  const inner = members.replace(/^-|-$/g, "");
  return `[${isNegated ? "^/" : ""}${inner}${dash}]`;
}

function escapeLiteral(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}

/** The regular expression that matches this path alone. */
export function pathPattern(path: string): string {
  return `^${escapeLiteral(path)}$`;
}
