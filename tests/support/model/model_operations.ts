/**
 * Random operations. Values that depend on the project's state (tags, versions, dates) stay open until the operation
 * runs.
 */
import fc from "fast-check";
import { COMPACTION_CHECK_EVERY_SEGMENTS } from "../../../supabase/functions/api/limits.ts";
import type { Edit } from "./model.ts";

/** Only a few paths, so that operations affect the same files. The last two sort differently in UTF-16 and UTF-8. */
const PATHS = ["a", "a/b", "a/b.md", "notes/x.png", "notes/deep/y.JSON", "\uff5e.md", "\u{1f600}.md"];
const DIRECTORIES = ["", "/", "a", "/a/", "notes", "notes/deep", "nowhere"];
const OPERATIONS_MAX = 30;
/** Folders to copy, move, delete and restore. */
const FOLDERS = ["a", "a", "notes", "notes/deep", "c", "c"];
const RUNS = ["first-run", "second-run"];
const KEYS = ["first key", "second key", "third key"];
const TYPES = ["text/plain", "text/markdown", "image/png", "application/octet-stream", "application/json"];

/**
 * An entity tag for the file at the path: of its latest version, of an earlier one, `*`, or one that is not the
 * service's.
 */
export type TagChoice = "fresh" | "stale" | "weak" | "one of two" | "any" | "foreign";
/** The current version, an earlier one, or 0: the file must not exist. */
export type NumberChoice = "fresh" | "stale" | "none";

type Of<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** Mostly `undefined`, since most requests leave out most parameters. */
function sometimes<T>(values: fc.Arbitrary<T>, oneIn = 7): fc.Arbitrary<T | undefined> {
  return fc.oneof(
    { weight: oneIn - 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: values },
  );
}

const path = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...PATHS.slice(0, 2)) },
  { weight: 1, arbitrary: fc.constantFrom(...PATHS) },
);
const text = fc.array(
  fc.constantFrom("a", "b", "ab", "aa", "\n", "x\ny\n", "ä", "\u{1f600}", "\r\n", "\ufeff"),
  {
    minLength: 2,
    maxLength: 10,
    size: "max",
  },
).map((parts) => parts.join(""));
const utf8 = text.map((value) => new TextEncoder().encode(value));
/** Invalid UTF-8, or one half of a character: two halves form valid text, though neither piece is. */
const halves = fc.constantFrom([0xff, 0xfe], [0xc3], [0xa4], [0], [0x61, 0xc3]).map((bytes) =>
  new Uint8Array(bytes)
);
/** Larger than a body that is read before the key is admitted. */
const large = text.map((value) => new TextEncoder().encode("0123456789abcde\n".repeat(4400) + value));
const content = fc.oneof(
  { weight: 25, arbitrary: utf8.map((bytes) => ({ bytes, isText: true })) },
  { weight: 1, arbitrary: fc.constant({ bytes: new Uint8Array(), isText: true }) },
  { weight: 2, arbitrary: halves.map((bytes) => ({ bytes, isText: false })) },
  { weight: 1, arbitrary: large.map((bytes) => ({ bytes, isText: true })) },
).chain(({ bytes, isText }) =>
  fc.constantFrom<"text" | "base64" | "raw">(...(isText ? ["text", "text"] as const : []), "base64", "raw")
    .map((
      form,
    ) => ({ bytes, form }))
);
const tag = fc.constantFrom<TagChoice>("fresh", "fresh", "stale", "weak", "one of two", "any", "foreign");
const key = sometimes(fc.constantFrom(...KEYS));
const run = sometimes(fc.constantFrom(...RUNS), 2);
const number = fc.constantFrom<NumberChoice>("fresh", "fresh", "stale", "none");
const conditions = { ifMatch: sometimes(tag), ifVersion: sometimes(number), run, key };
/** Steps back from the latest version; negative: a version that does not exist yet. */
const back = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 0, max: 6 }) },
  { weight: 1, arbitrary: fc.constant(-2) },
);
const edit: fc.Arbitrary<Edit> = fc.tuple(
  fc.constantFrom("a", "a", "b", "ab", "aa", "\n", "\n", "x", "ä", "zzz", "b\n", "\u{1f600}"),
  fc.constantFrom("", "b", "$&", "a\n", "ä", "x"),
  fc.constantFrom({ replaceAll: true }, { replaceAll: true }, { replaceAll: false }, {}),
  sometimes(fc.integer({ min: 1, max: 3 }), 4).map((count) => count ? { expectedOccurrences: count } : {}),
).map(([oldString, newString, all, expected]) => ({ oldString, newString, ...all, ...expected }));
const lines = fc.oneof(
  fc.tuple(fc.integer({ min: 1, max: 4 }), sometimes(fc.integer({ min: 0, max: 3 }), 2)).map(([from, more]) =>
    more === undefined ? { from } : { from, to: from + more }
  ),
  fc.integer({ min: 1, max: 4 }).map((last) => ({ last })),
);
const range = fc.oneof(
  fc.record({ first: fc.nat(12), last: fc.nat(14) }),
  fc.record({ first: fc.nat(12) }),
  fc.record({ last: fc.nat(12) }),
);
/** A time (in milliseconds) or the size of the path's file, plus an offset. */
const near = fc.record({ path, plus: fc.constantFrom(-1, 0, 0, 1) });
export type NearChoice = Of<typeof near>;

/** The moment right after a version of a path, named by its cursor or its time. */
const moment = fc.record({
  path,
  back: fc.nat(4),
  by: fc.constantFrom("cursor" as const, "time" as const),
});
export type MomentChoice = Of<typeof moment>;
const dryRun = fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true));

const write = fc.tuple(
  content,
  fc.record({ path, type: sometimes(fc.constantFrom(...TYPES)), ifNoneMatch: sometimes(tag), ...conditions }),
).map(([content, rest]) => ({ kind: "write" as const, ...content, ...rest }));

const replace = <Kind extends "append" | "overwrite">(kind: Kind) =>
  fc.tuple(content, fc.record({ path, ...conditions }))
    .map(([content, rest]) => ({ kind, ...content, ...rest }));

const writing = fc.oneof(
  { weight: 12, arbitrary: write },
  { weight: 8, arbitrary: replace("append") },
  { weight: 5, arbitrary: replace("overwrite") },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant("edit" as const),
      path,
      edits: fc.oneof(
        { weight: 3, arbitrary: fc.tuple(edit) },
        { weight: 1, arbitrary: fc.array(edit, { minLength: 2, maxLength: 3 }) },
      ),
      dryRun,
      ...conditions,
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("delete" as const), path, ...conditions }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("restore" as const), path, back, ...conditions }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("copy" as const, "move" as const),
      path,
      destination: path,
      overwrite: fc.boolean(),
      ...conditions,
    }),
  },
);
/** Paths in a branch. */
const INSIDE = ["a", "a", "a", "a/b", "a/b", "b", "b", "b.md", "a/b.md", "x.png", "deep/y.JSON"];
const inside = {
  branch: fc.nat(1),
  path: fc.constantFrom(...INSIDE),
  ...{ ifMatch: sometimes(tag), ifVersion: sometimes(number) },
  ...{ run: fc.constant(undefined), key: fc.constant(undefined) },
};
const ofBranch = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("create_branch" as const),
      directory: fc.constantFrom("", ...FOLDERS),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom("write" as const, "append" as const, "overwrite" as const, "delete" as const),
      bytes: utf8,
      ...inside,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom("merge_branch" as const, "merge_branch" as const, "update_branch" as const),
      branch: fc.nat(1),
      onConflict: fc.constantFrom("refuse" as const, "branch" as const, "current" as const),
      dryRun,
      keep: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("get_branch" as const), branch: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("close_branch" as const), branch: fc.nat(1) }) },
).map((act) => ({ kind: "branch" as const, act }));
/** An operation on a branch or in it; `branch` counts back from the last one that was created. */
export type BranchOperation = Of<typeof ofBranch>["act"];

/** Operations that can be part of a batch. */
export type WriteOperation = Of<typeof writing>;

const operation = fc.oneof(
  { weight: 49, arbitrary: writing },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("batch" as const),
      // Their own keys are not sent, and of their conditions only those that a version number can express.
      operations: fc.array(writing, { minLength: 1, maxLength: 6, size: "max" }),
      run,
      key,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("copy_folder" as const, "move_folder" as const, "delete_folder" as const),
      path: fc.constantFrom(...FOLDERS),
      destination: fc.constantFrom(...FOLDERS),
      overwrite: fc.boolean(),
      moment: sometimes(moment, 2),
      run,
      key,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("undo_run" as const),
      // A run id, or a number that selects an earlier undo, counted back from the next one.
      undoes: fc.oneof(fc.constantFrom(...RUNS), fc.integer({ min: 1, max: 2 })),
      onConflict: fc.constantFrom("refuse" as const, "skip" as const, "overwrite" as const),
      dryRun,
      key,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("restore_folder" as const),
      directory: fc.constantFrom("", ...FOLDERS),
      moment,
      dryRun,
      key,
    }),
  },
  { weight: 14, arbitrary: ofBranch },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("purge" as const), path }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("redact" as const),
      path,
      back: fc.array(back, { minLength: 1, maxLength: 4, size: "max" }),
    }),
  },
  // Sets a retention rule, sweeps, and removes the rule.
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("trim" as const), keep: fc.integer({ min: 1, max: 5 }) }),
  },
  // Repeats the last write with an Idempotency-Key unchanged.
  { weight: 3, arbitrary: fc.constant({ kind: "repeat" as const }) },
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constant("read" as const),
      path,
      back: sometimes(back, 3),
      as: fc.constantFrom("json" as const, "raw" as const),
      encoding: sometimes(fc.constantFrom("utf8" as const, "base64" as const)),
      lines: sometimes(lines, 4),
      range: sometimes(range, 3),
      ifRange: sometimes(tag),
      ifNoneMatch: sometimes(tag),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("metadata" as const),
      path,
      back: sometimes(back, 3),
      ifNoneMatch: sometimes(tag),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("versions" as const),
      path,
      limit: sometimes(fc.integer({ min: 1, max: 4 }), 2),
      offset: sometimes(fc.nat(5), 2),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("diff" as const),
      path,
      fromBack: sometimes(back, 3),
      toBack: sometimes(back, 3),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant("list" as const),
      directory: sometimes(fc.constantFrom(...DIRECTORIES), 2),
      recursive: sometimes(fc.boolean(), 2),
      deleted: sometimes(fc.boolean(), 3),
      limit: sometimes(fc.integer({ min: 1, max: 5 }), 2),
      offset: sometimes(fc.nat(4)),
      sort: sometimes(
        fc.oneof(
          fc.record({ by: sometimes(fc.constant("path" as const), 2), after: sometimes(path, 2) }),
          fc.record({ by: fc.constantFrom("created_at" as const, "updated_at" as const, "size" as const) }),
        ),
        2,
      ),
      sortOrder: sometimes(fc.constantFrom("asc" as const, "desc" as const), 2),
      contentType: sometimes(fc.constantFrom(...TYPES)),
      minSize: sometimes(near),
      maxSize: sometimes(near),
      createdAfter: sometimes(near),
      createdBefore: sometimes(near),
      updatedAfter: sometimes(near),
      updatedBefore: sometimes(near),
    }),
  },
);

export type Operation = Of<typeof operation>;

const UNCONDITIONAL = { ifMatch: undefined, ifVersion: undefined, run: undefined, key: undefined };

/** The first version of a file, so that later operations have a file to change. */
const opening = fc.record({ path: fc.constantFrom(...PATHS.slice(0, 4)), bytes: utf8 }).map((
  one,
): Operation => ({
  ...{ kind: "write", form: "text", type: undefined, ifNoneMatch: undefined },
  ...one,
  ...UNCONDITIONAL,
}));

/** Enough appends in a row to make a compaction due. */
const appends: fc.Arbitrary<Operation[]> = fc.array(
  content.map((content): Operation => ({
    kind: "append",
    path: PATHS[0] ?? "",
    ...content,
    ...UNCONDITIONAL,
  })),
  { minLength: COMPACTION_CHECK_EVERY_SEGMENTS, maxLength: 2 * COMPACTION_CHECK_EVERY_SEGMENTS, size: "max" },
);

/** A branch, and changes of both sides of it. */
const branched: fc.Arbitrary<Operation[]> = fc.tuple(
  fc.constantFrom("", "a").map((directory): Operation => ({
    kind: "branch",
    act: { kind: "create_branch", directory },
  })),
  fc.array(fc.oneof<fc.Arbitrary<Operation>[]>(ofBranch, ofBranch, writing), {
    minLength: 6,
    maxLength: 16,
    size: "max",
  }),
).map(([created, then]) => [created, ...then]);

export const sequence: fc.Arbitrary<Operation[]> = fc.tuple(
  fc.array(opening, { minLength: 2, maxLength: 5, size: "max" }),
  fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 2, arbitrary: branched }, appends),
  fc.array(operation, { minLength: 1, maxLength: OPERATIONS_MAX, size: "max" }),
).map(([first, appends, then]) => [...first, ...appends, ...then]);
