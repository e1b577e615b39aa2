/** Entity tags of reads and writes, and the 304 that saves the content. RFC 9110, sections 8.8.3 and 13.1.2. */
import { assertEquals } from "@std/assert";

import { segmentCount } from "../support/client/stored.ts";

import { eventually } from "../support/eventually.ts";
import cases from "../acceptance/entity_tags.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

await acceptance(cases);

test("a compaction makes no version, so the tag stays", async () => {
  const own = await files();
  await own.write("log", "");
  for (let index = 1; index <= 40; index++) await own.append("log", `${index}\n`);
  await eventually("a compaction", async () => await segmentCount(service, own.project.id) < 40);
  const { id, content } = await own.read("log");
  assertEquals(await own.tag("log"), `"${id}.41.j"`);
  assertEquals(content.split("\n").length, 41);
});
