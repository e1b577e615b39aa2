/**
 * A command refuses an invalid command line before it acts, and shows the fault, the likely intention and the usage
 * line.
 */
import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { REPOSITORY, runCommand } from "../support/stack/command.ts";

/** Script, otherwise valid arguments, the mistyped option, the intended option. */
const MISTYPED: readonly (readonly [string, readonly string[], string, string])[] = [
  ["console.ts", ["--local"], "--githb", "--github"],
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

const KEYS = "deno task keys create | list | update | revoke | rotate | disconnect";
const SITE = "deno task console --url URL --key KEY [--github] [--issuer URL] [--out DIR]";
const PROJECTS =
  "deno task projects create | list | owner | rename | suspend | resume | delete | tier | makers | account-quota";

/** Script, arguments, the expected message. */
const REFUSED: readonly (readonly [string, readonly string[], string])[] = [
  ["keys.ts", [], `A command is missing. Usage: ${KEYS}`],
  ["keys.ts", ["creat"], `Unknown command 'creat'. Did you mean create? Usage: ${KEYS}`],
  ["keys.ts", ["frobnicate"], `Unknown command 'frobnicate'. Usage: ${KEYS}`],
  ["keys.ts", ["create"], "create requires --project. Usage: deno task keys create --project PROJECT"],
  [
    "keys.ts",
    ["disconnect"],
    "disconnect requires --project. Usage: deno task keys disconnect --project PROJECT",
  ],
  ["keys.ts", ["revoke"], "revoke requires ID. Usage: deno task keys revoke ID"],
  ["keys.ts", ["revoke", "x"], "'x' is not a key id. Usage: deno task keys revoke ID"],
  ["keys.ts", ["list", "x"], "Unexpected argument 'x'. Usage: deno task keys list [--project PROJECT]"],
  [
    "projects.ts",
    ["tier", "--max-file-bytes=1"],
    "tier requires PROJECT and TIER. Usage: deno task projects tier PROJECT TIER",
  ],
  ["projects.ts", ["ownr", "p"], `Unknown command 'ownr'. Did you mean owner? Usage: ${PROJECTS}`],
  [
    "projects.ts",
    ["account-quota", "1", "2"],
    "Unexpected argument '2'. Usage: deno task projects account-quota [BYTES]",
  ],
  [
    "console.ts",
    ["--url=https://ref.supabase.co", "--key=sb_publishable_x", "--issuer=https://example.com/files"],
    `--issuer must be the address of a host, like https://files.example.com, without a path. Usage: ${SITE}`,
  ],
  ["sweep.ts", ["now"], "Unexpected argument 'now'. Usage: deno task sweep"],
];

for (const [script, args, message] of REFUSED) {
  Deno.test(`${script} ${args.join(" ")}: ${message.split(" Usage: ")[0]}`, async () => {
    const { code, stdout, stderr } = await runCommand(script, ...args);
    assertEquals([code, stdout, stderr.trimEnd()], [1, "", `Error: ${message}`]);
  });
}

Deno.test("every command prints its help and does nothing else, whatever its other options", async () => {
  for (const script of new Set(MISTYPED.map(([script]) => script))) {
    const { code, stdout, stderr } = await runCommand(script, "--unknown", "--help");
    assertEquals([code, stdout.startsWith("Usage: deno task "), stderr], [0, true, ""]);
  }
});

Deno.test("every command is among these", async () => {
  const folder = join(REPOSITORY, "supabase/local/cli");
  const commands: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (/^await run\(/m.test(await Deno.readTextFile(join(folder, name)))) commands.push(name);
  }
  assertEquals(commands.toSorted(), [...new Set(MISTYPED.map(([script]) => script))]);
});
