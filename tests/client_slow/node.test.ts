/**
 * The client as a sandbox gets it: one file, from beside the console, on the Node of this machine and on a newer one. The
 * library and the command do there what they do on Deno.
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { bundle } from "../../supabase/local/console/bundle.ts";
import { writeSite } from "../../supabase/local/console/site.ts";
import { readDocument } from "../support/content/documents.ts";
import { commandCases } from "../support/kit/command_cases.ts";
import { CommandLine, type Started } from "../support/kit/command_line.ts";
import { LIBRARY_CASES } from "../support/kit/library_cases.ts";
import { packagedNode } from "../support/node_package.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { REPOSITORY } from "../support/stack/command.ts";
import { suite } from "../support/stack/suite.ts";

/** The largest size of the one file. */
const BYTES_MAX = 250_000;

const stack = await suite();
const { service, test } = stack;

const folder = await Deno.makeTempDir();
const oneFile = join(folder, "filestore.mjs");
Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));

const served = await fetch(`${service.stack.supabaseUrl}/console/filestore.mjs`);
const text = await served.text();
await Deno.writeTextFile(oneFile, text);

Deno.test("the one file is served beside the console before that is built, is small, and names no machine's path", () => {
  assertEquals([served.status, served.headers.get("content-type")], [200, "text/javascript; charset=utf-8"]);
  assert(new TextEncoder().encode(text).length <= BYTES_MAX);
  assert(!text.includes(REPOSITORY) && !text.includes("/.cache/"));
});

Deno.test("a built console has the one file beside it", async () => {
  await withScratchDirectory(async (directory) => {
    const site = join(directory, "site");
    const settings = {
      supabaseUrl: "https://ref.supabase.co",
      publishableKey: "sb_publishable_x",
      github: false,
    };
    await writeSite(await bundle(), site, settings);
    assertEquals(await Deno.readTextFile(join(site, "filestore.mjs")), text);
  });
});

const NODES: readonly (readonly [name: string, node: Started])[] = [
  ["Node of this machine", ["node"]],
  ["Node 22", [await packagedNode()]],
];

for (const [name, node] of NODES) {
  commandCases(name, [...node, oneFile], stack);
  for (const [index, [what]] of LIBRARY_CASES.entries()) {
    test(`${name}, library: ${what}`, async (own) => {
      const env = { FILESTORE_URL: service.baseUrl, FILESTORE_KEY: own.key };
      const line = new CommandLine([...node, await caseRunner()], { cwd: folder, env });
      assertEquals(await line.run(String(index)), { code: 0, stdout: "done\n", stderr: "" });
    });
  }
}

test("the program of README runs with the one file alone", async (own) => {
  const { blocks } = await readDocument("README.md");
  const program = join(folder, "readme.mjs");
  await Deno.writeTextFile(program, blocks.find(({ language }) => language === "js")?.text ?? "");
  const env = { FILESTORE_URL: service.baseUrl, FILESTORE_KEY: own.key };
  const { code, stdout } = await new CommandLine(["node", program], { cwd: folder, env }).run();
  assertEquals([code, stdout], [0, "- met the team\n\n"]);
});

let runner: Promise<string> | undefined;

/** A script for Node that runs one of the library's cases with the one file. */
function caseRunner(): Promise<string> {
  return runner ??= (async () => {
    const cases = join(REPOSITORY, "tests/support/kit/library_cases.ts");
    const bundled = join(folder, "cases.mjs");
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: ["bundle", "--quiet", "--no-config", "--output", bundled, cases],
    }).output();
    assert(success);
    const script = join(folder, "run_case.mjs");
    await Deno.writeTextFile(
      script,
      `import { deepStrictEqual as equal } from "node:assert";
import { Filestore, FilestoreError } from "./filestore.mjs";
import { LIBRARY_CASES } from "./cases.mjs";
const { FILESTORE_URL: url, FILESTORE_KEY: key } = process.env;
await LIBRARY_CASES[Number(process.argv[2])][1]({ Filestore, FilestoreError, url, key, equal });
console.log("done");
`,
    );
    return script;
  })();
}
