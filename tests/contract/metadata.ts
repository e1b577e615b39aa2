/** The contract of `ports/metadata.ts` and `ports/commit.ts`, each statement once: to be run over every implementation. */
import { assert, assertEquals } from "@std/assert";
import { describeSegment } from "../../supabase/functions/api/files/segment.ts";
import type { Answer, Caller, Refusal } from "../../supabase/functions/api/ports/answer.ts";
import type { Commit, Committed } from "../../supabase/functions/api/ports/commit.ts";
import type { ListQuery } from "../../supabase/functions/api/ports/files.ts";
import type { Metadata } from "../../supabase/functions/api/ports/metadata.ts";
import { segmentName } from "../../supabase/functions/api/ports/segment_name.ts";
import type { Segment } from "../../supabase/functions/api/ports/segments.ts";
import { test } from "../support/stack/suite.ts";
import { rejects } from "./segments.ts";

export interface Tenant {
  readonly projectId: string;
  readonly keyId: string;
  readonly keyHash: string;
}

export interface MetadataTarget {
  readonly metadata: Metadata;
  /** The same database, but the answer of the first call is lost after it took effect. */
  losingFirstAnswer(): Metadata;
  /** An instance whose database is out of reach. */
  unreachable(): Metadata;
  /** A new project with a key that may read and write; with `requestsPerMinute`, its window does not end during a test. */
  tenant(requestsPerMinute?: number): Promise<Tenant>;
}

const LIST: ListQuery = {
  deleted: false,
  directory: "",
  recursive: true,
  limit: 10,
  offset: 0,
  sortBy: "path",
  sortOrder: "asc",
};

export function metadataContract(name: string, target: MetadataTarget): void {
  const { metadata } = target;

  test(`${name} counts a request once, however many calls it makes, and returns window and grant`, async () => {
    const { projectId, keyId, keyHash } = await target.tenant(5);
    const first = { keyHash, requestId: crypto.randomUUID() };
    const remaining = async (caller: Caller) => (await metadata.authorize(caller)).rate?.remaining;
    const answer = await metadata.authorize(first);
    assertEquals(answer.grant?.projectId, projectId);
    assertEquals(answer.grant?.keyId, keyId);
    assertEquals(answer.grant?.scopes.toSorted(), ["read", "write"]);
    assertEquals(answer.grant?.tier, "enterprise");
    assertEquals([answer.rate?.limit, answer.rate?.remaining], [5, 4]);
    assert((answer.rate?.reset ?? 0) > Date.now() / 1000);
    assertEquals(await remaining(first), 4, "the same request");
    assertEquals(await remaining({ keyHash, requestId: null }), 4, "a request that was counted");
    assertEquals(await remaining({ keyHash, requestId: crypto.randomUUID() }), 3, "another request");
    assertEquals((await metadata.record(first, "no file")).rate?.remaining, 3, "another method");
  });

  test(`${name} refuses an unknown key, and a request over the window, which is not counted`, async () => {
    const unknown = await metadata.authorize({ keyHash: "0".repeat(64), requestId: crypto.randomUUID() });
    assertEquals([refusal(unknown).code, unknown.grant], ["INVALID_API_KEY", null]);

    const { keyHash } = await target.tenant(1);
    const { commit, recordOf } = files(metadata, keyHash, crypto.randomUUID());
    value(await commit(write("a", [])));
    const over = { keyHash, requestId: crypto.randomUUID() };
    const refused = await metadata.commit(over, { ...write("b", []), commitId: crypto.randomUUID() });
    assertEquals([refusal(refused).code, refused.rate?.remaining], ["RATE_LIMIT_EXCEEDED", 0]);
    assertEquals(refusal(await recordOf("b")).code, "FILE_NOT_FOUND", "nothing was done");
  });

  test(`${name}.authorize returns the live file at the path, or its tombstone`, async () => {
    const { caller, commit, segment } = await tenant();
    assertEquals(value(await metadata.authorize(caller, "a")), { file: null, deletedVersion: null });
    value(await commit(write("a", [await segment("four")])));
    assertEquals(value(await metadata.authorize(caller, "a")), {
      file: { version: 1, size: 4 },
      deletedVersion: null,
    });
    value(await commit({ kind: "delete", path: "a" }));
    assertEquals(value(await metadata.authorize(caller, "a")), { file: null, deletedVersion: 2 });
  });

  test(`${name}.record and .content are of the latest version, or of the one asked for`, async () => {
    const { caller, commit, recordOf, contentOf, segment } = await tenant();
    const [one, two] = [await segment("one"), await segment("and two")];
    value(await commit(write("a", [one])));
    value(await commit({ kind: "overwrite", path: "a", segments: [two] }));
    const latest = value(await recordOf("a"));
    assertEquals([latest.path, latest.version, latest.size, latest.mimeType], ["a", 2, 7, "text/plain"]);
    for (const time of [latest.createdAt, latest.updatedAt]) assertEquals(new Date(time).toISOString(), time);
    assertEquals(value(await metadata.record(caller, "a", 1)).size, 3);
    assertEquals(value(await contentOf("a")), { file: latest, segments: [two] });
    assertEquals(value(await metadata.content(caller, "a", 1)).segments, [one]);
    assertEquals(refusal(await metadata.content(caller, "a", 3)), {
      code: "VERSION_NOT_FOUND",
      details: { latestVersion: 2 },
    });
    assertEquals(refusal(await contentOf("b")).code, "FILE_NOT_FOUND");
  });

  test(`${name}.commit: the content that each kind makes`, async () => {
    const { commit, contentOf, segment } = await tenant();
    const segments = async (path: string) => value(await contentOf(path)).segments;
    const [a, b, c, d] = [await segment("a"), await segment("b"), await segment("c"), await segment("d")];
    value(await commit({ ...write("f", [a]), mimeType: "text/css" }));
    assertEquals(await segments("f"), [a]);
    value(await commit({ kind: "append", path: "f", segments: [b] }));
    assertEquals(await segments("f"), [a, b]);
    const edit = {
      kind: "edit",
      path: "f",
      segments: [c],
      baseFileId: value(await contentOf("f")).file.id,
      baseVersion: 2,
      segmentIds: [a.id, c.id],
    } as const;
    value(await commit(edit));
    assertEquals(await segments("f"), [a, c]);
    assertEquals(
      refusal(await commit({ ...edit, segments: [d], segmentIds: [a.id, d.id] })).code,
      "VERSION_CONFLICT",
    );
    assertEquals(await segments("f"), [a, c], "a refused commit changes nothing");
    const overwritten = value(await commit({ kind: "overwrite", path: "f", segments: [d] })).file;
    assertEquals([overwritten.version, overwritten.mimeType], [4, "text/css"], "its type stays");
    for (const kind of ["overwrite", "append"] as const) {
      assertEquals(refusal(await commit({ kind, path: "none", segments: [] })).code, "FILE_NOT_FOUND");
    }
    assertEquals(value(await commit({ kind: "delete", path: "f" })).file.deleted, true);
    assertEquals(refusal(await contentOf("f")).code, "FILE_NOT_FOUND");
    assertEquals(value(await commit({ kind: "restore", path: "f", version: 1 })).file.mimeType, "text/css");
    assertEquals(await segments("f"), [a]);
    assertEquals(refusal(await commit({ kind: "restore", path: "f", version: 5 })).code, "VERSION_DELETED");
  });

  test(`${name}.commit: copy and move`, async () => {
    const { commit, contentOf, segment } = await tenant();
    const [a, b] = [await segment("a"), await segment("b")];
    value(await commit(write("from", [a])));
    value(await commit(write("taken", [b])));
    const copy = { kind: "copy", path: "from", destination: "taken", overwrite: false } as const;
    assertEquals(refusal(await commit(copy)).code, "FILE_ALREADY_EXISTS");
    const copied = value(await commit({ ...copy, overwrite: true })).file;
    assertEquals([copied.path, copied.version], ["taken", 2]);
    assertEquals(value(await contentOf("taken")).segments, [a]);
    const move = { kind: "move", path: "from", destination: "to", overwrite: false } as const;
    value(await commit(move));
    assertEquals(value(await contentOf("to")).segments, [a]);
    assertEquals(refusal(await contentOf("from")), {
      code: "FILE_NOT_FOUND",
      details: { deletedVersion: 2 },
    });
  });

  test(`${name}.commit makes one version of one id, and of one idempotency key, with its extra fields`, async () => {
    const { caller, commit, recordOf } = await tenant();
    const again: Commit = { ...write("a", []), commitId: crypto.randomUUID() };
    assertEquals(value(await metadata.commit(caller, again)).file.version, 1);
    assertEquals(value(await metadata.commit(caller, again)).file.version, 1);
    assertEquals(value(await recordOf("a")).version, 1);

    const idempotency = { key: "k", fingerprint: "1".repeat(64) };
    const request = { ...write("b", []), extra: { replacements: 7 }, idempotency };
    const first = value(await commit(request));
    assertEquals([first.isReplayed, "replacements" in first.file && first.file.replacements], [false, 7]);
    const replayed = value(await commit(request));
    assertEquals(replayed, { ...first, isReplayed: true, segments: replayed.segments });
    const other = { ...request, idempotency: { key: "k", fingerprint: "2".repeat(64) } };
    assertEquals(refusal(await commit(other)).code, "IDEMPOTENCY_KEY_REUSED");
    assertEquals(value(await metadata.editBase(caller, "b", idempotency)), { storedResponse: first.file });
    assertEquals(value(await metadata.editBase(caller, "b", undefined)), {
      file: value(await recordOf("b")),
      segments: [],
    });
  });

  test(`${name}.commit checks its preconditions`, async () => {
    const { commit, recordOf } = await tenant();
    const { id } = value(await commit({ ...write("a", []), ifNoneMatch: ["*"] })).file;
    assertEquals(
      refusal(await commit({ ...write("a", []), ifNoneMatch: ["*"] })).code,
      "FILE_ALREADY_EXISTS",
    );
    const next = (ifMatch: readonly string[]) => commit({ kind: "append", path: "a", segments: [], ifMatch });
    assertEquals(value(await next([`${id}.1`])).file.version, 2);
    assertEquals(refusal(await next([`${id}.1`])).code, "PRECONDITION_FAILED");
    assertEquals(value(await next([`${id}.1`, `${id}.2`])).file.version, 3);
    assertEquals(value(await next(["*"])).file.version, 4);
    assertEquals(value(await recordOf("a")).version, 4);
  });

  test(`${name}.commit reports an ambiguous answer, and makes one version all the same`, async () => {
    const { caller, commit, recordOf, segment } = await tenant();
    assertEquals((await commit(write("a", []))).isAmbiguous, false);
    const answer = await target.losingFirstAnswer().commit(caller, {
      kind: "append",
      path: "a",
      segments: [await segment("b")],
      commitId: crypto.randomUUID(),
    });
    assertEquals([answer.isAmbiguous, value(answer).file.version], [true, 2]);
    assertEquals(value(await recordOf("a")).version, 2);
  });

  test(`${name}.comparison: the latest version with the one before, or the two asked for; null is no content`, async () => {
    const { caller, commit, segment } = await tenant();
    const [a, b, c] = [await segment("a"), await segment("bb"), await segment("cc")];
    value(await commit(write("f", [a])));
    value(await commit({ kind: "append", path: "f", segments: [b] }));
    value(await commit({ kind: "append", path: "f", segments: [c] }));
    const latest = value(await metadata.comparison(caller, "f"));
    assertEquals([latest.path, latest.from, latest.to], ["f", 2, 3]);
    assertEquals([latest.before?.size, latest.after?.size], [3, 5]);
    const first = value(await metadata.comparison(caller, "f", undefined, 1));
    assertEquals([first.from, first.to, first.before, first.after?.segments], [0, 1, null, [a]]);
    const chosen = value(await metadata.comparison(caller, "f", 3, 1));
    assertEquals([chosen.from, chosen.to, chosen.before?.segments], [3, 1, [a, b, c]]);
  });

  test(`${name}.versions: newest first, a page at a time, tombstones included`, async () => {
    const { caller, commit, segment } = await tenant();
    value(await commit(write("f", [])));
    value(await commit({ kind: "append", path: "f", segments: [await segment("a")] }));
    value(await commit({ kind: "delete", path: "f" }));
    const page = value(await metadata.versions(caller, "f", 2, 0));
    assertEquals([page.file.path, page.total, page.limit, page.offset], ["f", 3, 2, 0]);
    assertEquals(page.versions.map(({ version, deleted }) => [version, deleted]), [[3, true], [
      2,
      undefined,
    ]]);
    assertEquals(value(await metadata.versions(caller, "f", 2, 2)).versions.map(({ version }) => version), [
      1,
    ]);
  });

  test(`${name}.list: live files or tombstones, of a directory, page by page`, async () => {
    const { caller, commit } = await tenant();
    for (const path of ["b", "a/1", "a/2", "gone"]) value(await commit(write(path, [])));
    value(await commit({ kind: "delete", path: "gone" }));
    const list = async (query: Partial<ListQuery>) => {
      const { files, total, hasMore } = value(await metadata.list(caller, { ...LIST, ...query }));
      return [files.map((file) => file.path), total, hasMore];
    };
    assertEquals(await list({}), [["a/1", "a/2", "b"], 3, false]);
    assertEquals(await list({ limit: 2 }), [["a/1", "a/2"], 3, true]);
    assertEquals(await list({ directory: "a", sortOrder: "desc" }), [["a/2", "a/1"], 2, false]);
    assertEquals((await list({ after: "a/2" }))[0], ["b"]);
    assertEquals((await list({ deleted: true }))[0], ["gone"]);
  });

  test(`${name}.compact replaces a run of the latest version, and nothing that can be seen of any`, async () => {
    const { caller, commit, contentOf, segment } = await tenant();
    const parts = [await segment("a"), await segment("b"), await segment("c")];
    const run = parts.slice(1).map(({ id }) => id);
    value(await commit(write("f", parts)));
    value(await commit({ kind: "append", path: "f", segments: [await segment("d")] }));
    const before = value(await contentOf("f"));
    const compacted = await segment("bc");
    assertEquals(value(await metadata.compact(caller, "f", run, [compacted])), true);
    const after = value(await contentOf("f"));
    assertEquals(after.file, before.file);
    assertEquals(after.segments, [before.segments[0], compacted, before.segments[3]]);
    assertEquals(
      value(await metadata.content(caller, "f", 1)).segments,
      parts,
      "older versions keep their lists",
    );
    assertEquals(
      value(await metadata.compact(caller, "f", run, [await segment("bc")])),
      false,
      "the run is gone",
    );
    assertEquals(value(await contentOf("f")), after);
  });

  test(`${name}.search covers the project's own files; one that is not indexed yet is pending`, async () => {
    const { caller, commit } = await tenant();
    value(await commit(write("f", [])));
    const page = value(
      await metadata.search(caller, {
        kind: "scan",
        clauses: [["x"]],
        caseSensitive: true,
        directory: "",
        files: 10,
        skip: 0,
        bytes: 1000,
      }),
    );
    assertEquals([page.files, page.next, page.pending], [[], null, 1]);
  });

  test(`${name}.administer performs an action on the key's project`, async () => {
    const { caller, projectId } = await tenant();
    const project = value(await metadata.administer(caller, "project", {}));
    assert(JSON.stringify(project).includes(projectId));
  });

  test(`${name}.nextSweep: the project furthest behind, from where the sweep of it was left`, async () => {
    const { projectId } = await target.tenant();
    const next = async () => {
      for (;;) {
        const sweep = await metadata.nextSweep();
        // Nothing was deleted.
        if (sweep === null || !("through" in sweep)) return null;
        if (sweep.projectId === projectId) return sweep;
        await metadata.noteSweep({ ...sweep, sweptThrough: sweep.through, day: null, kept: 0 });
      }
    };
    const sweep = await next();
    if (!sweep) throw new Error("the project has never been swept");
    assertEquals([sweep.sweptThrough, sweep.day, sweep.kept], [null, null, 0]);
    assert(sweep.through < new Date().toISOString().slice(0, 10), "today's uploads may still be committed");
    const progress = { projectId, sweptThrough: "2024-01-01", day: "2024-01-02", kept: 3 };
    await metadata.noteSweep(progress);
    assertEquals(await next(), { ...progress, through: sweep.through });
    await metadata.noteSweep({ projectId, sweptThrough: sweep.through, day: null, kept: 0 });
    assertEquals(await next(), null);
  });

  test(`${name}.unreferenced: the ids that no version of the project references`, async () => {
    const { commit, projectId, segment } = await tenant();
    const used = await segment("used");
    const unused = crypto.randomUUID();
    value(await commit(write("f", [used])));
    value(await commit({ kind: "delete", path: "f" }));
    assertEquals(await metadata.unreferenced(projectId, [used.id, unused]), [unused]);
    assertEquals(await metadata.unreferenced(projectId, []), []);
  });

  test(`${name}.probe resolves while the database takes a write and a read`, async () => {
    await metadata.probe();
  });

  test(`${name}: methods throw SERVICE_UNAVAILABLE when the database stays out of reach`, async () => {
    const metadata = target.unreachable();
    const caller = { keyHash: "0".repeat(64), requestId: crypto.randomUUID() };
    await rejects(() => metadata.record(caller, "a"), "SERVICE_UNAVAILABLE");
    await rejects(
      () => metadata.commit(caller, { ...write("a", []), commitId: crypto.randomUUID() }),
      "SERVICE_UNAVAILABLE",
    );
    await rejects(() => metadata.nextSweep(), "SERVICE_UNAVAILABLE");
    await rejects(() => metadata.probe(), "SERVICE_UNAVAILABLE");
  });

  /** A new tenant and what its tests repeat. Segments are described, not stored: metadata does not look. */
  async function tenant() {
    const made = await target.tenant();
    const segment = async (text: string): Promise<Segment> => {
      const id = crypto.randomUUID();
      const name = segmentName(made.projectId, new Date(), id);
      return await describeSegment(id, name, new TextEncoder().encode(text));
    };
    return { ...made, ...files(metadata, made.keyHash, null), segment };
  }
}

type Draft = Commit extends infer Kind ? Kind extends Commit ? Omit<Kind, "commitId"> : never : never;

function files(metadata: Metadata, keyHash: string, requestId: string | null) {
  const caller: Caller = { keyHash, requestId };
  return {
    caller,
    commit: (draft: Draft): Promise<Answer<Committed>> =>
      metadata.commit(caller, { ...draft, commitId: crypto.randomUUID() }),
    recordOf: (path: string) => metadata.record(caller, path),
    contentOf: (path: string) => metadata.content(caller, path),
  };
}

function write(path: string, segments: readonly Segment[]) {
  return { kind: "write", path, segments, mimeType: "text/plain" } as const;
}

function value<T>(answer: Answer<T>): T {
  if (!answer.ok) throw new Error(`refused: ${JSON.stringify(answer.refusal)}`);
  return answer.value;
}

function refusal<T>(answer: Answer<T>): Refusal {
  if (answer.ok) throw new Error(`not refused: ${JSON.stringify(answer.value)}`);
  const { segments: _, ...rest } = answer.refusal;
  return rest;
}
