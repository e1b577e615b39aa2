/** Appends that take a compaction along: what they cost, and that nothing else tells them from other appends. */
import { assert, assertEquals } from "@std/assert";
import {
  COMPACTING_APPEND_BYTES_MAX,
  COMPACTION_CHECK_EVERY_SEGMENTS,
  SEGMENT_BYTES_MAX,
} from "../../supabase/functions/api/limits.ts";
import { assertRefused, dataOf, fileRecord } from "../support/client/contract.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { segmentCount, unreferencedObjects } from "../support/client/stored.ts";
import { costOf } from "../support/client/tariff.ts";
import { suite, test } from "../support/stack/suite.ts";
import { NO_OBJECTS, trafficOf } from "../support/client/traffic.ts";

const { service, files } = await suite();

const PATH = "log.txt";
const OCTETS = { "content-type": "application/octet-stream" };
/** What a short append of a known key costs. */
const UPLOAD_AND_COMMIT = { ...NO_OBJECTS, database: ["filestore_commit"], puts: 1 };
/** The content that `withPendingCompaction` leaves, in as many segments as lines. */
const LINES = Array.from({ length: COMPACTION_CHECK_EVERY_SEGMENTS }, (_, index) => `line ${index}\n`);
const CONTENT = LINES.join("");

/** A file whose last append has made a compaction due, which the next one takes along. */
async function withPendingCompaction(): Promise<ProjectFiles> {
  const own = await files();
  await own.write(PATH, "");
  for (const line of LINES) await own.append(PATH, line);
  assertEquals(await segmentCount(service, own.project.id), LINES.length);
  return own;
}

/** Does `work` when the next upload is about to be stored. */
async function duringUpload(work: () => Promise<unknown>, request: () => Promise<unknown>): Promise<void> {
  let isFirst = true;
  service.proxy.hook = async ({ target }, forward) => {
    if (target === "storage" && isFirst) {
      isFirst = false;
      await work();
    }
    return await forward();
  };
  try {
    await request();
  } finally {
    service.proxy.hook = null;
  }
  assert(!isFirst, "nothing was uploaded");
}

test("every short append makes 2 calls, compactions included; the segment list stays short, and each version reads right", async () => {
  const own = await withPendingCompaction();
  let content = CONTENT;
  const versions = new Map([[LINES.length + 1, content]]);
  for (let index = 0; index < 60; index++) {
    const line = `${index} ${"é".repeat(index)}\n`;
    content += line;
    const calls = await trafficOf(service, async () => {
      const { version, size } = await own.append(PATH, line);
      assertEquals([version, size], [LINES.length + index + 2, new TextEncoder().encode(content).length]);
      versions.set(version, content);
    });
    assertEquals(calls, UPLOAD_AND_COMMIT, `append ${index}`);
    const segments = await segmentCount(service, own.project.id);
    assert(segments <= COMPACTION_CHECK_EVERY_SEGMENTS, `${segments} segments after append ${index}`);
    if (index === 0) assertEquals(segments, 1);
  }
  await service.restartFunction();
  for (const [version, expected] of versions) {
    assertEquals((await own.read(PATH, { version })).content, expected);
  }
  assertEquals(await unreferencedObjects(service, own.project.id), 0);
});

test("of a large file the end alone is compacted: what is in front of it stays, and is not sent again", async () => {
  const own = await files();
  const large = "0123456789abcde\n".repeat(3 * SEGMENT_BYTES_MAX / 16);
  await own.write(PATH, large);
  const front = await segmentCount(service, own.project.id);
  while (await segmentCount(service, own.project.id) < 2 * COMPACTION_CHECK_EVERY_SEGMENTS) {
    await own.append(PATH, "line\n");
  }
  const before = (await own.read(PATH)).content;
  assertEquals(await trafficOf(service, () => own.append(PATH, "last\n")), UPLOAD_AND_COMMIT);
  const { calls } = service.proxy;
  assert((calls[0]?.requestBytes ?? 0) < 1000, `${calls[0]?.requestBytes} bytes`);
  assertEquals(await segmentCount(service, own.project.id), front + 1);
  await service.restartFunction();
  assert((await own.read(PATH)).content === `${before}last\n`);
});

test("another append comes between upload and commit: both are there, in the order of their versions, and no object is left", async () => {
  const own = await withPendingCompaction();
  await duringUpload(() => own.append(PATH, "between\n"), () => own.append(PATH, "last\n"));
  const { content, version } = await own.read(PATH);
  assertEquals([content, version], [`${CONTENT}between\nlast\n`, LINES.length + 3]);
  assertEquals(await unreferencedObjects(service, own.project.id), 0);
});

const OTHERS: Readonly<Record<string, (own: ProjectFiles) => Promise<unknown>>> = {
  "an overwrite": (own) => own.overwrite(PATH, "other\n"),
  "a write": (own) => own.write(PATH, "other\n"),
  "an edit": (own) => own.edit(PATH, LINES[3] ?? "", "edited\n"),
  "a restore": (own) => own.restore(PATH, 3),
  "a raw append": (own) => own.put("append", PATH, new TextEncoder().encode("raw\n"), OCTETS),
  "a delete and a write": async (own) => {
    await own.remove(PATH);
    await own.write(PATH, "again\n");
  },
  "a copy of another file": async (own) => {
    await own.write("other.txt", "copied\n");
    await own.put("copy", "other.txt", { destination: PATH, overwrite: true });
  },
};

for (const [name, change] of Object.entries(OTHERS)) {
  test(`${name} after the compaction was left: the next append adds to that, in 2 calls`, async () => {
    const own = await withPendingCompaction();
    await change(own);
    const { content, version } = await own.read(PATH);
    assertEquals(await trafficOf(service, () => own.append(PATH, "last\n")), UPLOAD_AND_COMMIT);
    const after = await own.read(PATH);
    assertEquals([after.content, after.version], [`${content}last\n`, version + 1]);
  });

  test(`${name} between upload and commit: the append adds to that`, async () => {
    const own = await withPendingCompaction();
    let before = { content: "", version: 0 };
    await duringUpload(async () => {
      await change(own);
      before = await own.read(PATH);
    }, () => own.append(PATH, "last\n"));
    const { content, version } = await own.read(PATH);
    assertEquals([content, version], [`${before.content}last\n`, before.version + 1]);
    assertEquals(await unreferencedObjects(service, own.project.id), 0);
  });
}

test("404 FILE_NOT_FOUND: the file was deleted, before the append or between its upload and its commit", async () => {
  for (const isBetween of [false, true]) {
    const own = await withPendingCompaction();
    const append = async () => {
      assertRefused(await own.put("append", PATH, { content: "last\n" }), "FILE_NOT_FOUND", "write_file");
    };
    if (isBetween) await duringUpload(() => own.remove(PATH), append);
    else {
      await own.remove(PATH);
      await append();
    }
    assertEquals(await unreferencedObjects(service, own.project.id), 0);
    assertEquals((await own.read(PATH, { version: LINES.length + 1 })).content, CONTENT);
  }
});

test("If-Match of another version: 412, nothing changed; of this one: appended, and compacted", async () => {
  for (const isThisOne of [false, true]) {
    const own = await withPendingCompaction();
    const { id, version } = await own.record(PATH);
    const before = await service.tables();
    const answer = await own.put("append", PATH, { content: "last\n" }, {
      "if-match": `"${id}.${isThisOne ? version : version - 1}.j"`,
    });
    if (isThisOne) {
      assertEquals(dataOf(answer, "write_file", fileRecord).version, version + 1);
      assertEquals(await segmentCount(service, own.project.id), 1);
    } else {
      assertRefused(answer, "PRECONDITION_FAILED", "write_file");
      assertEquals(await service.tables(), before);
    }
  }
});

test("Idempotency-Key: an append that made a compaction due, or took one along, is told its first answer ever after", async () => {
  const own = await files();
  await own.write(PATH, LINES.slice(0, -1).join(""));
  for (const line of LINES.slice(1, -1)) await own.append(PATH, line);
  const send = (key: string) => own.put("append", PATH, { content: "once\n" }, { "idempotency-key": key });
  const leaves = await send("leaves");
  assertEquals(await segmentCount(service, own.project.id), LINES.length);
  const repeated = await send("leaves");
  assertEquals([repeated.status, repeated.text], [200, leaves.text]);
  // The repeated one took the compaction and could not use it: the next to be due is made now.
  for (const line of LINES) await own.append(PATH, line);
  assertEquals(await unreferencedObjects(service, own.project.id), 0);

  const other = await withPendingCompaction();
  const once = { "idempotency-key": "takes" };
  const takes = await other.put("append", PATH, { content: "once\n" }, once);
  assertEquals(await segmentCount(service, other.project.id), 1);
  for (const line of [...LINES, ...LINES]) {
    await other.append(PATH, line);
    const again = await other.put("append", PATH, { content: "once\n" }, once);
    assertEquals([again.status, again.text], [200, takes.text]);
  }
  assertRefused(await other.put("append", PATH, { content: "twice\n" }, once), "IDEMPOTENCY_KEY_REUSED");
  assertEquals((await other.read(PATH)).content, `${CONTENT}once\n${CONTENT}${CONTENT}`);
});

test("a quota that has room for the append but not for the compaction: appended, to the last byte", async () => {
  const own = await withPendingCompaction();
  const [row] = await service.sql<{ bytes: number; segments: number }>(
    `select sum(bytes + database_bytes)::integer as bytes,
            (select cardinality(segment_ids) from filestore.files where project_id = $1) as segments
     from filestore.project_usage where project_id = $1`,
    [own.project.id],
  );
  const quota = (row?.bytes ?? 0) + costOf({ stored: 5, listed: (row?.segments ?? 0) + 1 });
  await service.sql(
    "select filestore_admin_update_project($1, jsonb_build_object('tier', 'enterprise', 'maxProjectBytes', $2::bigint))",
    [
      own.project.id,
      quota,
    ],
  );
  await own.append(PATH, "last\n");
  assertEquals((await own.read(PATH)).content, `${CONTENT}last\n`);
  assertRefused(await own.put("append", PATH, { content: "x" }), "QUOTA_EXCEEDED", "write_file");
  assertEquals(await unreferencedObjects(service, own.project.id), 0);
});

test("text and bytes compacted with what is added: each version is shown as without the compaction", async () => {
  const own = await withPendingCompaction();
  const text = await own.read(PATH);
  await own.append(PATH, Uint8Array.of(0xe2, 0x9c).toBase64(), { isBase64: true });
  assertEquals(await segmentCount(service, own.project.id), 1);
  // The last byte of a character makes it UTF-8 as a whole, but no text: its parts are none.
  await own.append(PATH, Uint8Array.of(0x93).toBase64(), { isBase64: true });
  for (const line of LINES) await own.append(PATH, line);
  assert(await segmentCount(service, own.project.id) < LINES.length, "it was compacted once more");
  assertEquals(await own.read(PATH, { version: text.version }), text);
  for (const version of [text.version + 1, text.version + 2, text.version + 2 + LINES.length]) {
    assertEquals((await own.read(PATH, { version })).isBase64, true, `version ${version}`);
  }
});

test("where nobody takes it along, for the process ended or appends are long or raw, the next compaction that is due is made at once", async () => {
  const long = "x".repeat(COMPACTING_APPEND_BYTES_MAX + 1);
  const ways: Readonly<Record<string, (own: ProjectFiles) => Promise<unknown>>> = {
    "the process ended": () => service.restartFunction(),
    "a long one": (own) => own.append(PATH, long),
    "a raw one": (own) => own.put("append", PATH, new Uint8Array(3), OCTETS),
  };
  for (const [name, pass] of Object.entries(ways)) {
    const own = await withPendingCompaction();
    await pass(own);
    while (await segmentCount(service, own.project.id) < 2 * COMPACTION_CHECK_EVERY_SEGMENTS - 1) {
      await own.append(PATH, "line\n");
    }
    const { database } = await trafficOf(service, () => own.append(PATH, "line\n"));
    assert(database.includes("filestore_compact"), name);
    assert(await segmentCount(service, own.project.id) <= 3, name);
  }
});
