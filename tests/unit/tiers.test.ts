import { assert, assertEquals } from "@std/assert";
import { countsOf, errorsOf } from "../support/runner/output.ts";
import { jobsOf, pathOf, type Tier } from "../support/runner/tiers.ts";

function testFilesBelow(folder: string): string[] {
  return [...Deno.readDirSync(pathOf(folder))].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return testFilesBelow(`${folder}${name}/`);
    return name.endsWith(".test.ts") ? [`${folder}${name}`] : [];
  });
}

const filesOf = (tier: Tier) => jobsOf(tier).flatMap(({ files }) => files);

Deno.test("tiers: test:all has every test file, and twice only what differs between the databases", () => {
  const files = filesOf("all");
  assertEquals([...new Set(files)].sort(), testFilesBelow("").sort());
  const deployed = jobsOf("all").filter(({ isDeployed }) => isDeployed).flatMap((job) => job.files);
  const twice = files.filter((file, index) => files.indexOf(file) !== index);
  assertEquals(new Set(twice).size, twice.length);
  for (const file of twice) {
    assert(deployed.includes(file));
    assert(Deno.readTextFileSync(pathOf(file)).includes("TEST_DATABASE"), file);
  }
});

Deno.test("tiers: test has each file once that is in no folder for slow ones", () => {
  assertEquals(filesOf("test").sort(), testFilesBelow("").filter((file) => !file.includes("_slow/")).sort());
});

Deno.test("tiers: as deployed runs every HTTP test but the command that runs them from outside", () => {
  const deployed = jobsOf("all").filter(({ isDeployed }) => isDeployed).flatMap(({ files }) => files);
  const http = [...testFilesBelow("http/"), ...testFilesBelow("http_slow/")];
  assertEquals(deployed.sort(), http.filter((file) => !file.endsWith("/acceptance.test.ts")).sort());
});

Deno.test("tiers: files in one process share a stack, and no file that has one of its own is among them", () => {
  for (const { name, files, isShared } of [...jobsOf("test"), ...jobsOf("all")]) {
    assert(files.length > 0, name);
    if (!isShared || name === "unit") continue;
    for (const file of files) assert(!Deno.readTextFileSync(pathOf(file)).includes("privateSuite("), file);
  }
});

const FAILED = [
  "running 2 tests from ./a.test.ts",
  "one ... ok (1ms)",
  "two ... FAILED (2ms)",
  "",
  " ERRORS ",
  "",
  "two => ./a.test.ts:3:6",
  "error: AssertionError: no",
  "",
  " FAILURES ",
  "",
  "two => ./a.test.ts:3:6",
  "",
  "FAILED | 1 passed (3 steps) | 1 failed (5ms)",
  "",
].join("\n");

Deno.test("the runner counts what passed and failed, and a process that ends without a word as a failure", () => {
  assertEquals(countsOf("ok | 12 passed (3 steps) | 0 failed (1s)\n", 0), { passed: 12, failed: 0 });
  assertEquals(countsOf("ok | 2 passed | 0 failed | 1 ignored (1s)\n", 1), { passed: 2, failed: 1 });
  assertEquals(countsOf(FAILED, 1), { passed: 1, failed: 1 });
  assertEquals(countsOf("", 137), { passed: 0, failed: 1 });
});

Deno.test("the runner repeats what failed, and only that", () => {
  assertEquals(errorsOf(FAILED).split("\n").filter((line) => line !== "").slice(1, 3), [
    "two => ./a.test.ts:3:6",
    "error: AssertionError: no",
  ]);
  assertEquals(errorsOf("ok | 1 passed | 0 failed"), "");
  const page = Array.from({ length: 500 }, (_, line) => `- row ${line}`).join("\n");
  const long = errorsOf(FAILED.replace("AssertionError: no", `no\n\nThe page:\n${page}`));
  assert(long.includes("error: no\n\nThe page:\n- row 0"));
  assert(!long.includes("row 99") && long.endsWith("two => ./a.test.ts:3:6"));
});
