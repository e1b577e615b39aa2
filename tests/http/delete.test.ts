/** A deletion adds a tombstone, a version like any other, and keeps all earlier versions. */
import { assertEquals } from "@std/assert";

import cases from "../acceptance/delete.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { files } = await suite();

await acceptance(cases);

test("200: counts and sub-folders of lists follow what is deleted and written again", async () => {
  const own = await files();
  for (const path of ["a/1", "a/2", "a/b/3", "a/b/c/4", "5"]) await own.write(path, "x");
  const shape = async (directory: string) => {
    const { files: found, total, directories } = await own.list({ directory, limit: 100 });
    return [found.map(({ path }) => path), total, directories];
  };
  await own.remove("a/b/c/4");
  assertEquals(await shape("a/b"), [["a/b/3"], 1, []]);
  assertEquals(await shape("a/b/c"), [[], 0, []]);
  await own.remove("a/1");
  await own.remove("a/b/3");
  assertEquals(await shape("a"), [["a/2"], 1, []]);
  assertEquals(await shape("/"), [["5"], 1, ["a"]]);
  const all = await own.list({ recursive: true });
  assertEquals([all.files.map(({ path }) => path), all.total], [["5", "a/2"], 2]);
  await own.write("a/b/c/4", "back");
  assertEquals(await shape("a"), [["a/2"], 1, ["b"]]);
  assertEquals(await shape("a/b"), [[], 0, ["c"]]);
  await own.remove("a/b/c/4");
  await own.remove("a/2");
  assertEquals(await shape("/"), [["5"], 1, []]);
  await own.remove("5");
  assertEquals(await shape("/"), [[], 0, []]);
});
