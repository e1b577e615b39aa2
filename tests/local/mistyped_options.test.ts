/** Each command refuses a mistyped option before it does anything, and names the one that was meant. */
import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { REPOSITORY, runCommand } from "../support/stack/command.ts";

/** Script, arguments that would do something, the mistyped option, what was meant. */
const MISTYPED: readonly (readonly [string, readonly string[], string, string])[] = [
  ["console.ts", ["--local"], "--githb", "--github"],
  ["files.ts", ["import", "x"], "--overwite", "--overwrite"],
  ["keys.ts", ["create", "--project", "p"], "--path-prefix=docs", "--prefix"],
  ["keys.ts", ["create", "--project", "p"], "--expries", "--expires"],
  ["projects.ts", ["delete", "p", "--confirm", "p"], "--ownr", "--owner"],
  ["start.ts", [], "--prot", "--port"],
  ["sweep.ts", [], "--jsno", "--json"],
  ["verify.ts", ["--repair"], "--porject", "--project"],
];

for (const [script, args, mistyped, meant] of MISTYPED) {
  Deno.test(`${script} refuses ${mistyped} and asks whether ${meant} is meant`, async () => {
    const { code, stdout, stderr } = await runCommand(script, ...args, mistyped);
    assertEquals([code, stdout], [1, ""]);
    const [problem] = stderr.split(" Usage: ");
    assertEquals(problem, `Error: Unknown option '${mistyped.split("=")[0]}'. Did you mean ${meant}?`);
  });
}

Deno.test("every command is among these", async () => {
  const folder = join(REPOSITORY, "supabase/local/cli");
  const commands: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (/^await run\(/m.test(await Deno.readTextFile(join(folder, name)))) commands.push(name);
  }
  assertEquals(commands.toSorted(), [...new Set(MISTYPED.map(([script]) => script))]);
});
