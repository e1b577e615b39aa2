/** Reads a ZIP archive with Python, which checks every checksum. */
import { assertEquals } from "@std/assert";

const READ = `
import sys, io, json, base64, zipfile
z = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
assert z.testzip() is None
print(json.dumps([[i.filename, base64.b64encode(z.read(i)).decode()] for i in z.infolist()]))`;

/** Maps each entry's name to its bytes. */
export async function unzipped(archive: Uint8Array): Promise<Map<string, Uint8Array>> {
  const child = new Deno.Command("python3", {
    args: ["-c", READ],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(archive);
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const entries: [string, string][] = JSON.parse(new TextDecoder().decode(stdout));
  return new Map(entries.map(([name, base64]) => [name, Uint8Array.fromBase64(base64)]));
}
