/**
 * The effect of one free account on a neighbour: small writes and reads beside the account's costliest requests. The
 * account has 20 projects of 100 requests a minute, and spreads its requests over the minute. In a burst it sends them
 * until the windows are used up, in the first seconds of each minute.
 */
import { z } from "zod";
import { register } from "../support/client/accounts.ts";
import { type Bench, fewer, sized } from "./bench.ts";
import type { BenchStack, Project } from "./bench_stack.ts";
import { Client } from "./client.ts";
import { KILOBYTE, lines, MEGABYTE } from "./contents.ts";
import { interleave, median } from "./measure.ts";
import { pathIn, populate } from "./populate.ts";
import { atMost } from "./report.ts";

const PROJECTS = 20;
/**
 * The rate of all its projects together. The projects have this limit here so that the cost of a request can be read at
 * any time.
 */
const REQUESTS_PER_SECOND = PROJECTS * 100 / 60;
const REQUESTS_PER_MINUTE = 1_000_000;
const FILES = 10_000;
const FILES_PER_DIRECTORY = 500;
/** Versions of one run, in one project. */
const HUGE_RUN_VERSIONS = 600_000;
const LARGE_FILES = 9;
const TEXTS = 24;

/** Method, path and the body, sent as JSON. */
type Send = readonly [string, string, unknown?];

/** The time at which every file had its first version. */
const AT = "2026-06-01T00:00:00Z";

interface Attack {
  readonly name: string;
  /** Whether only the first project has the necessary data. */
  readonly isOfFirst?: boolean;
  readonly send: Send;
}

const ATTACKS: readonly Attack[] = [
  { name: "plan of a restore of 10,000 files", send: ["POST", "/restore", { directory: "/", at: AT }] },
  {
    name: "regular expression over 24 MB",
    isOfFirst: true,
    send: ["GET", "/search?mode=regex&q=[0-9]x[a-z]*y%24&directory=texts"],
  },
  {
    name: "batch of nine edits of 10 MB",
    isOfFirst: true,
    send: ["POST", "/batch", { operations: Array.from({ length: LARGE_FILES }, edit) }],
  },
  { name: "export of 50 MB", isOfFirst: true, send: ["GET", "/export?directory=large/half"] },
  { name: "plan of an undo of 600,000 versions", isOfFirst: true, send: ["POST", "/runs/huge/undo", {}] },
  { name: "a run of 600,000 versions", isOfFirst: true, send: ["GET", "/runs/huge?limit=1"] },
  { name: "a run of 10,000 files", send: ["GET", "/runs/heavy"] },
  { name: "diff of 1 MB", isOfFirst: true, send: ["GET", "/diff/reversed.txt"] },
  { name: "list with at=", send: ["GET", `/files?recursive=true&limit=100&at=${encodeURIComponent(AT)}`] },
  {
    name: "preview of a rule of retention",
    send: ["PATCH", "/project", { dryRun: true, retention: { keepVersions: 1 } }],
  },
];

/** Replaces a text, and undoes that the next time, so that it can be sent repeatedly. */
function edit(_: unknown, index: number) {
  const [here, there] = ["the last line", "another last line"];
  return {
    op: "edit",
    path: largePath(index),
    edits: [{ oldString: here, newString: there }, { oldString: there, newString: here }],
  };
}

function largePath(index: number): string {
  return `large/${index < 4 ? "half/" : ""}${index}.txt`;
}

export async function accountAttacks(bench: Bench): Promise<void> {
  const { stack, rounds, report } = bench;
  report.group("What one free account can do to a neighbour");
  const own = await stack.ownFunction({});
  try {
    const account = await openAccount(stack, own.baseUrl);
    await fill(stack, account, new Client(own.baseUrl, account[0].key));
    const neighbour = new Client(own.baseUrl, (await stack.project()).key);
    const content = lines(KILOBYTE);
    await neighbour.write("small.txt", content);
    const measured = async () => {
      const works = {
        write: () => neighbour.write("small.txt", content),
        read: () => neighbour.read("small.txt"),
      };
      const { write, read } = await interleave(works, fewer(rounds, 2));
      return { write: median(write), read: median(read) };
    };
    for (const attack of ATTACKS) {
      const alone = await measured();
      for (const isBurst of [false, true]) {
        const stop = await begin(attack, own.baseUrl, account, isBurst);
        const beside = await measured();
        const { served, refused } = await stop();
        const what = `beside${isBurst ? " a burst" : ""}: ${attack.name}`;
        const bar = isBurst ? null : atMost(2);
        report.against(`write of 1 KB ${what}`, beside.write, "ms", "alone", alone.write, bar);
        report.against(`read of 1 KB ${what}`, beside.read, "ms", "alone", alone.read, bar);
        report.remark(`  ${served} were served meanwhile, ${refused} refused`);
      }
    }
  } finally {
    await own.stop();
  }
}

/**
 * Runs one client for each project. A client sends its next request when the last one is answered and the windows have
 * room. Returns the function that stops them all.
 */
async function begin({ isOfFirst = false, send }: Attack, url: string, account: Account, isBurst: boolean) {
  let isOver = false;
  const counts = { served: 0, refused: 0 };
  const millisecondsEach = isBurst
    ? 0
    : 1000 * await priceOf(url, account[0].key, send) / REQUESTS_PER_SECOND;
  let roomAt = performance.now();
  const attackers = account.map(async ({ key }) => {
    while (!isOver) {
      const wait = roomAt - performance.now();
      if (wait > 0) {
        await pause(Math.min(wait, 100));
        continue;
      }
      roomAt = Math.max(roomAt, performance.now() - millisecondsEach) + millisecondsEach;
      const { status } = await attempt(url, isOfFirst ? account[0].key : key, send);
      if (status !== 429) counts.served++;
      else counts.refused++;
      // Like a program that keeps trying.
      if (status === 429) await pause(100);
    }
  });
  return async () => {
    isOver = true;
    await Promise.all(attackers);
    return counts;
  };
}

/** The number of requests that this request counts as. */
async function priceOf(url: string, key: string, send: Send): Promise<number> {
  const before = await attempt(url, key, ["GET", "/files?limit=1"]);
  const after = await attempt(url, key, send);
  if (after.status === 429) throw new Error(`${send[1]} is refused`);
  // A window may have ended in between.
  return after.remaining < before.remaining
    ? before.remaining - after.remaining
    : await priceOf(url, key, send);
}

/** Sends the request and reads the answer to its end. */
async function attempt(url: string, key: string, [method, path, body]: Send) {
  const answer = await fetch(url + path, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json" },
    ...body !== undefined && { body: JSON.stringify(body) },
  });
  for await (const _ of answer.body ?? []);
  return { status: answer.status, remaining: Number(answer.headers.get("x-ratelimit-remaining")) };
}

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

type Account = readonly [Project, ...Project[]];

const created = z.looseObject({ data: z.looseObject({ id: z.string(), key: z.string().optional() }) });

async function openAccount(stack: BenchStack, url: string): Promise<Account> {
  const { session: { access_token: token } } = await register(stack);
  const ask = async (method: string, path: string, projectId?: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        ...projectId !== undefined && { "x-project-id": projectId },
      },
      ...body !== undefined && { body: JSON.stringify(body) },
    });
    return await response.json();
  };
  const withKey = async (id: string): Promise<Project> => {
    const fields = { scopes: ["read", "write", "admin"] };
    const { key = "" } = created.parse(await ask("POST", "/project/apikeys", id, fields)).data;
    return { id, key };
  };
  const project = async (number: number) => {
    const fields = { name: `Project ${number}` };
    return await withKey(created.parse(await ask("POST", "/projects", undefined, fields)).data.id);
  };
  const all: [Project, ...Project[]] = [await project(0)];
  while (all.length < PROJECTS) all.push(await project(all.length));
  return all;
}

/** Adds a second version of each file, by one run; and to the first project a run of many versions, and large contents. */
async function fill(stack: BenchStack, account: Account, client: Client): Promise<void> {
  const [first] = account;
  for (const { id } of account) {
    await stack.setTier(id, "enterprise");
    await stack.sql("update filestore.projects set requests_per_minute = $2 where id = $1", [
      id,
      REQUESTS_PER_MINUTE,
    ]);
  }
  await populate(stack, account, { files: sized(FILES), filesPerDirectory: FILES_PER_DIRECTORY });
  const ids = account.map(({ id }) => id).join();
  const huge = `project_id = '${first.id}' and path < '${pathIn(FILES_PER_DIRECTORY, 0)}x'`;
  await stack.script(`
    set local session_replication_role = replica;
    update filestore.file_versions set created_at = '2026-01-01' where project_id = any ('{${ids}}');
    ${addVersion(`f.project_id = any ('{${ids}}')`, "heavy", 1)}
    ${
    addVersion(
      huge.replaceAll("project_id", "f.project_id").replaceAll("path", "f.path"),
      "huge",
      sized(HUGE_RUN_VERSIONS / 1000),
    )
  }
    analyze`);
  const large = lines(sized(10 * MEGABYTE - 100)) + "the last line\n";
  for (let index = 0; index < LARGE_FILES; index++) await client.write(largePath(index), large);
  for (let index = 0; index < TEXTS; index++) {
    await client.write(`texts/${index}.txt`, lines(sized(MEGABYTE - 100)) + index);
  }
  const text = lines(sized(MEGABYTE - 100));
  await client.write("reversed.txt", text);
  await client.overwrite("reversed.txt", text.split("\n").toReversed().join("\n"));
  await client.send("GET", "/search?mode=text&q=nothing&directory=texts&wait=10");
}

/** Statements that add versions to these files, with the content of the first version. */
function addVersion(which: string, run: string, count: number): string {
  return `
    insert into filestore.file_versions
      (project_id, file_id, version, mime_type, size, segment_ids, commit_id, created_at, run_id, operation)
      select f.project_id, f.id, f.version + n, f.mime_type, f.size, f.segment_ids, gen_random_uuid(),
        '2026-10-01', '${run}', 'overwrite'
      from (select * from filestore.files f where ${which} order by f.path limit ${
    count === 1 ? "all" : 1000
  }) f,
        generate_series(1, ${count}) n;
    analyze filestore.file_versions;
    update filestore.files f set version = f.version + ${count}, updated_at = '2026-10-01'
      from (select distinct v.project_id, v.file_id from filestore.file_versions v where v.run_id = '${run}') v
      where f.project_id = v.project_id and f.id = v.file_id;`;
}
