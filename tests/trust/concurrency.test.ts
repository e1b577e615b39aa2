/** Many clients at once, over HTTP, on a real Postgres, with two processes of the function that alternate. */
import { assert, assertEquals } from "@std/assert";
import postgres from "postgres";
import { assertConsistent } from "../support/postgres/consistency.ts";
import { eventually } from "../support/eventually.ts";
import type { PostgresServer } from "../support/postgres/postgres.ts";
import { newTarget, onPostgres } from "../support/stack/on_postgres.ts";
import type { Service } from "../support/stack/service.ts";
import { byClients, inParallel } from "../support/in_parallel.ts";
import {
  type Outcome,
  perform,
  readHistory,
  readVersion,
  type Target,
} from "../support/client/files_client.ts";
import { contradictions, type Entry, type Operation } from "../support/faults/ledger.ts";
import { IS_BRIEF, IS_LONG, report, rounds } from "../support/runner/long.ts";
import { randomFrom, SEED } from "../support/random.ts";

const CLIENTS = 64;
const APPENDS_PER_CLIENT = IS_BRIEF ? 3 : rounds(8, 20);
/** The number of writers of each kind. */
const WRITERS = IS_BRIEF ? 4 : rounds(10, 20);
const PATH = "shared/log.txt";

interface World {
  readonly server: PostgresServer;
  readonly service: Service;
}

const GUARANTEES: [string, (world: World) => Promise<void>][] = [
  ["appends of 64 clients to one file are all kept, each version a prefix of the next", appendsAreAllKept],
  [
    "each version of a file that many write, overwrite and edit is what one request made",
    versionsAreExplained,
  ],
  ["no edit is lost among edits and appends of one file", editsAreAllKept],
  ["64 clients that create one path make one file of 64 versions", onePathOneFile],
  ["no pair of operations on two files in opposite order deadlocks", pairsNeverDeadlock],
  ["a file that is locked does not hold up another project", hotFileIsAlone],
];

Deno.test("concurrent clients over HTTP", async (t) => {
  await onPostgres(2, async (service, server) => {
    for (const [name, check] of GUARANTEES) {
      await t.step(name, async () => {
        try {
          await check({ server, service });
        } catch (error) {
          const defects = service.log.filter((line) => line.includes('"defect"'));
          throw defects.length === 0 ? error : new Error(defects.at(-1), { cause: error });
        }
      });
    }
    await t.step("all is consistent then", () => assertConsistent((statement) => service.sql(statement)));
  });
});

/** The number of the new version. Throws for any other outcome. */
function versionOf(outcome: Outcome): number {
  if (outcome.kind !== "made") throw new Error(`not made: ${JSON.stringify(outcome)}`);
  return outcome.version;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

async function appendsAreAllKept({ service }: World): Promise<void> {
  const target = await newTarget(service);
  const started = performance.now();
  const lines = new Map<number, string>();
  const add = async (operation: Operation & { readonly text: string }) => {
    const version = versionOf(await perform(target, operation));
    assert(!lines.has(version), `version ${version} was acknowledged twice`);
    lines.set(version, operation.text);
  };
  await add({ kind: "write", path: PATH, text: "the first line\n" });
  await byClients(CLIENTS, async (client) => {
    for (let i = 0; i < APPENDS_PER_CLIENT; i++) {
      await add({ kind: "append", path: PATH, text: `client ${client} line ${i}\n` });
    }
  });
  const seconds = (performance.now() - started) / 1000;
  const appends = CLIENTS * APPENDS_PER_CLIENT;
  assertEquals([...lines.keys()].sort((a, b) => a - b), range(1, appends + 1));
  // The expected content of version n: the lines in the order of the versions in the answers.
  const contents = range(1, appends + 1).map(() => "");
  let content = "";
  for (let version = 1; version <= appends + 1; version++) {
    contents[version - 1] = content += lines.get(version) ?? "";
  }
  const versions = await service.sql<{ version: number; size: number; segments: number }>(
    `select v.version, v.size::integer, cardinality(v.segment_ids) as segments from filestore.file_versions v
     join filestore.files f on f.id = v.file_id where f.project_id = $1 and f.path = $2 order by v.version`,
    [target.projectId, PATH],
  );
  assertEquals(versions.map(({ size }) => size), contents.map((text) => text.length));
  const compactions =
    versions.filter(({ segments }, i) => segments <= (versions[i - 1]?.segments ?? 0)).length;
  assert(compactions > 0, "no compaction happened");
  const read = range(1, appends + 1).filter((n) => IS_LONG || n <= 20 || n > appends - 5 || n % 40 === 0);
  await inParallel(read, 8, async (version) => {
    assertEquals(await readVersion(target, PATH, version), contents[version - 1]);
  });
  report("appends", {
    clients: CLIENTS,
    appends,
    compactions,
    read: read.length,
    seconds: seconds.toFixed(1),
  });
}

/** Sends the operation until it is no longer refused for a conflict, and records it unless it is refused otherwise. */
async function performAndNote(target: Target, operation: Operation, entries: Entry[]): Promise<Outcome> {
  for (;;) {
    const outcome = await perform(target, operation);
    if (outcome.kind === "refused" && outcome.code === "VERSION_CONFLICT") continue;
    assert(outcome.kind !== "unknown", `${operation.kind} was answered ${JSON.stringify(outcome)}`);
    if (outcome.kind === "made") entries.push({ operation, version: outcome.version });
    return outcome;
  }
}

async function versionsAreExplained({ service }: World): Promise<void> {
  const target = await newTarget(service);
  const entries: Entry[] = [];
  const base = (name: string) => `${name}\nedit me\n`;
  await performAndNote(target, { kind: "write", path: PATH, text: base("first") }, entries);
  const refused: string[] = [];
  await byClients(WRITERS, async (client) => {
    for (let i = 0; i < rounds(3, 60); i++) {
      const name = `client ${client} round ${i}`;
      const operations: Operation[] = [
        { kind: "write", path: PATH, text: base(name) },
        { kind: "overwrite", path: PATH, text: base(name) },
        { kind: "append", path: PATH, text: `${name}\n` },
        { kind: "edit", path: PATH, oldString: "edit me\n", newString: `edit me\n${name}\n` },
        { kind: "edit", path: PATH, oldString: "edit me\n", newString: `edit me\n${name}\n` },
      ];
      const operation = operations[client % operations.length] ?? operations[0];
      if (!operation) throw new Error("no operation");
      const outcome = await performAndNote(target, operation, entries);
      if (outcome.kind === "refused") refused.push(outcome.code);
    }
  });
  const history = await readHistory(target, PATH);
  assertEquals(refused, []);
  assertEquals(history.length, entries.length);
  assertEquals(contradictions(entries, new Map([[PATH, history]])), []);
  report("writers, overwriters, appenders, editors", { clients: WRITERS, versions: history.length });
}

async function editsAreAllKept({ service }: World): Promise<void> {
  const target = await newTarget(service);
  const entries: Entry[] = [];
  const editors = 10;
  const edits = rounds(4, 40);
  const text = range(0, editors - 1).map((editor) => `editor ${editor}: 0;\n`).join("");
  await performAndNote(target, { kind: "write", path: PATH, text }, entries);
  const started = performance.now();
  await byClients(editors + 4, async (client) => {
    for (let i = 0; i < edits; i++) {
      const outcome = await performAndNote(
        target,
        client >= editors ? { kind: "append", path: PATH, text: `appender ${client} line ${i}\n` } : {
          kind: "edit",
          path: PATH,
          oldString: `editor ${client}: ${i};`,
          newString: `editor ${client}: ${i + 1};`,
        },
        entries,
      );
      assertEquals(outcome.kind, "made");
    }
  });
  const history = await readHistory(target, PATH);
  const last = (history.at(-1) ?? "").split("\n").filter((line) => line !== "");
  const expected = [
    ...range(0, editors - 1).map((editor) => `editor ${editor}: ${edits};`),
    ...range(editors, editors + 3).flatMap((client) =>
      range(0, edits - 1).map((i) => `appender ${client} line ${i}`)
    ),
  ];
  assertEquals(last.sort(), expected.sort());
  assertEquals(contradictions(entries, new Map([[PATH, history]])), []);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  report("edits", { editors, appenders: 4, versions: history.length, seconds });
}

async function onePathOneFile({ service }: World): Promise<void> {
  const target = await newTarget(service);
  const entries: Entry[] = [];
  await byClients(
    CLIENTS,
    (client) =>
      performAndNote(target, { kind: "write", path: "new/one.md", text: `client ${client}` }, entries),
  );
  assertEquals(
    entries.map(({ version }) => version ?? 0).sort((a, b) => a - b),
    range(1, CLIENTS),
  );
  const history = await readHistory(target, "new/one.md");
  assertEquals(contradictions(entries, new Map([["new/one.md", history]])), []);
  const files = await service.sql("select from filestore.files where project_id = $1", [target.projectId]);
  assertEquals(files.length, 1);
}

async function pairsNeverDeadlock({ service }: World): Promise<void> {
  const target = await newTarget(service);
  const entries: Entry[] = [];
  const kinds = ["write", "overwrite", "append", "edit", "delete", "restore", "copy", "move"] as const;
  const random = randomFrom(SEED);
  const deadlocksBefore = await deadlocks(service);
  let requests = 0;
  let number = 0;
  /** One client: runs a two-file operation from `from` to `to`, or a single-file operation on both in this order. */
  const go = async (kind: (typeof kinds)[number], from: string, to: string, base: string) => {
    const operationAt = (path: string): Operation => {
      if (kind === "copy" || kind === "move") return { kind, path, destination: path === from ? to : from };
      if (kind === "delete") return { kind, path };
      if (kind === "restore") return { kind, path, version: 1 };
      if (kind === "edit") return { kind, path, oldString: base, newString: `edited ${++number};` };
      return { kind, path, text: `${kind} ${++number};` };
    };
    for (const path of kind === "copy" || kind === "move" ? [from] : [from, to]) {
      requests++;
      await performAndNote(target, operationAt(path), entries);
    }
  };
  const paths: string[] = [];
  for (const [index, kind] of kinds.entries()) {
    for (const other of kinds.slice(index)) {
      // One pair of new files, created at the same time, and one pair of existing files.
      const [a, b] = [`${kind}/${other}/a.txt`, `${kind}/${other}/b.txt`];
      paths.push(a, b);
      for (let round = 0; round < rounds(1, 20); round++) {
        const base = `base ${++number};`;
        if (round > 0 || random.below(2) === 0) {
          await performAndNote(target, { kind: "write", path: a, text: base }, entries);
        }
        if (round > 0 || random.below(2) === 0) {
          await performAndNote(target, { kind: "write", path: b, text: base }, entries);
        }
        await Promise.all([0, 1].flatMap(() => [go(kind, a, b, base), go(other, b, a, base)]));
      }
    }
  }
  const histories = new Map<string, (string | null)[]>();
  const known = new Set(
    (await service.sql<{ path: string }>("select path from filestore.files where project_id = $1", [
      target.projectId,
    ])).map(({ path }) => path),
  );
  for (const path of paths.filter((path) => known.has(path))) {
    histories.set(path, await readHistory(target, path));
  }
  assertEquals(contradictions(entries, histories), []);
  assertEquals(await deadlocks(service) - deadlocksBefore, 0);
  report("pairs of operations", { requests, versions: entries.length, seed: SEED });
}

/** Includes deadlocks that a retry has resolved. */
async function deadlocks(service: Service): Promise<number> {
  await service.sql("select pg_stat_force_next_flush()");
  const [row] = await service.sql<{ deadlocks: number }>(
    "select deadlocks::integer from pg_stat_database where datname = current_database()",
  );
  return row?.deadlocks ?? 0;
}

async function hotFileIsAlone({ server, service }: World): Promise<void> {
  const hot = await newTarget(service);
  const other = await newTarget(service);
  await perform(hot, { kind: "write", path: PATH, text: "hot\n" });
  await perform(other, { kind: "write", path: PATH, text: "cool\n" });
  const holder = postgres(server.url, { max: 1 });
  const durations: number[] = [];
  const outcomes: Outcome[] = [];
  let isHeld = true;
  let waiting: Promise<unknown> | undefined;
  try {
    await holder.begin(async (transaction) => {
      await transaction`select from filestore.files where project_id = ${hot.projectId} for update`;
      // While the lock is held, requests wait for it: a client that is refused for waiting too long sends another one.
      waiting = byClients(6, async (client) => {
        do outcomes.push(await perform(hot, { kind: "append", path: PATH, text: `${client}\n` })); while (
          isHeld
        );
      });
      for (let i = 0; i < 10; i++) {
        await someoneIsBlocked(service);
        const started = performance.now();
        versionOf(await perform(other, { kind: "append", path: PATH, text: `${i}\n` }));
        await readVersion(other, PATH, i + 2);
        durations.push(performance.now() - started);
      }
    });
  } finally {
    isHeld = false;
    await holder.end();
  }
  // A client that waited too long was refused, and its request changed nothing.
  await waiting;
  const made = outcomes.filter(({ kind }) => kind === "made").map(versionOf);
  assertEquals(made.sort((a, b) => a - b), range(2, made.length + 1));
  assertEquals((await readHistory(hot, PATH)).length, made.length + 1);
  report("beside a locked file", {
    requests: 20,
    slowestMilliseconds: Math.round(Math.max(...durations)),
    waited: `${made.length} of ${outcomes.length} to the end`,
  });
}

/** Waits until a transaction is waiting for a lock. */
function someoneIsBlocked(service: Service): Promise<void> {
  return eventually(
    "somebody waits for the lock",
    async () => (await service.sql("select from pg_stat_activity where wait_event_type = 'Lock'")).length > 0,
  );
}
