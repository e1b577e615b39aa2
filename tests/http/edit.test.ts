/** An edit replaces a literal old string with a literal new one, exactly where it should. */
import { assert, assertEquals } from "@std/assert";
import { assertRefused } from "../support/client/contract.ts";
import cases from "../acceptance/edit.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

await acceptance(cases);

test("409 VERSION_CONFLICT when the file is rewritten before every try; nothing of the edit remains", async () => {
  const own = await files();
  await own.write("f.txt", "old");
  const segments = service.objectsOnDisk();
  let rewrites = 0;
  let isRewriting = false;
  service.proxy.hook = async ({ path }, forward) => {
    if (path.includes("filestore_commit") && !isRewriting) {
      isRewriting = true;
      rewrites++;
      await own.overwrite("f.txt", `old${".".repeat(rewrites)}`);
      isRewriting = false;
    }
    return await forward();
  };
  try {
    assertRefused(await own.tryEdit("f.txt", "old", "new"), "VERSION_CONFLICT", "write_file");
  } finally {
    service.proxy.hook = null;
  }
  const { content, version } = await own.read("f.txt");
  assertEquals([content, version], [`old${".".repeat(rewrites)}`, rewrites + 1]);
  assert(rewrites >= 2, "an edit that met a newer version was tried again");
  assertEquals(service.objectsOnDisk().length, segments.length + rewrites, "no byte of the edit is left");
});
