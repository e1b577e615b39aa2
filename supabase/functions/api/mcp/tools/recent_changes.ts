import { z } from "zod";
import { RUN_ID_RULE } from "../../contract/values.ts";
import type { Context } from "../../context.ts";
import { isRunId } from "../../http/provenance.ts";
import { CHANGES_EXAMINED_MAX, MCP_CHANGES_DEFAULT, PAGE_LIMIT_MAX } from "../../limits.ts";
import type { RunDetails } from "../../contract/runs.ts";
import type { Change } from "../../contract/versions.ts";
import type { FeedPage } from "../../ports/changes.ts";
import { folder, text, whole } from "../arguments.ts";
import { describeOrigin, describeProvenance, Lines, shortTime, shownActor, shownPath } from "../text.ts";
import { counted, grouped } from "../../runtime/counted.ts";
import { defineTool } from "../tool.ts";

/** An argument that may be absent or empty. */
const optional = (description: string, isValid: (given: string) => boolean, reason: string) =>
  text(description).refine((given) => given === "" || isValid(given), reason).optional()
    .transform((given) => given === "" ? undefined : given);

export const recentChanges = defineTool({
  name: "recent_changes",
  title: "Recent changes",
  description:
    "Lists recent changes by people and agents: time, operation, version, author and run. Its last line has the value " +
    "of since for the next call. run shows the changes of one run.",
  scopes: ["read"],
  effect: "reads",
  input: z.object({
    since: optional(
      "Only later changes: the 32 digits that an earlier result ended with.",
      (given) => /^[0-9a-f]{32}$/.test(given),
      "must be the 32 digits of an earlier result",
    ),
    run: optional("Only changes of this run, such as nightly-42.", isRunId, RUN_ID_RULE),
    path: folder("Only this file, or files below this folder; empty for all."),
    limit: whole("How many changes to show.", 1, PAGE_LIMIT_MAX).default(MCP_CHANGES_DEFAULT),
  }),
  async run(context, { since, run, path, limit }) {
    const { gate, metadata } = context;
    if (run !== undefined && since === undefined && path === "") {
      return await describeRun(context, run, limit);
    }
    const page = gate.unwrap(
      await metadata.changes(gate.caller, {
        after: since,
        limit,
        run,
        place: path === "" ? undefined : path,
        newestFirst: since === undefined ? true : undefined,
      }),
    );
    return describe(page, since !== undefined, run !== undefined || path !== "");
  },
});

/** The last changes, or those since a cursor, in their order. */
function describe({ changes, cursor, hasMore }: FeedPage, isSince: boolean, isFiltered: boolean): string {
  const lines = new Lines(500);
  // Where not all fit, the newest are shown; changes since a cursor are shown in order, and the next call continues.
  const all = (isSince ? changes : changes.toReversed()).map(describeChange);
  const left = lines.addAll(all);
  const shown = all.slice(0, all.length - left);
  const next = isSince && left > 0 ? changes[shown.length - 1]?.cursor ?? cursor : cursor;
  const isMore = hasMore || left > 0;
  const bound = isFiltered ? ` At most the last ${grouped(CHANGES_EXAMINED_MAX)} changes were examined.` : "";
  if (isSince) {
    const head = shown.length === 0
      ? isMore ? "No match so far; more changes follow." : "Nothing has changed since."
      : `${counted(shown.length, "change")} since, in their order`;
    return join(head, shown, `${isMore ? "more changes" : "later changes"}: since=${next}`);
  }
  const head = shown.length === 0
    ? `Nothing was changed.${bound}`
    : `${isMore ? "The last " : ""}${counted(shown.length, "change")}, oldest first.${bound}`;
  return join(head, shown.toReversed(), `later changes: since=${next}`);
}

function join(head: string, lines: readonly string[], last: string): string {
  return [head, ...lines, last].join("\n");
}

/** `2026-11-20T10:15:30Z edit notes/plan.md — version 7 by planner/2.1 in run nightly-42`. */
function describeChange(
  { createdAt, operation, path, version, deleted, from, ...provenance }: Change,
): string {
  const what = deleted ? `deleted, version ${version}` : `version ${version}`;
  const name = path === undefined ? "(a purged file)" : shownPath(path);
  const how = describeOrigin(from, path) + describeProvenance(provenance);
  return `${shortTime(createdAt)} ${operation} ${name} — ${what}${how}`;
}

async function describeRun({ gate, metadata }: Context, run: string, limit: number): Promise<string> {
  const { files, hasMore, ...summary }: RunDetails = gate.unwrap(await metadata.run(gate.caller, run, limit));
  const { fileCount, versionCount, actors, firstAt, lastAt, countsAreExact = true } = summary;
  const least = countsAreExact ? "" : "at least ";
  const who = actors.length === 0 ? "" : ` by ${actors.map(shownActor).join(", ")}`;
  const lines = new Lines(who.length + 400);
  lines.addAll(files.map(({ path, firstVersion, lastVersion, operation }) => {
    const isOne = firstVersion === lastVersion;
    const versions = isOne ? `version ${lastVersion}` : `versions ${firstVersion}–${lastVersion}`;
    return `${shownPath(path)} — ${versions}, last ${operation}`;
  }));
  const left = fileCount - lines.count;
  const isFull = hasMore && lines.count === files.length && limit < PAGE_LIMIT_MAX;
  const advice = isFull ? `raise limit (up to ${PAGE_LIMIT_MAX})` : "set path to see only those of a folder";
  const more = left === 0 ? "" : `\n${counted(left, "more file")}: ${advice}`;
  return `run ${run} — ${least}${counted(fileCount, "file")}, ${counted(versionCount, "version")}${who}, ` +
    `${shortTime(firstAt)} to ${shortTime(lastAt)}\n${lines}${more}`;
}
