/** A damaged segment never reaches a client as well-formed content. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { COMPACTION_CHECK_EVERY_SEGMENTS } from "../../supabase/functions/api/limits.ts";
import { createClient } from "@supabase/supabase-js";
import { test } from "../support/stack/suite.ts";
import { inParallel } from "../support/in_parallel.ts";
import {
  codeOf,
  Laboratory,
  type Outcome,
  present,
  type Sending,
  type Tenant,
  text,
} from "../support/faults/laboratory.ts";
import { figures, IS_LONG } from "../support/runner/long.ts";
import { LARGE } from "../support/faults/operations.ts";

const lab = await Laboratory.start();
/** Another process writes the content, so that the process under test has none of it in its cache. */
const writer = await lab.bareFunction();
const prepare = (tenant: Tenant, sending: Sending) => lab.prepare(tenant, sending, writer.baseUrl);
Deno.test.afterAll(() => lab.stop());

const { storage } = createClient(lab.stack.backendUrl, lab.stack.secretKey, {
  auth: { persistSession: false },
});
const bucket = storage.from("filestore-segments");

const PATH = "dir/large.txt";
const CONTENT = new TextEncoder().encode(LARGE);
const SEGMENT = 1024 * 1024;
/** The most segments in a list before a compaction is considered. */
const UNCOMPACTED = COMPACTION_CHECK_EVERY_SEGMENTS - 1;

/** Ways to damage an object, each applied to the file that Storage serves. */
const DAMAGES: Readonly<Record<string, (file: string, name: string) => Promise<void>>> = {
  "one bit flipped": async (file) => {
    const bytes = await Deno.readFile(file);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    await Deno.writeFile(file, bytes);
  },
  "one byte short": async (file) => await Deno.truncate(file, (await Deno.stat(file)).size - 1),
  "cut in half": async (file) => await Deno.truncate(file, (await Deno.stat(file)).size >> 1),
  "empty": async (file) => await Deno.truncate(file, 0),
  "longer": async (file) => await Deno.writeFile(file, Uint8Array.of(0x78), { append: true }),
  "another segment": async (file) => await Deno.writeFile(file, new Uint8Array(SEGMENT).fill(0x7a)),
  "missing": async (_file, name) => {
    const { error } = await bucket.remove([name]);
    assertEquals(error, null);
  },
};

interface Way extends Sending {
  readonly name: string;
  /** The segments needed before the headers are sent, and all that are needed. */
  readonly first: readonly number[];
  readonly needs: readonly number[];
}

const BYTES = { accept: "application/octet-stream" };
const get = (name: string, query: string, headers: Record<string, string>, needs: number[]): Way => ({
  name,
  method: "GET",
  path: `/files/${PATH}${query}`,
  headers,
  first: needs.slice(0, 1),
  needs,
});
const put = (name: string, route: string, body: unknown, needs: number[]): Way => ({
  name,
  method: "PUT",
  path: `/files/${route}/${PATH}`,
  body,
  first: needs,
  needs,
});

const WAYS: readonly Way[] = [
  get("JSON", "", {}, [0, 1, 2]),
  get("JSON in base64", "?encoding=base64", {}, [0, 1, 2]),
  get("an earlier version", "?version=1", {}, [0, 1, 2]),
  get("raw", "", BYTES, [0, 1, 2]),
  get("a range of all", "", { ...BYTES, range: "bytes=5-3000000" }, [0, 1, 2]),
  get("a range in the middle", "", { ...BYTES, range: `bytes=${SEGMENT + 5}-${SEGMENT + 9}` }, [1]),
  get("a range to the end", "", { ...BYTES, range: "bytes=-5" }, [2]),
  get("lines across a border", "?lines=1020-1030", {}, [0, 1]),
  get("the last line", "?lines=-1", {}, [2]),
  put("an edit", "edit", { oldString: "b\nc", newString: "b\n\nc" }, [0, 1, 2]),
];

/** Asserts that an answer that needs a damaged segment does not serve it. */
function assertNotServed(outcome: Outcome, way: Way, damaged: number): "refused" | "broken off" {
  if (way.first.includes(damaged)) {
    assertEquals([outcome.status, codeOf(outcome)], [500, "CONTENT_CORRUPT"]);
    assertEquals(outcome.headers.get("cache-control"), "no-store");
    return "refused";
  }
  assert(outcome.broken, `${outcome.bytes.length} bytes arrived as if they were all`);
  if (outcome.headers.get("content-type")?.startsWith("application/json")) {
    assertThrows(() => JSON.parse(text(outcome)), SyntaxError);
    return "broken off";
  }
  assert(outcome.bytes.length < Number(outcome.headers.get("content-length")));
  // The bytes that did arrive are correct.
  const [start = "0"] = /\d+/.exec(way.headers?.range ?? "bytes=0") ?? [];
  assertEquals(outcome.bytes, CONTENT.slice(Number(start), Number(start) + outcome.bytes.length));
  return "broken off";
}

/** Every damage of every segment in the long form; in the short form each damage of one. */
const CASES = Object.keys(DAMAGES).flatMap((damage, index) =>
  [0, 1, 2].filter((damaged) => IS_LONG || damaged === index % 3).map((damaged) => ({ damage, damaged }))
);

test("a damaged segment is an error envelope before the headers and an aborted connection after, never content", async () => {
  const results = { refused: 0, "broken off": 0, served: 0 };
  const failures: string[] = [];
  await inParallel(CASES, 3, async ({ damage, damaged }) => {
    const tenant = await lab.tenant();
    await prepare(tenant, { method: "POST", path: "/files", body: { path: PATH, content: LARGE } });
    const segment = present((await lab.segments(tenant, PATH))[damaged]);
    await DAMAGES[damage]?.(lab.objectFile(segment.name), segment.name);
    const inLog = () =>
      lab.log.filter((line) => line.includes("corrupt_segment") && line.includes(segment.id));
    for (const way of WAYS) {
      // Every segment must be fetched again, since intact ones are otherwise served from the cache.
      const logged = inLog().length;
      try {
        const outcome = await lab.send(tenant, way);
        if (way.needs.includes(damaged)) {
          results[assertNotServed(outcome, way, damaged)]++;
          const line = inLog().at(-1) ?? "{}";
          const { level, event, segmentId, reason } = JSON.parse(line);
          assert(inLog().length > logged, "the log does not say so");
          assertEquals([level, event, segmentId], ["error", "corrupt_segment", segment.id]);
          assert(["missing", "wrong size", "wrong checksum"].includes(reason));
        } else {
          assert(outcome.status === 200 || outcome.status === 206, text(outcome).slice(0, 200));
          assertEquals(outcome.broken, false);
          results.served++;
        }
      } catch (error) {
        failures.push(`${damage}, segment ${damaged}, ${way.name}: ${error}`.slice(0, 400));
      }
    }
    const [row] = await lab.stack.exec<{ versions: number }>(
      "select count(*)::integer as versions from filestore.file_versions where project_id = $1",
      [tenant.id],
    );
    assertEquals(row?.versions, 1, "an edit of damaged content makes no version");
  });
  figures(
    `${CASES.length} damages × ${WAYS.length} ways: ${results.refused} refused, ` +
      `${results["broken off"]} broken off, ${results.served} not concerned`,
  );
  assert(failures.length === 0, `\n${failures.length} failed:\n${failures.join("\n")}`);
});

test("a diff of damaged content is refused, and so is the trial of an edit", async () => {
  const tenant = await lab.tenant();
  for (const content of ["one\n", "two\n"]) {
    await prepare(tenant, { method: "POST", path: "/files", body: { path: "a.txt", content } });
  }
  const segment = present((await lab.segments(tenant, "a.txt", 2))[0]);
  await DAMAGES["one bit flipped"]?.(lab.objectFile(segment.name), segment.name);
  for (
    const sending of [
      { method: "GET", path: "/diff/a.txt" },
      { method: "PUT", path: "/files/edit/a.txt", body: { oldString: "two", newString: "x", dryRun: true } },
      { method: "GET", path: "/files/a.txt" },
    ]
  ) assertEquals(codeOf(await lab.send(tenant, sending)), "CONTENT_CORRUPT", sending.path);
  // Requests that do not need the damaged bytes still work: the earlier version, and operations that replace the
  // damaged one.
  const before = await lab.send(tenant, { method: "GET", path: "/files/a.txt?version=1" });
  assertEquals(JSON.parse(text(before)).data.content, "one\n");
  const restored = await lab.send(tenant, {
    method: "PUT",
    path: "/files/restore/a.txt",
    body: { version: 1 },
  });
  assertEquals(restored.status, 200);
  assertEquals(
    JSON.parse(text(await lab.send(tenant, { method: "GET", path: "/files/a.txt" }))).data.content,
    "one\n",
  );
});

test("damaged content is never compacted into new segments: the append succeeds and the damage is still reported", async () => {
  const tenant = await lab.tenant();
  // A type that is not indexed for search, since indexing would read the segments and keep intact copies in memory.
  const path = "log.png";
  await prepare(tenant, { method: "POST", path: "/files", body: { path, content: "0\n" } });
  const append = (line: number): Sending => ({
    method: "PUT",
    path: `/files/append/${path}`,
    body: { content: `${line}\n` },
  });
  for (let line = 1; line < UNCOMPACTED; line++) await prepare(tenant, append(line));
  const segment = present((await lab.segments(tenant, path, UNCOMPACTED))[3]);
  await DAMAGES["one bit flipped"]?.(lab.objectFile(segment.name), segment.name);
  for (let line = UNCOMPACTED; line <= 40; line++) {
    assertEquals((await lab.send(tenant, append(line))).status, 200);
  }
  const outcome = await lab.send(tenant, { method: "GET", path: `/files/${path}` });
  assert(outcome.broken || codeOf(outcome) === "CONTENT_CORRUPT");
  assert(
    (await lab.segments(tenant, path, 41)).some(({ id }) => id === segment.id),
    "the damaged segment is still named",
  );
});
