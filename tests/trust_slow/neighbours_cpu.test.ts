/**
 * A neighbour cannot occupy the function's one thread. Requests at their limits, built to cost as much as possible,
 * take bounded processor time, in slices between which another client's health request is answered.
 */
import { assert, assertEquals } from "@std/assert";
import { EDIT_UNITS_MAX } from "../../supabase/functions/api/limits.ts";
import {
  codeOf,
  Laboratory,
  type Outcome,
  send,
  type Sending,
  type Tenant,
  text,
} from "../support/faults/laboratory.ts";
import { figures, IS_LONG } from "../support/runner/long.ts";
import { threadCpuSeconds } from "../support/stack/processes.ts";
import { messageOf } from "../support/client/mcp.ts";
import { indexed } from "../support/client/search.ts";
import { test } from "../support/stack/suite.ts";
import { HealthWatch } from "./health_watch.ts";

const lab = await Laboratory.start();
const bare = await lab.bareFunction();
const watch = new HealthWatch({ url: `${bare.baseUrl}/health`, pid: bare.pid });
Deno.test.afterAll(async () => {
  watch.stop();
  await lab.stop();
});

const MIB = 1024 * 1024;
/**
 * Seconds of processor time that one request may take of the function's thread. The costliest takes about 1.5 s on an
 * idle machine; without its bound, it would take minutes.
 */
const CPU_SECONDS_MAX = 6;
/**
 * Seconds of processor time of the thread until the health request is answered. The longest step that cannot be split
 * takes 0.2 s on an idle machine; the figures are printed.
 */
const WAIT_CPU_SECONDS_MAX = 1;

const encode = (text: string) => new TextEncoder().encode(text);
const json = (value: unknown) => encode(JSON.stringify(value));

interface Attack {
  readonly name: string;
  /** Files to be written before the attack. */
  readonly files: Readonly<Record<string, readonly string[]>>;
  readonly attack: Sending;
  readonly code: string | undefined;
  readonly details?: unknown;
}

/** Random words of two letters, so that each position of the text is a different state of a pattern. */
function unforeseeable(length: number): string {
  let state = 1;
  const next = () => (state = Math.imul(state, 1_103_515_245) + 12_345 | 0) >>> 16 & 1;
  return Array.from({ length }, () => next() === 0 ? "a" : "b").join("");
}

const put = (path: string, body: unknown, headers = {}): Sending => ({
  method: "PUT",
  path,
  headers: { "content-type": "application/json", ...headers },
  body: body instanceof Uint8Array ? body : json(body),
});
const get = (path: string): Sending => ({ method: "GET", path });
const flips = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    oldString: index % 2 === 0 ? "a" : "b",
    newString: index % 2 === 0 ? "b" : "a",
    replaceAll: true,
  }));
const MANY_ARGUMENTS = messageOf("modern", "tools/call", {
  name: "write_file",
  arguments: Object.fromEntries(
    Array.from({ length: 45_000 }, (_, n) => [`expected${`${n}`.padStart(7, "0")}`, 1]),
  ),
});
const HARD_TEXT = unforeseeable(900_000);
const WORDS = Array.from({ length: 120 }, (_, index) => `w${index}`).join(" or ");

/** The short form tries every other one. */
const ATTACKS: readonly Attack[] = [
  {
    name: "100 × replaceAll of every byte of 7 MB",
    files: { f: ["a".repeat(7 * MIB)] },
    attack: put("/files/edit/f", { edits: flips(100) }),
    code: "SEARCH_TOO_BROAD",
    details: { rule: "edit_units", limit: EDIT_UNITS_MAX },
  },
  {
    name: "replaceAll of every byte of 7 MB",
    files: { f: ["a".repeat(7 * MIB)] },
    attack: put("/files/edit/f", { edits: flips(1) }),
    code: undefined,
  },
  {
    name: "100 × replaceAll of strings that are nearly there, in 7 MB",
    files: { f: ["a".repeat(7 * MIB) + "b"] },
    attack: put("/files/edit/f", {
      edits: Array.from({ length: 100 }, (_, n) => ({
        oldString: `${"a".repeat(50 - n % 2)}b`,
        newString: `${"a".repeat(50 - (n + 1) % 2)}b`,
        replaceAll: true,
      })),
    }),
    code: "SEARCH_TOO_BROAD",
    details: { rule: "edit_units", limit: EDIT_UNITS_MAX },
  },
  {
    name: "100 edits of a line each in 10 MB, as a client might make them",
    files: {
      f: [
        Array.from({ length: 131_072 }, (_, n) => `${n}`.padStart(12, "0").padEnd(79, " the quick brown fox"))
          .join("\n"),
      ],
    },
    attack: put("/files/edit/f", {
      edits: Array.from({ length: 100 }, (_, n) => ({
        oldString: `${n * 1300}`.padStart(12, "0").padEnd(50, " the quick brown fox"),
        newString: `line ${n}`,
      })),
    }),
    code: undefined,
  },
  {
    name: "a dry run of as many edits as the budget has room for, in 1 MB",
    files: { f: ["a\n".repeat(MIB / 2)] },
    attack: put("/files/edit/f", { edits: flips(12), dryRun: true }),
    code: undefined,
  },
  {
    name: "an old string that is nowhere in 2 MB",
    files: { f: ["日İab ".repeat(2 * MIB / 8)] },
    attack: put("/files/edit/f", { oldString: "xyz ".repeat(25_000), newString: "" }),
    code: "STRING_NOT_FOUND",
  },
  {
    name: "24 MB of edits, all of it escapes, to be done once",
    files: { f: ["none of it"] },
    attack: put("/files/edit/f", {
      edits: Array.from(
        { length: 100 },
        (_, n) => ({
          oldString: "\n".repeat(57_000),
          newString: `${n}`.padEnd(100, "\n") + "\n".repeat(57_000),
        }),
      ),
    }, { "idempotency-key": "once" }),
    code: "STRING_NOT_FOUND",
  },
  {
    name: "a body of more values than a body has",
    files: { f: ["none of it"] },
    attack: put("/files/edit/f", encode(`{"edits":[${"[],".repeat(5 * MIB)}[]]}`)),
    code: "CONTENT_TOO_LARGE",
  },
  {
    name: "30,000 operations of no known kind",
    files: {},
    attack: {
      method: "POST",
      path: "/batch",
      headers: { "content-type": "application/json" },
      body: json({ operations: Array.from({ length: 30_000 }, () => ({ op: 1 })) }),
    },
    code: "VALIDATION_ERROR",
  },
  {
    name: "45,000 arguments that look like one of a tool",
    files: {},
    attack: {
      method: "POST",
      path: "/mcp",
      headers: MANY_ARGUMENTS.headers,
      body: json(MANY_ARGUMENTS.body),
    },
    code: "VALIDATION_ERROR",
  },
  {
    name: "a diff of 500,000 short lines",
    files: { f: ["a\n".repeat(MIB / 2), "b\n".repeat(MIB / 2)] },
    attack: get("/diff/f"),
    code: undefined,
  },
  {
    name: "a diff of the same lines in another order",
    files: {
      f: [
        Array.from({ length: 150_000 }, (_, n) => n.toString(36)).join("\n"),
        Array.from({ length: 150_000 }, (_, n) => (n * 7919 % 150_000).toString(36)).join("\n"),
      ],
    },
    attack: get("/diff/f"),
    code: undefined,
  },
  {
    name: "a diff of control characters, which are six times as long in JSON",
    files: { f: ["\u0001".repeat(MIB), "\u0002".repeat(MIB)] },
    attack: get("/diff/f"),
    code: undefined,
  },
  {
    name: "10 MB of base64 in which every other character is a space",
    files: {},
    attack: {
      method: "POST",
      path: "/files",
      headers: { "content-type": "application/json" },
      body: json({ path: "b", content: "Q U J D ".repeat(1_310_720), isBase64: true }),
    },
    code: undefined,
  },
  {
    name: "10 MB of content, each character an escape",
    files: {},
    attack: {
      method: "POST",
      path: "/files",
      headers: { "content-type": "application/json" },
      body: encode(`{"path":"c","content":"${"\\u0061".repeat(10_485_760)}"}`),
    },
    code: undefined,
  },
  {
    name: "the last line of a million",
    files: { f: ["\n".repeat(7 * MIB)] },
    attack: get(`/files/f?lines=${7 * MIB}-`),
    code: undefined,
  },
  {
    name: "10 MB read as base64",
    files: { f: ["é".repeat(5 * MIB)] },
    attack: get("/files/f?encoding=base64"),
    code: undefined,
  },
  {
    name: "a pattern whose states are without number",
    files: { "hard.txt": [HARD_TEXT] },
    attack: get(`/search?mode=regex&q=${encodeURIComponent("c(a|b){200}a")}`),
    code: "SEARCH_TOO_BROAD",
  },
  {
    name: "a substring that is nearly everywhere, in either case",
    files: Object.fromEntries(
      Array.from({ length: 3 }, (_, n) => [`${n}.txt`, [`${"éa".repeat(300_000)}\n${n}`]]),
    ),
    attack: get(
      `/search?mode=text&caseSensitive=false&q=${
        encodeURIComponent("éa".repeat(200) + "b" + "éa".repeat(200))
      }`,
    ),
    code: undefined,
  },
  {
    name: "a hundred words in half a million lines",
    files: Object.fromEntries(
      Array.from({ length: 3 }, (_, n) => [`${n}.txt`, [`w1\n${"a b\n".repeat(200_000)}`]]),
    ),
    attack: get(`/search?mode=hybrid&q=${encodeURIComponent(WORDS)}`),
    code: undefined,
  },
];

async function prepare(tenant: Tenant, { files }: Attack): Promise<void> {
  for (const [path, versions] of Object.entries(files)) {
    for (const content of versions) {
      await lab.prepare(tenant, { method: "POST", path: `/files?path=${path}`, body: encode(content) });
    }
  }
  await indexed({ sql: (statement, parameters) => lab.stack.exec(statement, parameters) }, tenant.id);
}

for (const attack of ATTACKS.filter((_, index) => IS_LONG || index % 2 === 0)) {
  test(`${attack.name}: bounded processor time, in slices`, async () => {
    const tenant = await lab.tenant();
    await prepare(tenant, attack);
    const before = threadCpuSeconds(bare.pid);
    const { longest, result } = await watch.during(() => send(bare.baseUrl, tenant.key, attack.attack));
    const seconds = threadCpuSeconds(bare.pid) - before;
    figures(
      `${seconds.toFixed(2)} s of processor time, at most ${
        longest.cpuSeconds.toFixed(2)
      } s of it until a visitor ` +
        `was answered, who waited ${longest.milliseconds.toFixed(0)} ms at most`,
    );
    assertEquals(codeOf(result), attack.code, text(result).slice(0, 300));
    if (attack.details !== undefined) assertEquals(detailsOf(result), attack.details);
    assert(seconds < CPU_SECONDS_MAX, `${seconds} s of processor time`);
    assert(longest.cpuSeconds < WAIT_CPU_SECONDS_MAX, `${longest.cpuSeconds} s until a visitor was answered`);
  });
}

function detailsOf(outcome: Outcome): unknown {
  return JSON.parse(text(outcome)).details;
}
