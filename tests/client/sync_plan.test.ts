/** What a sync does with one path: nothing is overwritten or deleted but what the other side is known to have. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { copyName, isSuspicious, type Mode, type Step, stepOf } from "../../supabase/client/sync/plan.ts";
import { SEED } from "../support/random.ts";

const base = { id: "f", version: 3, sha256: "old" };
const at = (version: number, id = "f") => ({ id, version, size: 1 });

const CASES: readonly (readonly [what: string, step: Step, ...Parameters<typeof stepOf>])[] = [
  ["neither side has it", "none", null, null, null, "both"],
  ["both are as they were", "none", "old", at(3), base, "both"],
  ["new on the disk", "upload", "new", null, null, "both"],
  ["new in the service", "download", null, at(1), null, "both"],
  ["changed on the disk", "upload", "new", at(3), base, "both"],
  ["changed in the service", "download", "old", at(4), base, "both"],
  ["deleted on the disk", "deleteRemote", null, at(3), base, "both"],
  ["deleted in the service", "deleteLocal", "old", null, base, "both"],
  ["deleted on both sides", "forget", null, null, base, "both"],
  ["deleted on the disk, changed in the service: it comes back", "download", null, at(4), base, "both"],
  ["changed on the disk, deleted in the service: written again", "upload", "new", null, base, "both"],
  ["changed on both sides", "compare", "new", at(4), base, "both"],
  ["there without a base on both sides", "compare", "new", at(1), null, "both"],
  ["purged in the service, and created again", "download", "old", at(3, "other"), base, "both"],
  ["--pull sends nothing", "keepLocal", "new", at(3), base, "pull"],
  ["--pull deletes nothing in the service", "keepLocal", null, at(3), base, "pull"],
  ["--push changes nothing on the disk", "keepRemote", "old", at(4), base, "push"],
  ["--push deletes nothing on the disk", "keepRemote", "old", null, base, "push"],
];
for (const [what, step, ...states] of CASES) {
  Deno.test(`stepOf(): ${what}: ${step}`, () => assertEquals(stepOf(...states), step));
}

Deno.test("stepOf() gives up no content that only one side has, whatever the states", () => {
  const content = fc.constantFrom(null, "old", "new");
  const remote = fc.constantFrom(null, at(3), at(4), at(3, "other"));
  const known = fc.constantFrom(null, base);
  const mode = fc.constantFrom<Mode>("both", "pull", "push");
  fc.assert(
    fc.property(content, remote, known, mode, (local, there, before, mode) => {
      const step = stepOf(local, there, before, mode);
      const hasLocal = local !== null && local !== before?.sha256;
      const hasRemote = there !== null && (there.version !== before?.version || there.id !== before.id);
      if (hasLocal) assert(!["download", "deleteLocal", "forget"].includes(step), step);
      if (hasRemote) assert(!["upload", "deleteRemote", "forget"].includes(step), step);
      if (mode === "pull") assert(!["upload", "deleteRemote"].includes(step), step);
      if (mode === "push") assert(!["download", "deleteLocal"].includes(step), step);
    }),
    { seed: SEED, numRuns: 500 },
  );
});

for (
  const [path, taken, copy] of [
    ["notes/plan.md", [], "notes/plan (conflict 2026-11-24 host).md"],
    ["Makefile", [], "Makefile (conflict 2026-11-24 host)"],
    ["d.x/.env", [], "d.x/.env (conflict 2026-11-24 host)"],
    ["a.tar.gz", ["a.tar (conflict 2026-11-24 host).gz"], "a.tar (conflict 2026-11-24 host 2).gz"],
  ] as const
) {
  Deno.test(`copyName() of ${path} is ${copy}`, () => {
    const isTaken = (name: string) => taken.some((one) => one === name);
    assertEquals(copyName(path, "2026-11-24", "host", isTaken), copy);
  });
}

Deno.test("copyName() cuts a name so that it has at most 255 bytes, and a path so that it has at most 1,024", () => {
  const folders = `${"d".repeat(200)}/`.repeat(4);
  for (
    const [path, copy] of [
      [`d/${"é".repeat(126)}.md`, `d/${"é".repeat(112)} (conflict 2026-11-24 host).md`],
      [`.${"n".repeat(254)}`, `.${"n".repeat(227)} (conflict 2026-11-24 host)`],
      [`a.${"n".repeat(253)}`, `a.${"n".repeat(226)} (conflict 2026-11-24 host)`],
      [`${folders}${"n".repeat(220)}`, `${folders}${"n".repeat(193)} (conflict 2026-11-24 host)`],
    ] as const
  ) {
    assertEquals(copyName(path, "2026-11-24", "host", () => false), copy);
  }
});

Deno.test("isSuspicious() is more than half of 20 or more files", () => {
  for (
    const [deletions, known, expected] of [[19, 19, false], [10, 20, false], [11, 20, true], [
      20,
      20,
      true,
    ]] as const
  ) {
    assertEquals(isSuspicious(deletions, known), expected);
  }
});
