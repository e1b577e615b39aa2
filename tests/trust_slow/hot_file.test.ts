/** Very many clients on one file, over HTTP, on a real Postgres, with three processes of the function. */
import { assert, assertEquals } from "@std/assert";
import { type Outcome, perform, readVersion, type Target } from "../support/client/files_client.ts";
import { assertConsistent } from "../support/postgres/consistency.ts";
import { report, rounds } from "../support/runner/long.ts";
import { byClients } from "../support/in_parallel.ts";
import { newTarget, onPostgres } from "../support/stack/on_postgres.ts";
import type { Service } from "../support/stack/service.ts";

const PROCESSES = 3;
const APPENDERS = rounds(64, 256);
const APPENDS_EACH = rounds(4, 10);
const EDITORS = rounds(16, 64);
const EDITS_EACH = rounds(4, 10);
/** Clients that append until the last of the others has finished its edits; some in each process. */
const CONSTANT_APPENDERS = rounds(2, 5) * PROCESSES;
const PATIENT_EDITORS = rounds(1, 2) * PROCESSES;
const PATH = "shared/log.txt";

const GUARANTEES: [string, (service: Service) => Promise<void>][] = [
  [`${APPENDERS} clients append to one file: none is refused`, appendsAreNotRefused],
  [`${EDITORS} clients edit lines of their own: all succeed`, editsSucceed],
  [
    "beside appends of all processes that never pause an edit succeeds or is a conflict, and nothing is lost",
    editsAmongAppends,
  ],
];

Deno.test(`one file, ${PROCESSES} function processes`, async (t) => {
  await onPostgres(PROCESSES, async (service) => {
    for (const [name, check] of GUARANTEES) {
      await t.step(name, async () => {
        await check(service);
        await assertConsistent((statement) => service.sql(statement));
      });
    }
  });
});

/** Uploads by the function's processes since the last `reset` of the proxy's records. */
function uploads(service: Service): number {
  return service.proxy.calls.filter(({ target, method }) => target === "storage" && method === "POST").length;
}

function refusals(outcomes: readonly Outcome[]): Outcome[] {
  return outcomes.filter(({ kind }) => kind !== "made");
}

async function appendsAreNotRefused(service: Service): Promise<void> {
  const target = await newTarget(service);
  await perform(target, { kind: "write", path: PATH, text: "" });
  const line = (client: number, index: number) => `client ${client} line ${index}`;
  const outcomes: Outcome[] = [];
  await byClients(APPENDERS, async (client) => {
    for (let index = 0; index < APPENDS_EACH; index++) {
      outcomes.push(await perform(target, { kind: "append", path: PATH, text: `${line(client, index)}\n` }));
    }
  });
  assertEquals(refusals(outcomes), []);
  const appends = APPENDERS * APPENDS_EACH;
  const last = (await readVersion(target, PATH, appends + 1)).trimEnd().split("\n");
  const expected = Array.from({ length: appends }, (_, n) => line(n % APPENDERS, Math.floor(n / APPENDERS)));
  assertEquals(last.sort(), expected.sort());
  const [longest] = await service.sql<{ segments: number }>(
    `select max(cardinality(v.segment_ids)) as segments from filestore.file_versions v where v.project_id = $1`,
    [target.projectId],
  );
  assert((longest?.segments ?? 0) <= 130, "128 segments, and 2 for each MiB begun");
  report("appends", { clients: APPENDERS, processes: PROCESSES, appends, longest: longest?.segments });
}

function editedLine(client: number, edits: number): string {
  return `editor ${client}: ${edits};`;
}

/** Each client increments a number on its own line, one edit after another. */
async function edit(target: Target, client: number, edits: number, outcomes: Outcome[]): Promise<void> {
  for (let index = 0; index < edits; index++) {
    const [oldString, newString] = [editedLine(client, index), editedLine(client, index + 1)];
    outcomes.push(await perform(target, { kind: "edit", path: PATH, oldString, newString }));
  }
}

async function editsSucceed(service: Service): Promise<void> {
  const target = await newTarget(service);
  const text = (edits: number) =>
    Array.from({ length: EDITORS }, (_, client) => `${editedLine(client, edits)}\n`).join("");
  await perform(target, { kind: "write", path: PATH, text: text(0) });
  service.proxy.calls = [];
  const outcomes: Outcome[] = [];
  await byClients(EDITORS, (client) => edit(target, client, EDITS_EACH, outcomes));
  const stored = uploads(service);
  report("edits", { clients: EDITORS, processes: PROCESSES, edits: outcomes.length, uploads: stored });
  assertEquals(refusals(outcomes), []);
  const edits = EDITORS * EDITS_EACH;
  assertEquals(await readVersion(target, PATH, edits + 1), text(EDITS_EACH));
}

async function editsAmongAppends(service: Service): Promise<void> {
  const target = await newTarget(service);
  const text = (edits: number) =>
    Array.from({ length: PATIENT_EDITORS }, (_, client) => `${editedLine(client, edits)}\n`).join("");
  await perform(target, { kind: "write", path: PATH, text: text(0) });
  service.proxy.calls = [];
  const edits: Outcome[] = [];
  const appends: Outcome[] = [];
  const appended: string[] = [];
  let editing = PATIENT_EDITORS;
  const appendMeanwhile = async (client: number) => {
    for (let index = 0; editing > 0; index++) {
      const line = `appender ${client} line ${index}`;
      appended.push(line);
      appends.push(await perform(target, { kind: "append", path: PATH, text: `${line}\n` }));
    }
  };
  const editOnce = async (client: number) => {
    await edit(target, client, 1, edits);
    editing--;
  };
  await Promise.all([
    byClients(CONSTANT_APPENDERS, appendMeanwhile),
    byClients(PATIENT_EDITORS, editOnce),
  ]);
  const [stored, compactions] = [uploads(service), compactionsOf(service)];
  report("edits among appends", {
    processes: PROCESSES,
    edits: edits.length,
    appends: appends.length,
    uploads: stored,
    compactions,
  });
  assertEquals(refusals(appends), []);
  // An edit that reaches its deadline has a conflict, or is waiting for the database.
  for (const outcome of refusals(edits)) {
    if (outcome.kind === "refused") assertEquals(outcome.code, "VERSION_CONFLICT");
  }
  assert(compactions > 0, "nothing was compacted under the edits");
  const [{ version } = { version: 0 }] = await service.sql<{ version: number }>(
    "select version from filestore.files where project_id = $1",
    [target.projectId],
  );
  const lines = (await readVersion(target, PATH, version)).trimEnd().split("\n");
  const edited = lines.slice(0, PATIENT_EDITORS);
  edited.forEach((line, client) => assert([0, 1].some((count) => line === editedLine(client, count)), line));
  const made = edits.filter(({ kind }) => kind === "made").length;
  const ones = edited.filter((line, client) => line === editedLine(client, 1)).length;
  const unknown = edits.filter(({ kind }) => kind === "unknown").length;
  assert(made <= ones && ones <= made + unknown, `${ones} of ${made} edits, ${unknown} without an answer`);
  assertEquals(version, 1 + ones + appends.length);
  assertEquals(lines.slice(PATIENT_EDITORS).sort(), appended.sort());
}

function compactionsOf(service: Service): number {
  return service.proxy.calls.filter(({ path }) => path.includes("filestore_compact")).length;
}
