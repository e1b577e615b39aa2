import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { jobsOf, type Tier } from "../support/runner/tiers.ts";

function testFilesBelow(folder: string): string[] {
  const directory = fileURLToPath(new URL(`../${folder}`, import.meta.url));
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return testFilesBelow(`${folder}${name}/`);
    return name.endsWith(".test.ts") ? [`${folder}${name}`] : [];
  });
}

/** Files in the form that takes as long as usual. */
function filesOf(...tiers: Tier[]): string[] {
  return tiers.flatMap(jobsOf).filter(({ variables }) => variables === undefined).flatMap(({ files }) =>
    files
  );
}

Deno.test("tiers: every test file runs as usual, outside the HTTP suite once", () => {
  const files = filesOf("test", "rest", "edge");
  assertEquals([...new Set(files)].sort(), testFilesBelow("").sort());
  const others = files.filter((file) => !file.startsWith("http/"));
  assertEquals(new Set(others).size, others.length);
});

Deno.test("tiers: edge has every HTTP test but the command that runs them from outside", () => {
  const files = [...filesOf("edge"), "http/acceptance.test.ts"];
  assertEquals(files.sort(), testFilesBelow("http/").sort());
});

Deno.test("tiers: no HTTP test runs twice on the embedded database", () => {
  const files = filesOf("test", "rest");
  assertEquals(new Set(files).size, files.length);
});
