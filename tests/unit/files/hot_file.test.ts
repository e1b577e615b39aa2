/**
 * Hundreds of clients append to one file at the same time, in simulated time. Storage and database serve requests in order
 * of arrival, so that a compaction waits for earlier requests, as on a busy real stack.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Committer, tryCommit } from "../../../supabase/functions/api/files/commit.ts";
import { segmentListMax } from "../../../supabase/functions/api/files/compact.ts";
import { storeContent } from "../../../supabase/functions/api/files/upload.ts";
import type { Answer, Refusal } from "../../../supabase/functions/api/ports/answer.ts";
import type { Commit, Committed } from "../../../supabase/functions/api/ports/commit.ts";
import type { Segment } from "../../../supabase/functions/api/ports/segments.ts";
import { createServices } from "../../../supabase/functions/api/services.ts";
import { ApiError } from "../../../supabase/functions/api/errors.ts";
import {
  BACKEND_DEADLINE_MILLISECONDS,
  COMPACTION_CHECK_EVERY_SEGMENTS,
} from "../../../supabase/functions/api/limits.ts";
import { systemClock } from "../../../supabase/functions/api/runtime/clock.ts";
import { Deadline } from "../../../supabase/functions/api/runtime/deadline.ts";
import { withFakeClock } from "../../support/fake_clock.ts";
import { segmentOf } from "../segment_of.ts";

const CLIENTS = 256;
const APPENDS_PER_CLIENT = 3;
const PATH = "log.txt";
/** Durations of one upload, and of one transaction on the file. */
const UPLOAD_MILLISECONDS = 4;
const UPLOADS_AT_ONCE = 4;
const COMMIT_MILLISECONDS = 1;
const CALLER = { keyHash: "", requestId: null };

/** Serves a bounded number of requests at a time, in order of arrival. */
class Server {
  #queue: (() => void)[] = [];
  #free: number;

  constructor(atOnce: number, readonly milliseconds: number) {
    this.#free = atOnce;
  }

  async serve<T>(work: () => T): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    await new Promise((resolve) => setTimeout(resolve, this.milliseconds));
    const next = this.#queue.shift();
    if (next) next();
    else this.#free++;
    return work();
  }
}

/** The state of the only file in the database and in Storage. */
class Backend {
  readonly objects = new Map<string, Uint8Array>();
  readonly commits: Server;
  readonly uploads = new Server(UPLOADS_AT_ONCE, UPLOAD_MILLISECONDS);
  segments: readonly Segment[] = [];
  version = 1;
  longest = 0;
  refusals = 0;
  compactions = 0;
  /** Called after each compaction. */
  onCompacted = () => {};

  constructor(commitMilliseconds = COMMIT_MILLISECONDS) {
    this.commits = new Server(1, commitMilliseconds);
  }

  /** Returns a function that creates the parts that one request to the isolate uses. */
  isolate(): () => Committer {
    const rest = { rate: null, grant: null, isAmbiguous: false };
    const value = <T>(value: T): Answer<T> => ({ ok: true, value, ...rest });
    const unused = () => {
      throw new Error("not of this test");
    };
    const segments = {
      put: (segment: Segment, bytes: Uint8Array) =>
        this.uploads.serve(() => void this.objects.set(segment.name, bytes)),
      // A read that a cache answers: this isolate or another one has just uploaded the bytes.
      get: ({ name }: Segment) => Promise.resolve(this.objects.get(name) ?? new Uint8Array()),
      remove: (names: readonly string[]) =>
        Promise.resolve(names.forEach((name) => this.objects.delete(name))),
      ...{ free: () => {}, days: unused, list: unused, probe: unused },
    };
    const commit = (commit: Commit): Answer<Committed> => {
      if (commit.kind !== "append") throw new Error("not an append");
      const list = [...this.segments, ...commit.segments];
      if (list.length > segmentListMax(bytesOf(list))) {
        this.refusals++;
        const refusal: Refusal = { code: "SEGMENT_LIST_FULL", details: {}, segments: this.segments };
        return { ok: false, refusal, ...rest };
      }
      const isDue = passesCheck(this.segments.length, list.length);
      this.segments = list;
      this.version++;
      this.longest = Math.max(this.longest, list.length);
      const file = { id: "", path: PATH, version: this.version, mimeType: "", size: bytesOf(list) };
      return value({
        file: { ...file, createdAt: "", updatedAt: "" },
        segments: isDue ? list : null,
        isReplayed: false,
      });
    };
    const compact = (run: readonly string[], compacted: readonly Segment[]): Answer<boolean> => {
      const ids = this.segments.map(({ id }) => id);
      const from = ids.indexOf(run[0] ?? "");
      if (from < 0 || ids.slice(from, from + run.length).join() !== run.join()) return value(false);
      this.segments = [
        ...this.segments.slice(0, from),
        ...compacted,
        ...this.segments.slice(from + run.length),
      ];
      this.compactions++;
      this.onCompacted();
      return value(true);
    };
    const connections = { connect: unused, connectBackground: unused };
    const parts = {
      ...connections,
      clock: systemClock,
      secretKeys: ["secret"],
      mcpAllowedOrigins: [],
      oauth: null,
      mail: null,
    };
    // deno-lint-ignore no-explicit-any -- of the service's parts those alone that an append uses
    const services = createServices({ ...parts, background: () => {}, now: Date.now } as any);
    const log = {
      backgroundFault: (_: string, error: unknown) => {
        throw error;
      },
    };
    const gate = {
      grant: {
        ...{ accountId: null, projectId: "project", keyId: null, scopes: [] },
        ...{ tier: "free", maxFileBytes: null, pathPrefix: null },
      },
      projectId: "project",
      caller: CALLER,
      observe: <T>(answer: Answer<T>) => answer,
      throwRefusal: unused,
    };
    return (deadline = new Deadline(BACKEND_DEADLINE_MILLISECONDS, systemClock)) => ({
      ...services,
      segments,
      gate,
      log,
      deadline,
      now: Date.now,
      background: () => {},
      onCommit: () => {},
      metadata: {
        commit: (_, asked) => deadline.count(() => this.commits.serve(() => commit(asked))),
        compact: (_caller, _path, run, compacted) =>
          deadline.count(() => this.commits.serve(() => compact(run, compacted))),
      },
    });
  }
}

function bytesOf(list: readonly Segment[]): number {
  return list.reduce((sum, { size }) => sum + size, 0);
}

function passesCheck(before: number, after: number): boolean {
  const checks = (segments: number) => Math.floor(segments / COMPACTION_CHECK_EVERY_SEGMENTS);
  return checks(after) > checks(before);
}

/** Runs the appends of all clients at the same time, and returns the acknowledged lines. */
async function appendAll(isolates: readonly (() => Committer)[], appends: number): Promise<string[]> {
  const lines: string[] = [];
  await Promise.all(Array.from({ length: CLIENTS }, async (_, client) => {
    const newRequest = isolates[client % isolates.length];
    if (!newRequest) throw new Error("no isolate");
    for (let index = 0; index < appends; index++) {
      const line = `client ${client} line ${index}`;
      const request = newRequest();
      const segments = await storeContent(request, [new TextEncoder().encode(`${line}\n`)]);
      const id = crypto.randomUUID();
      const result = await tryCommit(request, { kind: "append", path: PATH, commitId: id, segments });
      assert("committed" in result);
      lines.push(line);
    }
  }));
  return lines;
}

/** Adds segments until the list is full, as appends of other isolates would. */
function fill(backend: Backend): void {
  while (backend.segments.length < segmentListMax(1)) {
    const segment = segmentOf(crypto.randomUUID(), 1, { newlines: 1, endsWithNewline: true });
    backend.objects.set(segment.name, new Uint8Array([0x0a]));
    backend.segments = [...backend.segments, segment];
  }
}

function contentOf({ segments, objects }: Backend): string[] {
  const texts = segments.map(({ name }) => new TextDecoder().decode(objects.get(name)));
  return texts.join("").trimEnd().split("\n");
}

for (const isolates of [1, 3, 32]) {
  Deno.test(`${CLIENTS} clients of ${isolates} isolate(s) append to one file: none is refused, and all lines are there`, () =>
    withFakeClock(async () => {
      const backend = new Backend();
      const acknowledged = await appendAll(
        Array.from({ length: isolates }, () => backend.isolate()),
        APPENDS_PER_CLIENT,
      );
      assertEquals(acknowledged.length, CLIENTS * APPENDS_PER_CLIENT);
      assertEquals(contentOf(backend).sort(), acknowledged.sort());
      assert(backend.longest <= segmentListMax(1));
      // Within one isolate, appends wait for the running compaction and do not fill the list meanwhile.
      if (isolates === 1) assertEquals(backend.refusals, 0);
    }));
}

Deno.test("other isolates fill the segment list again after each of 20 compactions: the append makes room until there is some", () =>
  withFakeClock(async () => {
    const backend = new Backend();
    const request = backend.isolate()();
    fill(backend);
    backend.onCompacted = () => {
      if (backend.compactions < 20) fill(backend);
    };
    const segments = await storeContent(request, [new TextEncoder().encode("line\n")]);
    const append = { kind: "append", path: PATH, commitId: crypto.randomUUID(), segments } as const;
    assert("committed" in await tryCommit(request, append));
    assertEquals([backend.compactions, backend.refusals], [20, 20]);
  }));

Deno.test("other isolates fill the segment list again after every compaction: 503 once the time of a request is over, and nothing is left behind", () =>
  withFakeClock(async () => {
    const backend = new Backend(500);
    const request = backend.isolate()();
    fill(backend);
    backend.onCompacted = () => fill(backend);
    const startedAt = Date.now();
    const segments = await storeContent(request, [new TextEncoder().encode("line\n")]);
    const append = { kind: "append", path: PATH, commitId: crypto.randomUUID(), segments } as const;
    const error = await assertRejects(() => tryCommit(request, append), ApiError);
    assertEquals(error.status, 503);
    assert(Date.now() - startedAt < BACKEND_DEADLINE_MILLISECONDS + 1_000);
    assertEquals(segments.filter(({ name }) => backend.objects.has(name)), []);
  }));
