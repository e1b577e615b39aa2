/**
 * An upgrade while agents work: the function of the release before, then both, then this one, while the Supabase CLI pushes
 * the migrations before or after that. No acknowledged write is lost, none is done twice, and whatever is not answered
 * is a 503 that says when to try again.
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { MIGRATIONS_DIRECTORY } from "../../supabase/local/repository.ts";
import { signInWith } from "../support/client/accounts.ts";
import { perform, readHistories, type Target } from "../support/client/files_client.ts";
import { contradictions } from "../support/faults/ledger.ts";
import { Load } from "../support/faults/load.ts";
import { assertConsistent } from "../support/postgres/consistency.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { withConnection } from "../support/postgres/postgres_hosted.ts";
import { run, SUPABASE_CLI } from "../support/program.ts";
import { type Random, randomFrom, SEED } from "../support/random.ts";
import { missing } from "../support/releases/migration.ts";
import { openRelease, type Release, RELEASES } from "../support/releases/release.ts";
import { report, rounds } from "../support/runner/long.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { REPOSITORY } from "../support/stack/command.ts";
import { type Service, startService } from "../support/stack/service.ts";
import { type BareFunction, startBareFunction } from "../support/stack/test_stack.ts";

const WRITERS = 16;
/** Requests of the writers in each stage. */
const REQUESTS = rounds(200, 5_000);
const STAGE_TIMEOUT_MILLISECONDS = 120_000;

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** Writers whose requests reach any of the functions that are deployed at the time. */
class Rollout implements Target {
  readonly key: string;
  /** Base addresses. */
  deployed: readonly string[];

  constructor(private readonly random: Random, key: string, old: string) {
    this.key = key;
    this.deployed = [old];
  }

  get baseUrl(): string {
    return this.random.pick(this.deployed);
  }
}

/** Waits until the writers have had as many more requests answered, in whatever way. Returns how many were not served. */
async function stage({ figures, failures }: Load): Promise<number> {
  const before = { ...figures };
  const deadline = performance.now() + STAGE_TIMEOUT_MILLISECONDS;
  const done = () =>
    figures.made + figures.refused + figures.unknown - before.made - before.refused - before.unknown;
  while (done() < REQUESTS && failures.length === 0) {
    assert(performance.now() < deadline, "the writers do not go on");
    await pause(5);
  }
  return figures.unknown - before.unknown;
}

/** What the console reads of the person's project. */
const READS = [
  ...[
    "/files",
    "/changes",
    "/runs",
    "/branches",
    "/links",
    "/search?q=plan",
    "/account",
    "/projects",
    "/project",
  ],
  ...["/project/activity", "/project/usage", "/project/members", "/project/webhooks", "/project/apikeys"],
];

/** Writes again and again, and reads in between. Returns the longest time in milliseconds without an acknowledged write. */
function probe(target: Target, person: HeadersInit): () => Promise<number> {
  let isOver = false;
  const probing = (async () => {
    let [longest, last] = [0, performance.now()];
    for (let number = 0; !isOver; number++) {
      const { kind } = await perform(target, { kind: "write", path: "probe/a.txt", text: `${number}\n` });
      const now = performance.now();
      longest = Math.max(longest, now - last);
      if (kind === "made") last = now;
      else await pause(20);
      const path = READS[number % READS.length] ?? "";
      const answer = await fetch(target.baseUrl + path, { headers: person });
      const shown = `${path}: ${answer.status} ${await answer.text()}`;
      assert(answer.status === 200 || (answer.status === 503 && answer.headers.has("retry-after")), shown);
    }
    return Math.round(longest);
  })();
  probing.catch(() => {/* awaited below */});
  return () => {
    isOver = true;
    return probing;
  };
}

type Order = "push, then deploy" | "deploy, then push";

async function rollOut(
  order: Order,
  { service, next, person, push }: {
    readonly service: Service;
    readonly next: BareFunction;
    readonly person: HeadersInit;
    readonly push: () => Promise<void>;
  },
) {
  const random = randomFrom(SEED);
  const { key } = await service.project("enterprise");
  const target = new Rollout(random, key, service.baseUrl);
  const load = await Load.start(target, random, WRITERS);
  const stopProbing = probe(target, person);
  const unserved: Record<string, number> = {};
  const during = async (name: string, step: () => Promise<void> | void) => {
    [unserved[name]] = await Promise.all([stage(load), step()]);
  };
  const steps = {
    push: () => during("push", push),
    deploy: async () => {
      await during("both functions", () => void (target.deployed = [service.baseUrl, next.baseUrl]));
      await during("the new function", () => void (target.deployed = [next.baseUrl]));
    },
  };
  await during("before", () => {});
  const { push: first, deploy: second } = steps;
  for (const step of order === "push, then deploy" ? [first, second] : [second, first]) await step();
  await during("after", () => {});
  const longestPauseMilliseconds = await stopProbing();
  await load.stop();
  const histories = await readHistories(target, (path) => path.startsWith("probe/"));
  assertEquals(contradictions(load.entries, histories), []);
  await assertConsistent((statement) => service.sql(statement));
  report(`upgrade while it runs: ${order}`, {
    seed: SEED,
    ...load.figures,
    unserved,
    longestPauseMilliseconds,
  });
  return unserved;
}

/** A folder with the migrations of the release alone. */
async function migrationsOf(databaseUrl: string, folder: string): Promise<string> {
  const later = await withConnection(databaseUrl, missing);
  assert(later.length > 0, "there is nothing to upgrade");
  const names = new Set(later.map(({ file }) => file));
  await Deno.mkdir(folder);
  for await (const { name } of Deno.readDir(MIGRATIONS_DIRECTORY)) {
    if (!names.has(name)) await Deno.copyFile(join(MIGRATIONS_DIRECTORY, name), join(folder, name));
  }
  return folder;
}

/** The CLI acts as `postgres`, who owns the schema of a hosted project. */
async function push(databaseUrl: string): Promise<void> {
  const remote = `--remote=${databaseUrl}?sslmode=disable`;
  await run("npx", ["-y", SUPABASE_CLI, "db", "push", "--yes", "--workdir", REPOSITORY, remote]);
}

async function upgrade(order: Order, release: Release, folder: string, databaseUrl: string): Promise<void> {
  const dataDir = join(folder, "data");
  await release.restoreData(dataDir, databaseUrl);
  await run("psql", ["-qX", "-c", "create role postgres superuser", databaseUrl]);
  const service = await startService({
    dataDir,
    databaseUrl,
    functionProcesses: 2,
    functionEntry: release.functionEntry,
    migrationsDirectory: await migrationsOf(databaseUrl, join(folder, "migrations")),
  });
  try {
    const next = await startBareFunction(service, service.proxy.url);
    try {
      const unserved = await rollOut(order, {
        service,
        next,
        person: (await signInWith(service, release.manifest.person)).about(release.manifest.person.projectId)
          .headers,
        push: () => push(databaseUrl),
      });
      if (order === "push, then deploy") {
        assertEquals(
          Object.values(unserved),
          Object.values(unserved).map(() => 0),
          "the right order costs no request",
        );
      }
      assertEquals(await withConnection(databaseUrl, missing), []);
    } finally {
      await next.stop();
    }
  } finally {
    await service.stop();
  }
}

for (const version of RELEASES) {
  for (const order of ["push, then deploy", "deploy, then push"] as const) {
    Deno.test({
      name:
        `an upgrade of ${version} beside ${WRITERS} writers, ${order}: nothing is lost, nothing is done twice`,
      sanitizeOps: false,
      sanitizeResources: false,
      fn: () =>
        withScratchDirectory(async (folder) => {
          const server = await startPostgres();
          try {
            const release = await openRelease(version, folder, server);
            await upgrade(order, release, folder, await release.restoreDatabase(server, "upgraded"));
          } finally {
            await server.stop();
          }
        }),
    });
  }
}
