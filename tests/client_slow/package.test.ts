/** `deno task client`: the npm package installs without dependencies or scripts, runs, and has types. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { VERSION } from "../../supabase/functions/api/version.ts";
import { type Ended, runPackage } from "../support/node_package.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { REPOSITORY } from "../support/stack/command.ts";

async function npm(cwd: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("npm", { args, cwd, env: { NO_COLOR: "1" } })
    .output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim();
}

const PROGRAM = `import { type Change, Filestore, FilestoreError, VERSION } from "filestore";
const store = new Filestore({ url: "http://127.0.0.1:1", key: "oa_x" });
const read = await store.read("a");
const facts: [string, number] = [VERSION + read.content, read.version];
for await (const { path } of store.list("notes", { recursive: true })) facts[0] += path;
// @ts-expect-error: there is no such field.
read.none;
// @ts-expect-error: there is no such option.
await store.write("a", "b", { ifVersoin: 1 });
export const last: Change | FilestoreError | undefined = undefined;
`;

const PROGRAM_OF_REQUIRE = `import filestore = require("filestore");
export const store: filestore.Filestore = new filestore.Filestore({ url: "http://127.0.0.1:1", key: "oa_x" });
`;

Deno.test("the package installs, runs and type-checks; publint and attw find nothing", async () => {
  await withScratchDirectory(async (directory) => {
    const source = join(directory, "package");
    const task = ["run", "-A", join(REPOSITORY, "supabase/client/build/package.ts"), "--out", source];
    assert((await new Deno.Command(Deno.execPath(), { args: task }).output()).success);
    const { dependencies, scripts, bin, version } = JSON.parse(
      await Deno.readTextFile(join(source, "package.json")),
    );
    assertEquals(version, VERSION);
    assertEquals([dependencies, scripts, bin], [undefined, undefined, { filestore: "filestore.mjs" }]);
    const [packed = ""] = (await npm(source, "pack", "--silent", "--pack-destination", directory)).split(
      "\n",
    );
    const file = join(directory, packed);

    const program = join(directory, "program");
    await Deno.mkdir(program);
    await Deno.writeTextFile(join(program, "package.json"), '{"type":"module","private":true}');
    await npm(program, "install", "--silent", "--offline", file);
    assertEquals(
      [...Deno.readDirSync(join(program, "node_modules"))].length,
      3,
      "itself, .bin and npm's list",
    );
    assert(
      (await npm(program, "exec", "--offline", "--", "filestore", "--help")).startsWith("Usage: filestore"),
    );
    assertEquals(await npm(program, "exec", "--offline", "--", "filestore", "--version"), VERSION);
    await Deno.writeTextFile(join(program, "program.ts"), PROGRAM);
    await Deno.writeTextFile(join(program, "program.cts"), PROGRAM_OF_REQUIRE);
    const options = "--noEmit --strict --module nodenext --target es2022 --lib es2023,dom,dom.asynciterable";
    success(
      await runPackage("typescript", "tsc", [...options.split(" "), "program.ts", "program.cts"], program),
    );

    success(await runPackage("publint", "publint", ["--strict", file], directory));
    success(await runPackage("@arethetypeswrong/cli", "attw", [file], directory));
  });
});

function success({ code, stdout, stderr }: Ended): void {
  assertEquals(code, 0, stdout + stderr);
}
