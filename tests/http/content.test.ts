/** Content written and read: text, base64, binary, byte order marks, and the representation that a read returns. */
import { assertEquals } from "@std/assert";
import { READ_AT_ONCE_BYTES } from "../../supabase/functions/api/limits.ts";
import cases from "../acceptance/content.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

await acceptance(cases);

test("200: up to 64 KiB, of however many segments, come in one piece with their Content-Length; more is streamed", async () => {
  const own = await files();
  await own.write("small.txt", "é");
  for (let n = 0; n < 9; n++) await own.append("small.txt", `line ${n} "quoted"\n`);
  await own.write("full.txt", "x".repeat(READ_AT_ONCE_BYTES));
  await own.write("large.txt", "x".repeat(READ_AT_ONCE_BYTES + 1));
  const lengthOf = async (path: string) => {
    const answer = await fetch(`${service.baseUrl}${path}`, { headers: { "x-api-key": own.key } });
    const { byteLength } = await answer.arrayBuffer();
    assertEquals(answer.status, 200);
    return [answer.headers.get("content-length"), String(byteLength)];
  };
  for (const path of ["small.txt", "full.txt", "small.txt?encoding=base64", "small.txt?lines=2-3"]) {
    const [declared, length] = await lengthOf(`/files/${path}`);
    assertEquals(declared, length, path);
  }
  assertEquals((await lengthOf("/files/large.txt"))[0], null);
});
