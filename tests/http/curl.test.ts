/** The bytes in and out by curl: ranges, resuming, uploads, tags. What curl makes of it is what counts. */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { patternBytes } from "../support/content/streams.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const MIB = 1024 * 1024;
const OCTETS = { "content-type": "application/octet-stream" };

interface Finished {
  readonly code: number;
  readonly bytes: Uint8Array;
  readonly text: string;
}

/** Runs curl as a person would, with the key, asking for bytes. */
function curl(own: ProjectFiles, target: string, ...options: string[]): Promise<Finished> {
  return curlUntil(new AbortController().signal, own, target, ...options);
}

/** The same, ended by the signal. */
async function curlUntil(
  signal: AbortSignal,
  own: ProjectFiles,
  target: string,
  ...options: string[]
): Promise<Finished> {
  const { code, stdout } = await new Deno.Command("curl", {
    signal,
    args: [
      ...["--silent", "--max-time", "60"],
      ...["-H", `x-api-key: ${own.key}`, "-H", "Accept: application/octet-stream"],
      ...options,
      service.baseUrl + target,
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).output();
  return { code, bytes: stdout, text: new TextDecoder().decode(stdout) };
}

function assertSame(actual: Uint8Array, expected: Uint8Array, what: string): void {
  assertEquals(actual.length, expected.length, what);
  assert(actual.every((byte, index) => byte === expected[index]), `${what}: other bytes`);
}

const whole = patternBytes(0, 3 * MIB + 12_345);

async function withFile(): Promise<ProjectFiles> {
  const own = await files();
  await own.writeRaw("f.bin", whole, OCTETS);
  return own;
}

/** What `curl -r` is told, and the part of the bytes it gets; null: everything, with status 200. */
const RANGES: readonly (readonly [string, number, number] | readonly [string, null])[] = [
  ["0-99", 0, 100],
  ["100-", 100, whole.length],
  ["-50", whole.length - 50, whole.length],
  [`${MIB - 5}-${2 * MIB + 5}`, MIB - 5, 2 * MIB + 6],
  [`${whole.length - 1}-`, whole.length - 1, whole.length],
  ["0-999999999", 0, whole.length],
  ["0-1,4-5", null],
];

for (const [range, from, to] of RANGES) {
  test(`curl -r ${range}: that part of the bytes`, async () => {
    const own = await withFile();
    const { code, bytes } = await curl(own, "/files/f.bin", "-r", range);
    assertEquals(code, 0);
    assertSame(bytes, from === null ? whole : whole.subarray(from, to), range);
    const { text } = await curl(own, "/files/f.bin", "-r", range, "-o", "/dev/null", "-w", "%{http_code}");
    assertEquals(text, from === null ? "200" : "206");
  });
}

test("curl -r beyond the end: 416, and with --fail nothing is taken for content", async () => {
  const own = await withFile();
  const range = `${whole.length}-`;
  const { text } = await curl(own, "/files/f.bin", "-r", range, "-w", "\n%{http_code}");
  assertEquals(text.split("\n").at(-1), "416");
  assertEquals(JSON.parse(text.split("\n")[0] ?? "").error.code, "RANGE_NOT_SATISFIABLE");
  const failed = await curl(own, "/files/f.bin", "-r", range, "--fail");
  assertEquals([failed.code, failed.bytes.length], [22, 0]);
});

for (const have of [0, 1, MIB - 1, MIB, 2 * MIB + 77, whole.length - 1, whole.length]) {
  test(`curl -C -: a download that has ${have} of ${whole.length} bytes goes on to an identical file`, async () => {
    const own = await withFile();
    await withScratchDirectory(async (directory) => {
      const file = join(directory, "f.bin");
      await Deno.writeFile(file, whole.subarray(0, have));
      const { text } = await curl(
        own,
        "/files/f.bin",
        "-C",
        "-",
        "-o",
        file,
        "-w",
        "%{http_code} %{size_download}",
      );
      const [status = "", size = ""] = text.split(" ");
      // curl takes a 416 for a file that it has already.
      assertEquals(status, have === 0 ? "200" : have === whole.length ? "416" : "206");
      if (have < whole.length) assertEquals(Number(size), whole.length - have);
      assertSame(await Deno.readFile(file), whole, "the file");
    });
  });
}

test("curl: a download that is cut off goes on where it stopped", async () => {
  const own = await withFile();
  await service.restartFunction();
  let fetched = 0;
  const isCut = Promise.withResolvers<void>();
  service.proxy.hook = async (call, forward) => {
    // The first two segments come, the others too late.
    if (call.target === "storage" && fetched++ >= 2) await isCut.promise;
    return await forward();
  };
  await withScratchDirectory(async (directory) => {
    const file = join(directory, "f.bin");
    const end = new AbortController();
    const cut = curlUntil(end.signal, own, "/files/f.bin", "--no-buffer", "-o", file);
    await eventually("some bytes come", () => Deno.stat(file).then(({ size }) => size > 0, () => false));
    end.abort();
    assertNotEquals((await cut).code, 0);
    isCut.resolve();
    service.proxy.hook = null;
    const { size } = await Deno.stat(file);
    assert(size > 0 && size < whole.length, `${size} bytes came`);
    const rest = await curl(own, "/files/f.bin", "-C", "-", "-o", file, "-w", "%{size_download}");
    assertEquals([rest.code, Number(rest.text)], [0, whole.length - size]);
    assertSame(await Deno.readFile(file), whole, "the file");
  });
});

test("curl --data-binary and -T upload bytes unchanged, with and without a length", async () => {
  const own = await files();
  await withScratchDirectory(async (directory) => {
    const file = join(directory, "upload.bin");
    await Deno.writeFile(file, whole);
    const status = ["-o", "/dev/null", "-w", "%{http_code}"];
    const uploads: [string, string[]][] = [
      ["/files?path=f.png", ["--data-binary", `@${file}`, "-H", "Content-Type: image/png"]],
      ["/files?path=f.png", ["-X", "POST", "-T", file]],
      ["/files/overwrite/f.png?raw", ["-T", file]],
      ["/files/overwrite/f.png?raw", ["-T", file, "-H", "Transfer-Encoding: chunked"]],
      ["/files/overwrite/f.png", ["-T", file, "-H", "Content-Type: application/octet-stream"]],
    ];
    for (const [index, [target, options]] of uploads.entries()) {
      assertEquals((await curl(own, target, ...options, ...status)).text, "200", options.join(" "));
      assertSame((await own.readRaw("f.png")).bytes, whole, options.join(" "));
      const record = await own.record("f.png");
      assertEquals([record.version, record.mimeType], [index + 1, "image/png"]);
    }
    assertEquals((await curl(own, "/files/append/f.png?raw", "-T", file, ...status)).text, "200");
    assertEquals((await own.record("f.png")).size, 2 * whole.length);
  });
});

test("curl -I: the length without the bytes", async () => {
  const own = await withFile();
  const { text, code } = await curl(own, "/files/f.bin", "-I");
  assertEquals(code, 0);
  assert(
    /^HTTP\/1\.1 200/.test(text) && text.toLowerCase().includes(`content-length: ${whole.length}\r\n`),
    text,
  );
});

test("curl --etag-save and --etag-compare: what is known is not sent again", async () => {
  const own = await withFile();
  await withScratchDirectory(async (directory) => {
    const [file, tag] = [join(directory, "f.bin"), join(directory, "etag")];
    const get = async () =>
      (await curl(
        own,
        "/files/f.bin",
        "--etag-save",
        tag,
        "--etag-compare",
        tag,
        "-o",
        file,
        "-w",
        "%{http_code}",
      )).text;
    await Deno.writeTextFile(tag, "");
    assertEquals(await get(), "200");
    assertEquals(await get(), "304");
    assertSame(await Deno.readFile(file), whole, "the file");
    await own.writeRaw("f.bin", whole.subarray(0, 1000), OCTETS);
    assertEquals(await get(), "200");
    assertSame(await Deno.readFile(file), whole.subarray(0, 1000), "the new file");
  });
});

test("curl -d and curl -X DELETE: the other operations need no more than a line", async () => {
  const own = await files();
  const json = ["-H", "Accept: application/json"];
  const record = (text: string) => JSON.parse(text).data;
  assertEquals(
    record((await curl(own, "/files", ...json, "-d", '{"path":"a","content":"x"}')).text).version,
    1,
  );
  const copy = await curl(own, "/files/copy/a", "-X", "PUT", ...json, "-d", '{"destination":"b"}');
  assertEquals(record(copy.text).path, "b");
  assertEquals(record((await curl(own, "/files/a", "-X", "DELETE", ...json)).text).deleted, true);
  const restore = await curl(own, "/files/restore/a", "-X", "PUT", ...json, "-d", '{"version":1}');
  assertEquals(record(restore.text).version, 3);
  assertEquals(record((await curl(own, "/diff/a?from=1&to=3", ...json)).text).diff, "");
});
