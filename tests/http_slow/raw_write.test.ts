/** Raw writes: which bodies are raw, the type that the file gets, and when a body is refused. */
import { assert, assertEquals } from "@std/assert";

import { assertRefused, dataOf, fileRecord } from "../support/client/contract.ts";
import { trafficOf } from "../support/client/traffic.ts";

import { patternBytes, patternStream } from "../support/content/streams.ts";
import cases, { MIB, OCTETS } from "../acceptance/raw_write.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

await acceptance(cases);

const LIMIT = 3 * MIB;

/** Raw writes of a body to a file of 1 MiB, and the number of bytes of the file that remain. */
const OVER: readonly (readonly [string, string, number])[] = [
  ["POST", "/files?path=f.bin", 0],
  ["PUT", "/files/overwrite/f.bin?raw", 0],
  ["PUT", "/files/append/f.bin?raw", MIB],
];

for (const [method, target, kept] of OVER) {
  test(`413 CONTENT_TOO_LARGE: ${method} ${target} over the tier, as soon as that is known, leaving no object`, async () => {
    const own = await files("enterprise", { maxFileBytes: LIMIT });
    await own.writeRaw("f.bin", patternBytes(0, MIB));
    const before = await service.tables();
    const details = (sizeBytes: number) => ({ limitBytes: LIMIT, sizeBytes, tier: "enterprise" });
    // Refused by its Content-Length, before more than a byte has arrived.
    const declared = LIMIT - kept + 1;
    const early = await service.requestRaw(
      method,
      `${method} /functions/v1/api${target} HTTP/1.1\r\nHost: x\r\nx-api-key: ${own.key}\r\n` +
        `Content-Type: application/octet-stream\r\nContent-Length: ${declared}\r\n\r\nx`,
    );
    assertEquals(assertRefused(early, "CONTENT_TOO_LARGE", "write_file"), details(LIMIT + 1));
    // Chunked: refused once the limit is exceeded, however long the body is.
    const { puts } = await trafficOf(service, async () => {
      const body = patternStream(30 * MIB, 100_000);
      const late = await own.request(method, target, { body, headers: OCTETS });
      const { sizeBytes, ...rest } = assertRefused(late, "CONTENT_TOO_LARGE", "write_file");
      assertEquals(rest, { limitBytes: LIMIT, tier: "enterprise" });
      assert(Number(sizeBytes) > LIMIT && Number(sizeBytes) < LIMIT + MIB, `refused at ${sizeBytes}`);
    });
    assert(puts <= 3, `${puts} objects were stored`);
    assertEquals(await service.tables(), before);
    // Exactly the limit is admitted.
    const fits = await own.request(method, target, { body: patternStream(LIMIT - kept), headers: OCTETS });
    assertEquals(dataOf(fits, "write_file", fileRecord).size, LIMIT);
  });
}

test("413 CONTENT_TOO_LARGE: a small body too many, although the function remembers the key", async () => {
  const own = await files("enterprise", { maxFileBytes: 1000 });
  await own.writeRaw("f.bin", patternBytes(0, 990));
  const before = await service.tables();
  const longer = await own.put("append", "f.bin", patternBytes(0, 11), OCTETS);
  assertRefused(longer, "CONTENT_TOO_LARGE", "write_file");
  const long = await own.post(patternBytes(0, 1001), OCTETS, { path: "g" });
  assertRefused(long, "CONTENT_TOO_LARGE", "write_file");
  assertEquals(await service.tables(), before);
  assertEquals((await own.put("append", "f.bin", patternBytes(0, 10), OCTETS)).status, 200);
});
