/** `lines=` reads some lines of a text, and fetches only the segments that contain them. */
import { assertEquals } from "@std/assert";

import { assertRefused } from "../support/client/contract.ts";
import { NO_OBJECTS, trafficOf } from "../support/client/traffic.ts";
import cases, { windowOf } from "../acceptance/lines.ts";
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

test("a tail fetches the last segment alone", async () => {
  const own = await files();
  await own.write("big.log", "a line of a log, é✓\n".repeat(150_000));
  await own.append("big.log", "last but one\nlast\n");
  await service.restartFunction();
  const traffic = await trafficOf(service, async () => {
    assertEquals(windowOf(await own.get("big.log", {}, { lines: "-2" })).content, "last but one\nlast\n");
  });
  assertEquals([traffic.gets, traffic.database.length], [1, 1]);
});
