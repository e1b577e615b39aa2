/** GET /diff: what changed between two versions, as a unified diff that applies to the letter. */
import { assert } from "@std/assert";

import { applyUnifiedDiff } from "../support/content/unified_diff.ts";
import cases, { MIB, unrelated } from "../acceptance/diff.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

await acceptance(cases);

/** Processor time of the function for a diff at its bounds, on a slow machine; the platform allows 2 s of CPU. */
const SLOWEST_SECONDS = 6;

/** Texts at the bounds of what is compared. */
const HARD: readonly (readonly [string, string, string])[] = [
  ["unrelated, of short lines", unrelated(1, MIB, 6), unrelated(2, MIB, 6)],
  ["unrelated, of long lines", unrelated(3, MIB, 23), unrelated(4, MIB, 23)],
  ["unrelated, of two letters", unrelated(5, MIB, 1), unrelated(6, MIB, 1)],
  ["of line feeds and nothing", "\n".repeat(MIB), ""],
  ["of nothing and line feeds", "", "\n".repeat(MIB)],
  ["of line feeds and others", "\n".repeat(MIB), "x\n".repeat(MIB / 2)],
  ["of one line each", "x".repeat(MIB), "y".repeat(MIB)],
  ["in reverse", unrelated(7, MIB, 9), unrelated(7, MIB, 9).split("\n").reverse().join("\n")],
];

for (const [name, before, after] of HARD) {
  test(`diff: 1 MB texts ${name}: ends in time and is true`, async () => {
    const own = await files();
    await own.write("f.txt", before);
    await own.write("f.txt", after);
    const cpuBefore = service.functionCpuSeconds();
    const { diff, additions, deletions } = await own.diff("f.txt");
    const seconds = service.functionCpuSeconds() - cpuBefore;
    assert(seconds < SLOWEST_SECONDS, `${seconds} s of processor time`);
    assert(applyUnifiedDiff(before, diff) === after, "the diff does not make the other version");
    assert(additions > 0 || deletions > 0);
  });
}
