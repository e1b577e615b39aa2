/** GET /changes: the versions of a project, in an order that a follower can rely on. */
import { z } from "zod";
import { cursor, runId } from "../contract/values.ts";
import { versionOperation } from "../contract/versions.ts";
import type { Context } from "../context.ts";
import { checkPath, normalizeDirectory } from "../http/path.ts";
import { type Query } from "../http/query.ts";
import type { RequestData } from "../http/request_data.ts";
import { validateQuery } from "../http/validate.ts";
import {
  ACTOR_LENGTH_MAX,
  CHANGES_EXAMINED_MAX,
  CHANGES_LIMIT_DEFAULT,
  CHANGES_LIMIT_MAX,
  CHANGES_WAIT_SECONDS_MAX,
  CHANGES_WAITERS_MAX,
  FREE_FOLLOW_MILLISECONDS_MIN,
} from "../limits.ts";
import type { FeedPage } from "../ports/files.ts";
import { sleep } from "../runtime/clock.ts";
import { defineRoute } from "../route.ts";
import { date, wholeNumber } from "./schemas.ts";
import { counted } from "../runtime/counted.ts";

const query = z.object({
  after: z.union([cursor, z.literal("now")], "must be a cursor, or now").optional().meta({
    description:
      "Only versions after this cursor. `now`: no versions, only the current cursor. Absent: from the beginning.",
  }),
  before: z.union(
    [cursor, z.literal("now"), date],
    "must be a cursor, now, or an ISO 8601 time with a zone",
  ).optional().meta({
    description:
      "Backwards: only versions before this cursor or time, the newest first; `now`: all versions. Send `cursor` of the " +
      "answer as `before` of the next page. Cannot be combined with `after` or `wait`.",
  }),
  limit: wholeNumber(1, CHANGES_LIMIT_MAX).default(CHANGES_LIMIT_DEFAULT),
  wait: wholeNumber(0, CHANGES_WAIT_SECONDS_MAX).default(0).meta({
    description:
      `Seconds to wait for a change if there is none yet. At most ${CHANGES_WAITERS_MAX} requests of a project ` +
      "wait in one isolate; further ones are answered at once.",
  }),
  run: runId.optional().meta({ description: "Only versions of this run." }),
  actor: z.string().min(1).max(ACTOR_LENGTH_MAX).regex(/^[\x20-\x7e]*$/, "must be printable ASCII")
    .optional(),
  keyId: z.uuid().optional().meta({
    description: "Only versions written with this key; for the owner, and keys with the scope `admin`.",
  }),
  path: z.string().optional().meta({ description: "Only versions of the file at this path." }),
  directory: z.string().optional().meta({ description: "Only versions of files below this directory." }),
  operation: versionOperation.optional(),
});

const checked = query.superRefine(({ before, after, wait }, context) => {
  if (before === undefined) return;
  const message = "cannot be combined with before";
  if (after !== undefined) context.addIssue({ code: "custom", path: ["after"], message });
  if (wait > 0) context.addIssue({ code: "custom", path: ["wait"], message });
});

function parse({ query: given }: RequestData) {
  const { directory = "", ...rest } = validateQuery(checked, given);
  const below = normalizeDirectory(directory);
  if (rest.path !== undefined) checkPath(rest.path);
  // The root directory does not filter anything.
  return { ...rest, directory: below === "" ? undefined : below };
}

const OF_FOLLOWER = ["after", "wait", "limit"];

/** The owner follows changes in the console, beside the agents. A request that is answered at once does not follow. */
function isFreeForOwner(given: Query): boolean {
  const after = given.get("after")?.[0] ?? "now";
  return Number(given.get("wait")?.[0]) > 0 && after !== "now" &&
    [...given.keys()].every((name) => OF_FOLLOWER.includes(name));
}

/**
 * A waiting request makes no calls itself: one call at a time finds out for all of them whether there are new changes.
 */
async function read(context: Context, { wait, ...query }: ReturnType<typeof parse>): Promise<FeedPage> {
  const { gate, metadata, changeWatch, clock, request: { signal } } = context;
  const asked = clock.now();
  const until = asked + 1000 * wait;
  const isBackwards = query.before !== undefined;
  let page = gate.unwrap(
    await metadata.changes(gate.caller, isBackwards ? { ...query, newestFirst: true } : query),
  );
  if (isBackwards || query.after === "now") return page;
  let isTold = false;
  while (page.changes.length === 0 && !page.hasMore) {
    isTold = await changeWatch.wait(gate.projectId, page.position, until - clock.now(), signal);
    if (!isTold) break;
    page = gate.unwrap(await metadata.changes(gate.caller, { ...query, after: page.cursor }));
  }
  if (gate.isFree && !isTold) {
    await sleep(asked + FREE_FOLLOW_MILLISECONDS_MIN - clock.now(), clock, signal);
  }
  return page;
}

export const changes = defineRoute({
  operation: "list_changes",
  allows: { read: "follow changes and runs", admin: "see which key did what" },
  isFreeForOwner,
  parse,
  async handle(context, parameters) {
    const { changes, cursor, hasMore } = await read(context, parameters);
    return { data: { changes, cursor, hasMore }, message: `${counted(changes.length, "change")}.` };
  },
  openapi: {
    summary: "Read the project's versions, in the order of the change feed",
    description:
      "A client that sends the last `cursor` as `after` gets each version once, and the versions of a file in order; no " +
      "version appears before a cursor that was returned. `before` reads backwards. A page with filters, or for a key " +
      `with a path prefix, examines ${CHANGES_EXAMINED_MAX} versions at most, and may be empty although \`hasMore\` is true.`,
    query,
    answer: "changePage",
    errors: ["INVALID_PATH"],
  },
});
