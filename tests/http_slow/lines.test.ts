/** `lines=` reads some lines of a text, and fetches only the segments that contain them. */
import { assert, assertEquals } from "@std/assert";

import { assertRefused } from "../support/client/contract.ts";
import { NO_OBJECTS, trafficOf } from "../support/client/traffic.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { randomNumbers } from "../support/random.ts";
import cases, { assertWindow, linesOf, windowOf } from "../acceptance/lines.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

await acceptance(cases);

test("416 RANGE_NOT_SATISFIABLE beyond the last line, and for any line of an empty file", async () => {
  const own = await files();
  await own.write("three.txt", "1\n2\n3\n");
  await own.write("open.txt", "1\n2\n3");
  await own.write("empty.txt", "");
  const cases: [string, string][] = [
    ...["4-4", "4-", "5-9", "9999999999-"].flatMap((lines): [string, string][] => [
      ["three.txt", lines],
      ["open.txt", lines],
    ]),
    ...["1-1", "1-", "-1", "-100", "7-9"].map((lines): [string, string] => ["empty.txt", lines]),
  ];
  for (const [path, lines] of cases) {
    const details = assertRefused(await own.get(path, {}, { lines }), "RANGE_NOT_SATISFIABLE", "read_file");
    assertEquals(details, { version: 1 }, `${lines} of ${path}`);
  }
  const traffic = await trafficOf(service, () => own.get("three.txt", {}, { lines: "4-" }));
  assertEquals(traffic, { database: ["filestore_content"], ...NO_OBJECTS });
});

/** A log of some 10 MB: 100,000 lines of many lengths. */
function logText(): string {
  const lines = Array.from(
    { length: 100_000 },
    (_, index) =>
      `${index + 1} ${"é✓ abc 😀 ".repeat((index * 7919) % 12)}end${index % 5 === 0 ? "\r" : ""}\n`,
  );
  return lines.join("");
}

/** The number of segments in the list that contain bytes of these lines. */
async function segmentsHolding(
  own: ProjectFiles,
  path: string,
  lines: readonly string[],
  from: number,
  to: number,
) {
  const rows = await service.sql<{ size: number }>(
    `select s.size from filestore.files f, unnest(f.segment_ids) with ordinality i (id, position)
     join filestore.segments s on s.id = i.id where f.project_id = $1 and f.path = $2 order by i.position`,
    [own.project.id, path],
  );
  const bytes = (some: readonly string[]) => new TextEncoder().encode(some.join("")).length;
  const start = bytes(lines.slice(0, from - 1));
  const end = start + bytes(lines.slice(from - 1, to));
  let at = 0;
  let held = 0;
  for (const { size } of rows) {
    if (at < end && at + size > start) held++;
    at += size;
  }
  return { held, segments: rows.length };
}

test("a 10 MB log: windows anywhere are exact, and lines 90,000–90,100 fetch only what holds them", async () => {
  const own = await files();
  const text = logText();
  const lines = linesOf(text);
  assertEquals((await own.writeRaw("big.log", new TextEncoder().encode(text))).size > 9_000_000, true);
  await service.restartFunction();
  const { held, segments } = await segmentsHolding(own, "big.log", lines, 90_000, 90_100);
  assert(segments >= 9 && held <= 2, `${held} of ${segments} segments`);
  const traffic = await trafficOf(service, () => assertWindow(own, "big.log", lines, 90_000, 90_100));
  assertEquals(traffic, { database: ["filestore_content"], puts: 0, gets: held, removals: 0 });
  const numbers = randomNumbers(42);
  const random = (below: number) => numbers() % below;
  for (let times = 0; times < 40; times++) {
    const from = 1 + random(lines.length);
    await assertWindow(own, "big.log", lines, from, from + random(times % 4 === 0 ? 30_000 : 200));
  }
  const tail = windowOf(await own.get("big.log", {}, { lines: "-20" }));
  assertEquals([tail.content, tail.startLine], [lines.slice(-20).join(""), 99_981]);
});

test("a tail fetches the last segment alone", async () => {
  const own = await files();
  const text = logText().slice(0, 3_000_000);
  await own.write("big.log", text.slice(0, text.lastIndexOf("\n") + 1));
  await own.append("big.log", "last but one\nlast\n");
  await service.restartFunction();
  const traffic = await trafficOf(service, async () => {
    assertEquals(windowOf(await own.get("big.log", {}, { lines: "-2" })).content, "last but one\nlast\n");
  });
  assertEquals([traffic.gets, traffic.database.length], [1, 1]);
});
