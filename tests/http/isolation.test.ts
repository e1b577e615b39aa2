/** Two projects with the same paths never see each other: a file of the other project is answered like a missing one. */
import { assertEquals } from "@std/assert";
import cases from "../acceptance/isolation.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

await acceptance(cases);

test("an object of one project is never read for another, even when it is remembered", async () => {
  const [first, second] = [await files(), await files()];
  await first.write("same.txt", "of the first");
  await first.read("same.txt");
  await second.write("same.txt", "of the second");
  assertEquals((await second.read("same.txt")).content, "of the second");
  assertEquals((await first.read("same.txt")).content, "of the first");
  const names = await service.sql<{ name: string }>("select name from storage.objects where name like $1", [
    `${second.project.id}/%`,
  ]);
  assertEquals(names.length, 1, "objects lie under their project's id");
});
