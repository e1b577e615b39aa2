/** If-Match and If-None-Match on writes: a client that loses a race gets a refusal, and its write has no effect. */
import { assertEquals } from "@std/assert";

import { NO_OBJECTS, trafficOf } from "../support/client/traffic.ts";
import { assertNotCreated, assertStale } from "../support/client/preconditions.ts";

import cases, { WRITERS } from "../acceptance/preconditions.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

await acceptance(cases);

test("412: an edit that is refused by its precondition fetches and stores nothing", async () => {
  const own = await files();
  await own.write("f.txt", "old");
  await service.restartFunction();
  const { database, ...objects } = await trafficOf(service, async () => {
    const edit = { oldString: "old", newString: "new" };
    assertStale(await own.put("edit", "f.txt", edit, { "if-match": '"x"' }), 1);
  });
  assertEquals([database.length, objects], [1, NO_OBJECTS]);
});

test("32 racing creators with If-None-Match: * make one file of one version, and leave no other byte", async () => {
  const own = await files();
  const before = service.objectsOnDisk().length;
  const create = (content: string) => own.post({ path: "one.txt", content }, { "if-none-match": "*" });
  const answers = await Promise.all(Array.from({ length: WRITERS }, (_, index) => create(`by ${index}`)));
  const created = answers.filter(({ status }) => status === 200);
  assertEquals(created.length, 1);
  for (const answer of answers) {
    if (answer.status !== 200) assertEquals(assertNotCreated(answer), { version: 1 });
  }
  assertEquals((await own.versions("one.txt")).total, 1);
  const winner = answers.findIndex(({ status }) => status === 200);
  assertEquals((await own.read("one.txt")).content, `by ${winner}`);
  assertEquals(service.objectsOnDisk().length, before + 1);
});
