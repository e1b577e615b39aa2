/** Compaction runs after the answer: appends do not wait for it, and its only visible effect is fewer segments. */
import { assert, assertEquals } from "@std/assert";
import { COMPACTION_CHECK_EVERY_SEGMENTS, SEGMENT_BYTES_MAX } from "../../supabase/functions/api/limits.ts";
import { assertRefused } from "../support/client/contract.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { segmentCount, unreferencedObjects } from "../support/client/stored.ts";
import { costOf } from "../support/client/tariff.ts";
import { trafficOf } from "../support/client/traffic.ts";
import { eventually } from "../support/eventually.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const PATH = "log.txt";
const LINES = Array.from({ length: COMPACTION_CHECK_EVERY_SEGMENTS }, (_, index) => `line ${index}\n`);
const CONTENT = LINES.join("");

/** A file with one segment for each line except the last, so that the next append makes a compaction due. */
async function almostDue(): Promise<ProjectFiles> {
  const own = await files();
  await own.write(PATH, "");
  for (const line of LINES.slice(0, -1)) await own.append(PATH, line);
  return own;
}

const segmentsOf = (own: ProjectFiles) => segmentCount(service, own.project.id);

const hasSegments = (own: ProjectFiles, segments: number) =>
  eventually(`${segments} segments`, async () => await segmentsOf(own) === segments);

const isCompacted = (own: ProjectFiles, below = COMPACTION_CHECK_EVERY_SEGMENTS) =>
  eventually("compacted", async () => await segmentsOf(own) < below);

/** Appends the last line, and runs `work` before the compaction that is now due commits. */
async function beforeCompacted(own: ProjectFiles, work: () => Promise<unknown>): Promise<void> {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const committed = Promise.withResolvers<void>();
  let isFirst = true;
  service.proxy.hook = async ({ path }, forward) => {
    if (!isFirst || !path.includes("filestore_compact")) return await forward();
    isFirst = false;
    reached.resolve();
    await released.promise;
    const answer = await forward();
    committed.resolve();
    return answer;
  };
  try {
    await own.append(PATH, LINES.at(-1) ?? "");
    await reached.promise;
    await work();
  } finally {
    released.resolve();
    await committed.promise;
    service.proxy.hook = null;
  }
}

test("100 appends: each is one upload and one commit, compactions are few, and each version reads right", async () => {
  const own = await files();
  await own.write(PATH, "");
  let content = "";
  const versions = new Map<number, string>();
  const { database, puts } = await trafficOf(service, async () => {
    for (let index = 0; index < 100; index++) {
      const line = `${index} ${"é".repeat(index)}\n`;
      content += line;
      versions.set((await own.append(PATH, line)).version, content);
    }
    // Wait for the compaction that the last appends made due.
    await isCompacted(own, 2 * COMPACTION_CHECK_EVERY_SEGMENTS);
  });
  const compactions = database.filter((name) => name === "filestore_compact").length;
  assertEquals(database.filter((name) => name === "filestore_commit").length, 100);
  assert(compactions > 0 && compactions <= 100 / (COMPACTION_CHECK_EVERY_SEGMENTS - 1), `${compactions}`);
  assert(puts <= 100 + compactions + 1, `${puts} uploads`);
  const { id } = await own.record(PATH);
  assertEquals(await own.tag(PATH), `"${id}.101.j"`, "a compaction makes no version, so the tag stays");
  await service.restartFunction();
  for (const [version, expected] of versions) {
    assertEquals((await own.read(PATH, { version })).content, expected);
  }
});

test("of a large file the end alone is compacted: what is in front of it is neither read nor sent again", async () => {
  const own = await files();
  await own.write(PATH, "0123456789abcde\n".repeat(3 * SEGMENT_BYTES_MAX / 16));
  const front = await segmentsOf(own);
  const calls = await service.proxy.during(async () => {
    while (await segmentsOf(own) < 2 * COMPACTION_CHECK_EVERY_SEGMENTS) {
      await own.append(PATH, "line\n");
    }
    await hasSegments(own, front + 1);
  });
  const largest = Math.max(...calls.map(({ requestBytes }) => requestBytes));
  assert(largest < 5_000, `${largest} bytes were sent`);
});

test("while a compaction waits, appends are answered, and what comes before it is committed stays after it", async () => {
  const own = await almostDue();
  await beforeCompacted(own, async () => {
    for (const line of LINES) await own.append(PATH, line);
  });
  await hasSegments(own, LINES.length + 1);
  assertEquals((await own.read(PATH)).content, CONTENT + CONTENT);
});

const OTHERS: Readonly<Record<string, (own: ProjectFiles) => Promise<unknown>>> = {
  "an overwrite": (own) => own.overwrite(PATH, "other\n"),
  "an edit of the first line": (own) => own.edit(PATH, LINES[0] ?? "", "edited\n"),
  "a restore": (own) => own.restore(PATH, 3),
  "a deletion": (own) => own.remove(PATH),
  "a delete and a write": async (own) => {
    await own.remove(PATH);
    await own.write(PATH, "again\n");
  },
};

for (const [name, change] of Object.entries(OTHERS)) {
  test(`${name} before the compaction is committed: it changes nothing, and leaves no object`, async () => {
    const own = await almostDue();
    let before: unknown;
    const state = () => service.sql("select * from filestore.files where project_id = $1", [own.project.id]);
    await beforeCompacted(own, async () => {
      await change(own);
      before = await state();
    });
    assertEquals(await state(), before);
    const left = () => unreferencedObjects(service, own.project.id);
    await eventually("its object is removed", async () => await left() === 0);
    assertEquals((await own.read(PATH, { version: LINES.length + 1 })).content, CONTENT);
  });
}

test("storage is away: the append is acknowledged, and a later one has the file compacted", async () => {
  const own = await almostDue();
  let uploads = 0;
  service.proxy.hook = ({ target, method }, forward) =>
    target === "storage" && method === "POST" && ++uploads > 1
      ? new Response(null, { status: 503 })
      : forward();
  try {
    await own.append(PATH, LINES.at(-1) ?? "");
    await eventually("the compaction was tried", () => uploads > 1);
  } finally {
    service.proxy.hook = null;
  }
  // As long as the refused upload is repeated, no other compaction of the file begins.
  let content = CONTENT;
  await eventually("compacted", async () => {
    content += "later\n";
    await own.append(PATH, "later\n");
    return await segmentsOf(own) < COMPACTION_CHECK_EVERY_SEGMENTS;
  });
  assertEquals((await own.read(PATH)).content, content);
});

test("a quota that has room for the append but not for the compaction: appended, to the last byte", async () => {
  const own = await almostDue();
  const [row] = await service.sql<{ bytes: number }>(
    `select sum(bytes + database_bytes)::integer as bytes from filestore.project_usage where project_id = $1`,
    [own.project.id],
  );
  const last = LINES.at(-1) ?? "";
  const quota = (row?.bytes ?? 0) + costOf({ stored: last.length, listed: LINES.length });
  await service.sql(
    "select filestore_admin_update_project($1, jsonb_build_object('tier', 'enterprise', 'maxProjectBytes', $2::bigint))",
    [own.project.id, quota],
  );
  await own.append(PATH, last);
  await hasSegments(own, 1);
  assertEquals((await own.read(PATH)).content, CONTENT);
  const refused = await own.put("append", PATH, { content: "x".repeat(2 * SEGMENT_BYTES_MAX) });
  assertRefused(refused, "QUOTA_EXCEEDED", "write_file");
});

test("text and bytes compacted together: each version is shown as without the compaction", async () => {
  const own = await almostDue();
  const text = await own.read(PATH);
  // Two halves of a character are valid UTF-8 together, but not text, since neither part is.
  for (const half of [Uint8Array.of(0xe2, 0x9c), Uint8Array.of(0x93)]) {
    await own.append(PATH, half.toBase64(), { isBase64: true });
  }
  for (const line of LINES) await own.append(PATH, line);
  await isCompacted(own);
  assertEquals(await own.read(PATH, { version: text.version }), text);
  for (const version of [text.version + 1, text.version + 2, text.version + 2 + LINES.length]) {
    assertEquals((await own.read(PATH, { version })).isBase64, true, `version ${version}`);
  }
});
