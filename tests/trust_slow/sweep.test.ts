/**
 * The sweep removes uploads of earlier days that no version names, and never one that a version names: during writes,
 * compactions, restores and refused commits, with several slices at once, on a clock that the test moves.
 */
import { assert, assertEquals } from "@std/assert";
import { createClient } from "@supabase/supabase-js";
import { fetchInTime } from "../../supabase/functions/api/adapters/backend.ts";
import { Notices } from "../../supabase/functions/api/adapters/notices.ts";
import {
  supabaseAccounts,
  supabaseMetadata,
  supabaseSearchIndex,
} from "../../supabase/functions/api/adapters/supabase_metadata.ts";
import { BUCKET, SupabaseSegments } from "../../supabase/functions/api/adapters/supabase_segments.ts";
import { buildApp } from "../../supabase/functions/api/app.ts";
import { ApiError } from "../../supabase/functions/api/errors.ts";
import { SWEEP_EVERY_COMMITS, SWEEP_PAGE_OBJECTS } from "../../supabase/functions/api/limits.ts";
import { SWEEP_KINDS } from "../../supabase/functions/api/ports/metadata.ts";
import { systemClock } from "../../supabase/functions/api/runtime/clock.ts";
import { Deadline } from "../../supabase/functions/api/runtime/deadline.ts";
import type { Log } from "../../supabase/functions/api/runtime/log.ts";
import { sweepSlice } from "../../supabase/functions/api/maintenance/sweep.ts";
import { runCommand } from "../support/stack/command.ts";
import { test } from "../support/stack/suite.ts";
import { inParallel } from "../support/in_parallel.ts";
import {
  codeOf,
  Laboratory,
  type Outcome,
  present,
  send,
  type Sending,
  type Tenant,
  text,
} from "../support/faults/laboratory.ts";
import { randomNumbers, SEED } from "../support/random.ts";
import { figures, IS_LONG } from "../support/runner/long.ts";
import { post, put } from "../support/faults/operations.ts";

const lab = await Laboratory.start();
Deno.test.afterAll(() => lab.stop());

const DAY = 24 * 60 * 60 * 1000;
const UNKNOWN_SLICES_MAX = 10;
const client = createClient(lab.stack.backendUrl, lab.stack.secretKey, {
  auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
  global: { fetch: fetchInTime },
});
const bucket = client.storage.from(BUCKET);

/** Days by which the clocks of the database's sweep and of the function are ahead. */
let daysAhead = 0;

async function moveClock(days: number): Promise<void> {
  daysAhead = days;
  await lab.stack.script(
    `create or replace function filestore.sweep_clock() returns timestamptz language sql volatile
     as $$ select clock_timestamp() + interval '${days} days' $$`,
  );
}

const defects: unknown[] = [];
const silent: Log = {
  request: () => {},
  backendFault: () => {},
  actionRequired: (problem) => void defects.push(problem),
  corruptSegment: (id) => void defects.push(`corrupt ${id}`),
  backgroundFault: (work, error) => void defects.push([work, error]),
  defect: (_id, error) => void defects.push(error),
};

/** One isolate of the function, in this process, with its own memory and its own clock. */
function isolate(clock: () => number = () => Date.now() + daysAhead * DAY) {
  const parts = (deadline = new Deadline(Infinity, systemClock)) => ({
    log: silent,
    notices: new Notices(silent, systemClock),
    deadline,
  });
  const metadata = supabaseMetadata(client, parts());
  const segments = new SupabaseSegments(() => client, parts());
  const background: Promise<unknown>[] = [];
  const sweepErasures = metadata.sweepErasures.bind(metadata);
  let slices = 0;
  metadata.sweepErasures = (kind, begun) => {
    if (kind === SWEEP_KINDS[0]) slices++;
    return sweepErasures(kind, begun);
  };
  const app = buildApp({
    connect: (deadline) => ({
      metadata,
      segments,
      accounts: supabaseAccounts(() => client, parts(deadline)),
      embedder: null,
    }),
    connectBackground: (deadline) => ({
      metadata: { ...metadata, countRequests: () => Promise.resolve() },
      segments,
      index: supabaseSearchIndex(() => client, parts(deadline)),
      embedder: null,
    }),
    log: silent,
    secretKeys: [lab.stack.secretKey],
    mcpAllowedOrigins: [],
    outboundAllowedHosts: [],
    oauth: null,
    mail: null,
    background: (work) => void background.push(work),
    now: clock,
    clock: systemClock,
  });
  return { app, metadata, segments, background, slices: () => slices };
}

type Isolate = ReturnType<typeof isolate>;

async function ask(
  { app }: Isolate,
  tenant: Tenant,
  { method, path, headers, body }: Sending,
): Promise<Outcome> {
  const request = new Request(`http://function/api${path}`, {
    method,
    headers: { "x-api-key": tenant.key, "content-type": "application/json", ...headers },
    body: body instanceof Uint8Array
      ? new Uint8Array(body)
      : body === undefined
      ? null
      : JSON.stringify(body),
  });
  const response = await app(request);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, broken: false };
}

/** Sweeps until nothing is left, with `atOnce` slices at a time. */
async function sweepAll(atOnce = 1): Promise<{ seen: number; removed: number; unknown: number }> {
  const { metadata, segments } = isolate();
  const total = { seen: 0, removed: 0, unknown: 0 };
  const one = async () => {
    for (;;) {
      try {
        const { seen, removed, isDone } = await sweepSlice(metadata, segments);
        total.seen += seen;
        total.removed += removed;
        if (isDone) return;
      } catch (error) {
        // On a busy machine Storage is too slow for a slice, and the number that it removed is unknown; the next slice
        // continues.
        const isTooSlow = error instanceof ApiError && error.code === "SERVICE_UNAVAILABLE";
        if (!isTooSlow || ++total.unknown > UNKNOWN_SLICES_MAX) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return total;
}

function dayName(days: number): string {
  return new Date(Date.now() + days * DAY).toISOString().slice(0, 10).replaceAll("-", "");
}

/** Uploads of that day that no version names. */
async function orphans(tenant: Tenant, day: string, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, () => `${tenant.id}/${day}/${crypto.randomUUID()}`);
  await inParallel(names, 8, async (name) => {
    const { error } = await bucket.upload(name, new Uint8Array(16), {
      contentType: "application/octet-stream",
    });
    assertEquals(error, null);
  });
  return names;
}

async function storedNames(tenant: Tenant): Promise<string[]> {
  return [...(await lab.objects(tenant)).stored];
}

test("uploads of days gone by are removed and those of late are not; what is named and what is foreign stays", async () => {
  await moveClock(0);
  const tenant = await lab.tenant();
  await lab.prepare(tenant, post("a.txt", "named\n"));
  const old = await orphans(tenant, dayName(-5), 3);
  const older = await orphans(tenant, dayName(-40), 2);
  // A commit of yesterday's uploads may still be under way.
  const late = [...await orphans(tenant, dayName(-1), 2), ...await orphans(tenant, dayName(0), 2)];
  const foreign = [
    `${tenant.id}/${dayName(-5)}/not-a-segment.txt`,
    `${tenant.id}/notes/x.txt`,
    "elsewhere/20200101/x",
  ];
  for (const name of foreign) assertEquals((await bucket.upload(name, new Uint8Array(3))).error, null);

  await sweepAll();
  const left = await storedNames(tenant);
  for (const name of [...old, ...older]) assert(!left.includes(name), `${name} is still there`);
  for (const name of [...late, ...foreign.slice(0, 2)]) assert(left.includes(name), `${name} is gone`);
  assertEquals((await bucket.download("elsewhere/20200101/x")).error, null);
  await lab.state(tenant);
  assertEquals(await sweepAll(), { seen: 0, removed: 0, unknown: 0 }, "nothing is left to do");

  // Once their day is over, the late uploads are removed; the named one of the same day stays.
  await moveClock(3);
  await sweepAll(3);
  const leftLater = await storedNames(tenant);
  for (const name of late) assert(!leftLater.includes(name), `${name} is still there`);
  assertEquals((await lab.objects(tenant)).unreferenced.length, 2, "the foreign ones alone");
  await lab.state(tenant);
});

test("a day of more objects than a slice, named and unreferenced mixed, is swept to its end, by several slices at once too", async () => {
  await moveClock(0);
  for (const slices of IS_LONG ? [1, 4] : [4]) {
    const tenant = await lab.tenant();
    const day = dayName(-3);
    // Rows only, as Storage keeps them, since the sweep reads no bytes.
    const count = 2 * SWEEP_PAGE_OBJECTS + 300;
    await lab.stack.exec(
      `with ids as (select gen_random_uuid() as id, n from generate_series(1, $3::integer) n),
            named as (
              insert into filestore.segments (id, project_id, stored_on, size, sha256, newlines, ends_with_newline, is_text)
              select id, $1::uuid, to_date($2, 'YYYYMMDD'), 1, sha256('x'), 0, false, true from ids where n % 2 = 0)
       insert into storage.objects (bucket_id, name, metadata)
       select '${BUCKET}', $1 || '/' || $2 || '/' || id, '{"size": 1, "mimetype": "application/octet-stream"}'::jsonb from ids`,
      [tenant.id, day, count],
    );
    const { removed, unknown } = await sweepAll(slices);
    const { stored, unreferenced } = await lab.objects(tenant);
    assertEquals([stored.length, unreferenced.length], [count / 2, 0], `${slices} at once`);
    assert(unknown > 0 || removed >= count / 2);
    figures(`${count} objects in a day, ${slices} slices at once: ${count / 2} removed, ${count / 2} kept`);
  }
});

test("dead segments: the object goes, then the row; each step can be cut off and repeated, by several slices at once too", async () => {
  await moveClock(0);
  const tenant = await lab.tenant();
  for (let n = 0; n < 3; n++) await lab.prepare(tenant, post(`dead-${n}.txt`, `secret ${n}\n`));
  await lab.prepare(tenant, post("live.txt", "needed\n"));
  const dead = await lab.stack.exec<{ id: string }>(
    `insert into filestore.dead_segments (segment_id, project_id, stored_on)
     select s.id, s.project_id, s.stored_on from filestore.segments s join filestore.files f
       on f.project_id = s.project_id and f.segment_ids @> array[s.id]
     where s.project_id = $1 and f.path like 'dead-%' returning segment_id as id`,
    [tenant.id],
  );
  const rows = () =>
    lab.stack.exec<{ id: string; is_blank: boolean }>(
      "select id, sha256 = decode(repeat('00', 32), 'hex') as is_blank from filestore.segments where project_id = $1",
      [tenant.id],
    );
  // Interrupted after the object and before its row: the next slice removes an object that is already missing.
  const { metadata, segments } = isolate();
  const [first] = await metadata.deadSegments(1);
  await segments.remove([present(first).name]);
  assertEquals((await sweepAll(3)).removed >= 2, true);
  assertEquals((await storedNames(tenant)).length, 1, "the one that is needed");
  // The ids stay reserved while an upload of that day may still be committed, but without any trace of the content.
  const kept = await rows();
  assertEquals([kept.length, kept.filter((row) => row.is_blank).length], [4, dead.length]);
  assertEquals((await sweepAll()).removed, 0, "nothing is left to do");
  await moveClock(3);
  await sweepAll();
  assertEquals((await rows()).length, 1);
  assertEquals(
    await lab.stack.exec("select from filestore.dead_segments where project_id = $1", [tenant.id]),
    [],
  );
  const read = await ask(isolate(), tenant, { method: "GET", path: "/files/live.txt" });
  assertEquals(read.status, 200);
});

/** A random request of a client. Returns whether it succeeded. */
async function someRequest(one: Isolate, tenant: Tenant, random: () => number): Promise<boolean> {
  const path = `file-${Math.floor(random() * 4)}.txt`;
  const line = `${"x".repeat(Math.floor(random() * 40))}\n`;
  const choices: Sending[] = [
    post(path, line),
    put("append", path, { content: line }),
    put("append", path, { content: line }),
    put("append", path, { content: line }),
    put("overwrite", path, { content: line }),
    put("edit", path, { oldString: "x\n", newString: "y\n", replaceAll: true }),
    put("restore", path, { version: 1 + Math.floor(random() * 5) }),
    put("copy", path, { destination: `copy-${path}`, overwrite: true }),
    put("move", `copy-${path}`, { destination: path, overwrite: true }),
    { method: "DELETE", path: `/files/${path}` },
    { ...post(path, line), headers: { "if-none-match": "*" } },
    { ...put("append", path, { content: line }), headers: { "if-match": '"no.1.j"' } },
    { ...post(path, line), headers: { "idempotency-key": `key-${Math.floor(random() * 3)}` } },
    { method: "POST", path: `/files?path=${path}`, body: new Uint8Array(100).fill(0xfe) },
    { method: "GET", path: `/files/${path}` },
  ];
  const outcome = await ask(one, tenant, present(choices[Math.floor(random() * choices.length)]));
  assert(outcome.status < 500 && outcome.status !== 401, `${outcome.status}: ${text(outcome)}`);
  return outcome.status < 300;
}

test("no named segment ever goes: sweeps beside writes, compactions, restores and refusals while the days pass", async () => {
  await moveClock(0);
  const days = IS_LONG ? 40 : 4;
  const numbers = randomNumbers(SEED);
  const random = () => numbers() / 2 ** 32;
  const tenants = [await lab.tenant(), await lab.tenant()];
  let [requests, successes, planted, removed] = [0, 0, 0, 0];
  for (let day = 0; day < days; day++) {
    // On some days no sweep runs, and at times the clock jumps.
    await moveClock(daysAhead + (random() < 0.2 ? 4 : 1));
    const isolates = [isolate(), isolate()];
    const sweeping = random() < 0.8;
    for (const tenant of tenants) planted += (await orphans(tenant, dayName(daysAhead), 2)).length;
    await Promise.all([
      ...tenants.flatMap((tenant) =>
        isolates.map(async (one) => {
          for (let n = 0; n < 30; n++) {
            requests++;
            if (await someRequest(one, tenant, random)) successes++;
          }
        })
      ),
      ...Array.from({ length: sweeping ? 3 : 0 }, async () => {
        const { metadata, segments } = isolate();
        for (let slice = 0; slice < 4; slice++) removed += (await sweepSlice(metadata, segments)).removed;
      }),
      // The clock advances meanwhile, for instance past midnight during a request.
      (async () => {
        if (random() < 0.5) await moveClock(daysAhead + 1);
      })(),
    ]);
    for (const tenant of tenants) await lab.state(tenant);
  }
  await moveClock(daysAhead + 3);
  removed += (await sweepAll(2)).removed;
  let named = 0;
  for (const tenant of tenants) {
    await lab.state(tenant);
    const { stored, unreferenced } = await lab.objects(tenant);
    assertEquals(unreferenced, [], "all that nothing names is gone");
    named += stored.length;
  }
  assertEquals(defects, []);
  assert(removed > 0 && successes > requests / 3);
  figures(
    `${days} days, seed ${SEED}: ${requests} requests (${successes} made something), ${planted} uploads left behind on purpose, ` +
      `${removed} removed, ${named} named ones all there`,
  );
});

test("a commit of segments older than what the sweep leaves alone is refused, and names nothing", async () => {
  await moveClock(0);
  const tenant = await lab.tenant();
  // An isolate whose clock is days behind, or a request that took days.
  const late = isolate(() => Date.now() - 3 * DAY);
  const outcome = await ask(late, tenant, post("late.txt", "too late"));
  assert(outcome.status >= 500, text(outcome));
  codeOf(outcome);
  defects.length = 0;
  assertEquals(
    (await lab.stack.exec("select from filestore.segments where project_id = $1", [tenant.id])).length,
    0,
  );
  assertEquals(
    (await lab.stack.exec("select from filestore.files where project_id = $1", [tenant.id])).length,
    0,
  );
  // Yesterday's segments are accepted, since a request may run past midnight.
  const slow = isolate(() => Date.now() - DAY);
  assertEquals((await ask(slow, tenant, post("slow.txt", "in time"))).status, 200);
  await sweepAll();
  await lab.state(tenant);
  assertEquals((await lab.objects(tenant)).unreferenced, [], "what the refused one had uploaded is gone");
});

test("POST /sweep takes the project's secret key and no other", async () => {
  await moveClock(0);
  const tenant = await lab.tenant();
  const [orphan = ""] = await orphans(tenant, dayName(-9), 1);
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const others: Record<string, Record<string, string>> = {
    "no key": {},
    "an API key": { "x-api-key": tenant.key },
    "an API key as bearer": bearer(tenant.key),
    "the publishable key": { apikey: lab.stack.publishableKey, ...bearer(lab.stack.publishableKey) },
    "the anonymous key": bearer(lab.secrets.anonKey),
    "a piece of the secret key": bearer(lab.stack.secretKey.slice(0, -1)),
    "the secret key as x-api-key": { "x-api-key": lab.stack.secretKey },
    "nothing": bearer(""),
  };
  for (const [name, headers] of Object.entries(others)) {
    const outcome = await send(lab.stack.baseUrl, null, { method: "POST", path: "/sweep", headers });
    assertEquals([outcome.status, codeOf(outcome)], [401, "INVALID_API_KEY"], name);
  }
  for (const method of ["GET", "PUT", "DELETE"]) {
    const outcome = await send(lab.stack.baseUrl, null, {
      method,
      path: "/sweep",
      headers: bearer(lab.stack.secretKey),
    });
    assertEquals(outcome.status, 405, method);
  }
  assert((await storedNames(tenant)).includes(orphan), "nothing was swept for them");
  for (
    const headers of [
      bearer(lab.stack.secretKey),
      { apikey: lab.stack.secretKey },
      bearer(lab.secrets.serviceRoleKey),
    ]
  ) {
    const outcome = await send(lab.stack.baseUrl, null, { method: "POST", path: "/sweep", headers });
    assertEquals(outcome.status, 200, text(outcome));
  }
});

test("deno task sweep sweeps slice by slice until nothing is left, and says how much", async () => {
  await moveClock(0);
  const tenant = await lab.tenant();
  await orphans(tenant, dayName(-9), 3);
  await orphans(tenant, dayName(-8), 2);
  const connection = ["--url", lab.stack.supabaseUrl, "--secret-key", lab.stack.secretKey];
  const first = await runCommand("sweep.ts", ...connection, "--json");
  assertEquals(first.code, 0, first.stderr);
  assert(JSON.parse(first.stdout).removed >= 5, first.stdout);
  assertEquals(await storedNames(tenant), []);
  const second = await runCommand("sweep.ts", ...connection);
  assertEquals([second.code, second.stdout.trim()], [0, "Removed 0 of 0 objects."], second.stderr);
  const wrong = await runCommand(
    "sweep.ts",
    "--url",
    lab.stack.supabaseUrl,
    "--secret-key",
    "sb_secret_wrong",
  );
  assertEquals([wrong.code === 0, wrong.stdout], [false, ""]);
});

test(`after every ${SWEEP_EVERY_COMMITS} commits one slice runs in the background, and its failure hurts nobody`, async () => {
  await moveClock(0);
  await sweepAll();
  const tenant = await lab.tenant();
  const one = isolate();
  assertEquals((await ask(one, tenant, post("a.txt", "x"))).status, 200);
  const [orphan = ""] = await orphans(tenant, dayName(-9), 1);
  const restores = Array.from({ length: SWEEP_EVERY_COMMITS - 2 }, (_, index) => index);
  await inParallel(restores, 4, async () => {
    assertEquals((await ask(one, tenant, put("restore", "a.txt", { version: 1 }))).status, 200);
  });
  assertEquals(one.slices(), 0, "one commit too early");
  assertEquals((await ask(one, tenant, put("restore", "a.txt", { version: 99999 }))).status, 404);
  assertEquals(one.slices(), 0, "a refused commit does not count");
  assertEquals((await ask(one, tenant, put("restore", "a.txt", { version: 1 }))).status, 200);
  assertEquals(one.slices(), 1);
  await Promise.all(one.background);
  assertEquals(defects, []);
  assert(!(await storedNames(tenant)).includes(orphan), "the slice removed nothing");
});
