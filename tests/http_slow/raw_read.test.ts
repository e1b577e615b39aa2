/** Raw reads: content negotiation, headers, one range. RFC 9110, sections 12.5.1, 13.1.5 and 14. */
import { assertEquals } from "@std/assert";

import { trafficOf } from "../support/client/traffic.ts";

import { ASKS_FOR_BYTES } from "../support/client/files.ts";
import { patternBytes } from "../support/content/streams.ts";
import cases, { assertSameBytes, MIB, OCTETS } from "../acceptance/raw_read.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

await acceptance(cases);

test("206: only the segments that hold some of the range are fetched", async () => {
  const own = await files();
  // ASCII only, so that each segment is exactly 1 MiB and no character crosses its end.
  const whole = patternBytes(0, 8 * MIB).map((byte) => byte & 0x7f);
  await own.writeRaw("big.bin", whole, OCTETS);
  await service.restartFunction();
  // First byte, last byte, number of segments that the function has not cached.
  const ranges: [number, number, number][] = [
    [0, 9, 1],
    [MIB, 2 * MIB - 1, 1],
    [2 * MIB - 1, 2 * MIB, 1],
    [4 * MIB - 1, 4 * MIB, 2],
    [6 * MIB + 5, 8 * MIB - 1, 2],
    [0, 9, 0],
  ];
  for (const [from, to, gets] of ranges) {
    const traffic = await trafficOf(service, async () => {
      const { bytes } = await own.readRaw("big.bin", { range: `bytes=${from}-${to}` });
      assertSameBytes(bytes, whole.subarray(from, to + 1), `${from}-${to}`);
    });
    assertEquals(traffic, { database: ["filestore_content"], puts: 0, gets, removals: 0 }, `${from}-${to}`);
  }
  const head = await trafficOf(service, () => own.bytes("HEAD", "big.bin", ASKS_FOR_BYTES));
  assertEquals([head.database.length, head.gets], [1, 0]);
});
