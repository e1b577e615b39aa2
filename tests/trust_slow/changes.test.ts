/**
 * Followers of the change feed and many writers, over HTTP, on a real Postgres, while processes of the function are
 * killed at random. Each follower gets every version once and in order, and one that replays them ends with the
 * project's files.
 */
import { assert, assertEquals } from "@std/assert";
import { dirname, join } from "node:path";
import { type ChangePage, changePage } from "../support/client/contract.ts";
import { encodePath } from "../support/client/files.ts";
import { type Outcome, perform, type Target } from "../support/client/files_client.ts";
import type { Operation } from "../support/faults/ledger.ts";
import { inParallel } from "../support/in_parallel.ts";
import { assertConsistent } from "../support/postgres/consistency.ts";
import { type Random, randomFrom, SEED } from "../support/random.ts";
import { report, rounds } from "../support/runner/long.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { onPostgres } from "../support/stack/on_postgres.ts";
import { kill } from "../support/stack/processes.ts";
import type { Service } from "../support/stack/service.ts";

const PROCESSES = 3;
const WRITERS = 64;
/** Acknowledged writes of each client. */
const WRITES_EACH = Number(Deno.env.get("CHANGES_WRITES") ?? rounds(5, 1_000));
const FILES = rounds(40, 200);
const FOLLOWERS = 4;
/** The longest pause between two kills. */
const KILL_PAUSE_MILLISECONDS = rounds(4_000, 10_000);
/** A client's pause after a request without an answer. */
const RETRY_PAUSE_MILLISECONDS = 100;
const END = "end.txt";
/** Weighted: a kind that is listed more often is chosen more often. */
const KINDS = [
  ...["append", "append", "append", "write", "write", "write", "overwrite", "edit"],
  ...["delete", "restore", "copy", "move"],
] as const;

type Change = ChangePage["changes"][number];

Deno.test(`${FOLLOWERS} followers beside ${WRITERS} writers and kills miss nothing and see nothing twice`, async () => {
  await onPostgres(PROCESSES, async (service) => {
    await withScratchDirectory((folder) => followWriters(service, folder));
    await assertConsistent((statement) => service.sql(statement));
  });
});

async function followWriters(service: Service, folder: string): Promise<void> {
  const random = randomFrom(SEED);
  const { id, key } = await service.project("enterprise");
  const target = { baseUrl: service.baseUrl, key };
  const paths = Array.from({ length: FILES }, (_, n) => `folder ${n % 7}/file ${n}.txt`);
  const outcomes: Record<Outcome["kind"], number> = { made: 0, refused: 0, unknown: 0 };
  let isWritten = false;
  let kills = 0;
  const killing = (async () => {
    while (!isWritten) {
      await pause(random.below(KILL_PAUSE_MILLISECONDS));
      const pids = service.stack.functionPids;
      if (!isWritten && pids.length > 0 && kill(random.pick(pids))) kills++;
    }
  })();
  const followers = Array.from(
    { length: FOLLOWERS },
    (_, n) => follow(target, randomFrom(SEED + n), n === 0 ? folder : null),
  );
  for (const follower of followers) follower.catch(() => {/* awaited below */});
  await Promise.all(Array.from({ length: WRITERS }, async (_, writer) => {
    for (let n = 0, made = 0; made < WRITES_EACH; n++) {
      const { kind } = await perform(target, nextOperation(random, paths, `writer ${writer}, ${n}\n`));
      outcomes[kind]++;
      if (kind === "made") made++;
      if (kind === "unknown") await pause(RETRY_PAUSE_MILLISECONDS);
    }
  }));
  isWritten = true;
  await killing;
  // A write whose answer was lost may still commit, before the end marker or after it.
  while ((await perform(target, { kind: "write", path: END, text: "the end\n" })).kind !== "made") {
    await pause(RETRY_PAUSE_MILLISECONDS);
  }
  const followed = await Promise.all(followers);

  const stored = await service.sql<{ entry: string }>(
    `select f.path || ' ' || v.version as entry from filestore.file_versions v join filestore.files f on f.id = v.file_id
     where v.project_id = $1 order by v.position`,
    [id],
  );
  const expected = stored.map(({ entry }) => entry);
  for (const changes of followed) {
    const found = changes.map(({ path, version }) => `${path} ${version}`);
    // Versions after the end marker were not waited for.
    assertEquals(found, expected.slice(0, found.length));
    assert(found.includes(`${END} 1`));
    assertEquals(new Set(found).size, found.length, "nothing comes twice");
    assertInOrder(changes);
  }
  assertEquals(await digests(folder), await listedDigests(target));
  assert(kills > 0, "nothing was killed");
  report("followers", {
    seed: SEED,
    writers: WRITERS,
    files: FILES,
    kills,
    ...outcomes,
    versions: expected.length,
  });
}

function nextOperation(random: Random, paths: readonly string[], text: string): Operation {
  const [kind, path] = [random.pick(KINDS), random.pick(paths)];
  switch (kind) {
    case "edit":
      return { kind, path, oldString: "writer", newString: "editor" };
    case "delete":
      return { kind, path };
    case "restore":
      return { kind, path, version: 1 };
    case "copy":
    case "move":
      return { kind, path, destination: random.pick(paths.filter((other) => other !== path)) };
    default:
      return { kind, path, text };
  }
}

/** Reads the feed until the end marker, repeating failed requests. Replays it into `folder`, if there is one. */
async function follow(target: Target, random: Random, folder: string | null): Promise<Change[]> {
  const changes: Change[] = [];
  let after: string | undefined;
  while (!changes.some(({ path }) => path === END)) {
    const parameters = new URLSearchParams({
      limit: `${1 + random.below(200)}`,
      wait: "25",
      ...after && { after },
    });
    const page = await ask(target, `/changes?${parameters}`);
    if (page === null) continue;
    const { data } = JSON.parse(page);
    const { changes: found, cursor } = changePage.parse(data);
    if (folder !== null) await replay(target, folder, found);
    changes.push(...found);
    after = cursor;
  }
  return changes;
}

/** Null if there is no answer. */
async function ask({ baseUrl, key }: Target, path: string, headers = {}): Promise<string | null> {
  try {
    const response = await fetch(baseUrl + path, { headers: { "x-api-key": key, ...headers } });
    const text = await response.text();
    if (response.status === 200) return text;
    if (response.status < 503) throw new TypeError(`GET ${path} was answered ${response.status} ${text}`);
  } catch (error) {
    if (error instanceof TypeError && error.message.startsWith("GET ")) throw error;
  }
  await pause(RETRY_PAUSE_MILLISECONDS);
  return null;
}

/** For each path of the page, only the last entry matters. */
async function replay(target: Target, folder: string, changes: readonly Change[]): Promise<void> {
  const last = new Map(changes.map((change) => [change.path, change]));
  await inParallel([...last.values()], 4, async ({ path = "", version, deleted }) => {
    const file = join(folder, path);
    if (deleted) return await Deno.remove(file).catch(() => {/* never seen live */});
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.writeTextFile(file, await contentOf(target, path, version));
  });
}

async function contentOf(target: Target, path: string, version?: number): Promise<string> {
  const query = version === undefined ? "" : `?version=${version}`;
  for (;;) {
    const headers = { accept: "application/octet-stream" };
    const content = await ask(target, `/files/${encodePath(path)}${query}`, headers);
    if (content !== null) return content;
  }
}

function assertInOrder(changes: readonly Change[]): void {
  const versions = new Map<string, number>();
  for (const { path = "", version } of changes) {
    assertEquals(version, (versions.get(path) ?? 0) + 1, `the versions of ${path} come one after the other`);
    versions.set(path, version);
  }
}

/** Maps each path in a folder to the SHA-256 of its content. */
async function digests(folder: string, below = ""): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { name, isDirectory } of Deno.readDirSync(join(folder, below))) {
    const path = below === "" ? name : `${below}/${name}`;
    if (isDirectory) { for (const [file, digest] of await digests(folder, path)) found.set(file, digest); }
    else found.set(path, await sha256(await Deno.readTextFile(join(folder, path))));
  }
  return new Map([...found].sort(([a], [b]) => a < b ? -1 : 1));
}

/** The same for the files that the project lists. */
async function listedDigests(target: Target): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let after: string | null = ""; after !== null;) {
    const parameters = new URLSearchParams({ recursive: "true", limit: "100", ...after && { after } });
    const page: string | null = await ask(target, `/files?${parameters}`);
    if (page === null) continue;
    const { files, hasMore }: { files: { path: string }[]; hasMore: boolean } = JSON.parse(page).data;
    await inParallel(files, 4, async ({ path }) => {
      found.set(path, await sha256(await contentOf(target, path)));
    });
    after = hasMore ? files.at(-1)?.path ?? null : null;
  }
  return new Map([...found].sort(([a], [b]) => a < b ? -1 : 1));
}

async function sha256(text: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toHex();
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
