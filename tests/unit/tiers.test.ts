import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { jobsOf } from "../support/runner/tiers.ts";

function testFilesBelow(folder: string): string[] {
  const directory = fileURLToPath(new URL(`../${folder}`, import.meta.url));
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return testFilesBelow(`${folder}${name}/`);
    return name.endsWith(".test.ts") ? [`${folder}${name}`] : [];
  });
}

Deno.test("tiers: every test file runs in test or in rest, as usual in one of them only", () => {
  const files = [...jobsOf("test"), ...jobsOf("rest")].filter(({ variables }) => variables === undefined)
    .flatMap((job) => job.files);
  assertEquals(files.sort(), testFilesBelow("").sort());
});

Deno.test("tiers: edge has every HTTP test", () => {
  const files = jobsOf("edge").flatMap((job) => job.files);
  assertEquals(files.sort(), testFilesBelow("http/").sort());
});
