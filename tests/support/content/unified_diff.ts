/** Applies unified diffs strictly: every line of context and every line number must be right. */

/** Applies the diff and returns the resulting text. Throws if the diff does not match the text exactly. */
export function applyUnifiedDiff(before: string, diff: string): string {
  if (diff === "") return before;
  const [old, , ...rest] = diff.split("\n");
  if (!old?.startsWith("--- ") || !diff.split("\n")[1]?.startsWith("+++ ") || rest.pop() !== "") {
    throw new Error("not a unified diff of one file");
  }
  const source = linesOf(before);
  const result: string[] = [];
  let at = 0;
  for (let index = 0; index < rest.length;) {
    const header = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(rest[index++] ?? "");
    if (!header) throw new Error(`no hunk: ${rest[index - 1]}`);
    const [oldStart = 0, oldLines = 0, newStart = 0, newLines = 0] = header.slice(1).map(Number);
    const from = oldLines === 0 ? oldStart : oldStart - 1;
    if (from < at) throw new Error("hunks overlap");
    while (at < from) result.push(source[at++] ?? "");
    if (result.length !== (newLines === 0 ? newStart : newStart - 1)) throw new Error("newStart is wrong");
    let [removed, added] = [0, 0];
    for (; index < rest.length && !rest[index]?.startsWith("@@"); index++) {
      const line = rest[index] ?? "";
      if (line.startsWith("\\")) continue;
      const ending = rest[index + 1]?.startsWith("\\ No newline at end of file") ? "" : "\n";
      const text = line.slice(1) + ending;
      if (line[0] !== "+") {
        if (source[at++] !== text) throw new Error(`line ${at} is not ${JSON.stringify(text)}`);
        removed++;
      }
      if (line[0] !== "-") {
        result.push(text);
        added++;
      }
      if (!" +-".includes(line[0] ?? "?")) throw new Error(`no line of a hunk: ${line}`);
    }
    if (removed !== oldLines || added !== newLines) throw new Error("a hunk's counts are wrong");
  }
  while (at < source.length) result.push(source[at++] ?? "");
  return result.join("");
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
