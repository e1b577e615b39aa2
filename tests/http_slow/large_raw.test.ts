/** A pro project writes and reads 100 MB through a function with 256 MB. */
import { assert, assertEquals } from "@std/assert";
import { assertRefused, dataOf, fileRecord } from "../support/client/contract.ts";
import { ASKS_FOR_BYTES, ProjectFiles } from "../support/client/files.ts";
import { checksumOf, patternStream } from "../support/content/streams.ts";
import { privateSuite, test } from "../support/stack/suite.ts";

const MEMORY_MEGABYTES = 256;
const MIB = 1024 * 1024;
const LARGE = 100 * MIB;
const OCTETS = { "content-type": "application/octet-stream" };

const { service, files } = await privateSuite({ memoryLimitMegabytes: MEMORY_MEGABYTES });
const expected = await checksumOf(patternStream(LARGE));
const pro: ProjectFiles = await files("pro");

/** The peak memory of the function's process in MB; 0 if the system does not report it. */
async function peakMegabytes(): Promise<number> {
  const [pid] = service.stack.functionPids;
  const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}

/** The memory of Deno itself, before the first byte. On a platform, many functions share it. */
const idleMegabytes = await peakMegabytes();

async function assertWithinMemory(): Promise<void> {
  const taken = await peakMegabytes() - idleMegabytes;
  assert(taken <= MEMORY_MEGABYTES, `the function has taken ${taken} MB`);
}

function download(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${service.baseUrl}/files/${path}`, {
    headers: { ...ASKS_FOR_BYTES, ...headers, "x-api-key": pro.key },
  });
}

async function bodyOf(response: Response): Promise<ReadableStream<Uint8Array>> {
  if (response.body) return response.body;
  throw new Error(`${response.status} without a body: ${await response.text()}`);
}

test("200: 104857600 bytes in, streamed; not one more", async () => {
  const body = patternStream(LARGE);
  const answer = await pro.request("POST", "/files?path=large.bin", { body, headers: OCTETS });
  const { size, version } = dataOf(answer, "write_file", fileRecord);
  assertEquals([size, version], [LARGE, 1]);
  const before = await service.tables();
  const more = await pro.put("append", "large.bin", new Uint8Array(1), OCTETS);
  assertRefused(more, "CONTENT_TOO_LARGE", "write_file");
  assertEquals(await service.tables(), before);
  await assertWithinMemory();
});

test("200: 104857600 bytes out, twice at the same time, unchanged", async () => {
  const both = await Promise.all([1, 2].map(async () => {
    const response = await download("large.bin");
    assertEquals([response.status, response.headers.get("content-length")], [200, String(LARGE)]);
    return await checksumOf(await bodyOf(response));
  }));
  assertEquals(both, [expected, expected]);
  await assertWithinMemory();
});
