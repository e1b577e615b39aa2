/** A restore makes the content and type of an earlier version the latest version, without copying a byte. */
import { assertEquals } from "@std/assert";
import { assertRefused } from "../support/client/contract.ts";
import cases from "../acceptance/restore.ts";
import { acceptance, suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

await acceptance(cases);

test("200: 200 restores in a row keep every version readable", async (own) => {
  await own.write("deep.txt", "bottom");
  for (let version = 1; version <= 200; version++) await own.restore("deep.txt", version);
  assertEquals((await own.read("deep.txt")).content, "bottom");
  assertEquals((await own.read("deep.txt", { version: 111 })).content, "bottom");
  const segments = "select from filestore.segments where project_id = $1";
  assertEquals((await service.sql(segments, [own.project.id])).length, 1);
});

test("413 CONTENT_TOO_LARGE when a smaller tier has no room for the old version; it stays readable", async () => {
  const own = await files("enterprise");
  const large = "x".repeat(2000);
  await own.write("big.txt", large);
  await own.write("big.txt", "small");
  await service.setTier(own.project.id, "enterprise", { maxFileBytes: 1000 });
  const details = assertRefused(await own.put("restore", "big.txt", { version: 1 }), "CONTENT_TOO_LARGE");
  assertEquals([details["limitBytes"], details["sizeBytes"]], [1000, 2000]);
  assertEquals((await own.read("big.txt", { version: 1 })).content, large);
  assertEquals((await own.record("big.txt")).version, 2);
});
