/**
 * Packages and where they are downloaded: versions are in the import maps, and a start downloads only packages that it runs.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { dirname, join } from "node:path";
import { filesBelow } from "../support/files_below.ts";
import { reduced } from "../../supabase/local/locks.ts";
import {
  ACCEPTANCE_CONFIG,
  CLIENT_CONFIG,
  CONSOLE_CONFIG,
  DENO_CONFIG,
  FUNCTION_CONFIG,
  FUNCTION_ENTRY,
  IMPORT_MAP,
  LOCAL_CONFIG,
  MODEL_CONFIG,
  NPX_CONFIG,
  TESTS_CONFIG,
} from "../../supabase/local/repository.ts";
import { importsOf } from "../support/import_map.ts";

const CONFIGS = [CLIENT_CONFIG, LOCAL_CONFIG, MODEL_CONFIG, CONSOLE_CONFIG, TESTS_CONFIG, ACCEPTANCE_CONFIG];
const MAPS = [IMPORT_MAP, FUNCTION_CONFIG, ...CONFIGS, NPX_CONFIG];

/**
 * All packages that `deno task start` downloads, for the stack and the function. A longer list makes the first start slower.
 */
const OF_A_START = [
  ..."@electric-sql/pglite @modelcontextprotocol/core @modelcontextprotocol/server".split(" "),
  ..."@opentelemetry/api @pgsql/quotes @pgsql/types @stablelib/base64 @supabase/auth-js @supabase/functions-js"
    .split(" "),
  ..."@supabase/lite @supabase/phoenix @supabase/postgrest-js @supabase/realtime-js".split(" "),
  ..."@supabase/storage-js @supabase/supabase-js bcryptjs client-zip commander fast-sha256 hono iceberg-js ignore jose"
    .split(
      " ",
    ),
  ..."jsonv-ts kysely kysely-postgres-js pgsql-deparser postgres standardwebhooks tslib uuid zod".split(" "),
];

interface Info {
  readonly npmPackages: Readonly<Record<string, { readonly name: string; readonly version: string }>>;
}

/** Returns `name@version` of the packages that Deno resolves, and so downloads, for a file. */
async function resolvedFor(config: string, file: string): Promise<string[]> {
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--config", config, file],
    env: { NO_COLOR: "1" },
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  const { npmPackages }: Info = JSON.parse(new TextDecoder().decode(stdout));
  return Object.values(npmPackages).map(({ name, version }) => `${name}@${version}`);
}

const lockOf = (config: string) => JSON.parse(Deno.readTextFileSync(join(dirname(config), "deno.lock")));

const nameOf = (id: string) => id.slice(0, id.lastIndexOf("@"));

Deno.test("a start resolves 32 packages, and no other version of one for the function", async () => {
  const ofStack = await resolvedFor(LOCAL_CONFIG, join(dirname(LOCAL_CONFIG), "cli/start.ts"));
  const ofFunction = await resolvedFor(DENO_CONFIG, FUNCTION_ENTRY);
  const all = [...new Set([...ofStack, ...ofFunction])];
  assertEquals(all.map(nameOf).sort(), OF_A_START);
  assertEquals(OF_A_START.length, 32);
});

Deno.test("the lock of the local stack names nothing that the stack never loads", () => {
  const lock = lockOf(LOCAL_CONFIG);
  assertEquals(lock, reduced(lock));
});

Deno.test("the acceptance suite downloads what it imports and nothing else", () => {
  const downloaded = Object.keys(lockOf(ACCEPTANCE_CONFIG).npm);
  assertEquals(downloaded.map(nameOf), ["deno-std", "fast-check", "pure-rand", "zod"]);
});

Deno.test("each package has an exact version, and the same one in every import map that names it", () => {
  const versions = new Map<string, string>();
  for (const map of MAPS) {
    for (const [name, specifier] of Object.entries(importsOf(map))) {
      assertMatch(specifier, /^npm:\/?(?:@[\w-]+\/)?[\w-]+@\d+\.\d+\.\d+(?:-[\w.]+)?(?:\/.*)?$/);
      assertEquals(specifier, versions.get(name) ?? specifier, `${name} in ${map}`);
      versions.set(name, specifier);
    }
  }
});

Deno.test("each lock has all that its import map names: `deno outdated` refuses one that has not", () => {
  for (const config of [DENO_CONFIG, ...CONFIGS, NPX_CONFIG]) {
    const held = lockOf(config).specifiers;
    for (const specifier of Object.values(importsOf(config === DENO_CONFIG ? IMPORT_MAP : config))) {
      const [named = ""] = /^(?:@[\w-]+\/)?[^/]+/.exec(specifier.replace(/^npm:\/?/, "")) ?? [];
      assert(`npm:${named}` in held, `${named} in the lock of ${config}`);
    }
  }
});

Deno.test("the types of everything are checked as strictly", async () => {
  const { compilerOptions } = JSON.parse(await Deno.readTextFile(DENO_CONFIG));
  for (const config of CONFIGS) {
    const text = (await Deno.readTextFile(config)).replaceAll(/^\s*\/\/.*$/gm, "");
    // Only these options may differ; they are for the DOM and JSX.
    const { lib: _lib, jsx: _jsx, jsxImportSource: _source, ...strictness } =
      JSON.parse(text).compilerOptions;
    assertEquals(strictness, compilerOptions, config);
  }
});

Deno.test("no source names a version of a package", () => {
  const named = [
    ...filesBelow(join(dirname(DENO_CONFIG), "supabase"), /\.tsx?$/, [".temp"]),
    ...filesBelow(dirname(TESTS_CONFIG), /\.tsx?$/),
  ]
    .filter((file) => /["'`]npm:\/?(?:@[\w-]+\/)?[\w-]+@\d/.test(Deno.readTextFileSync(file)));
  assertEquals(named, []);
});
