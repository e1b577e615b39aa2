/**
 * The tests can fail: each mutant is applied to a copy of the working tree, and its test must fail there. The short
 * form tries two mutants.
 */
import { assert } from "@std/assert";
import { dirname, join } from "node:path";
import { type Mutant, MUTANTS } from "../mutants/mutants.ts";
import { figures, rounds } from "../support/runner/long.ts";
import { listMigrations } from "../support/postgres/postgres_hosted.ts";
import { scriptOf } from "../support/postgres/schemas.ts";
import { REPOSITORY } from "../support/stack/command.ts";

const SHORT = 2;
/** A test that waits for something that the mutant prevents is killed, and counts as failed. */
const TIMEOUT_MILLISECONDS = 5 * 60_000;
/** Not copied: the history, and data that tests and commands have stored. */
const LEFT_OUT = [".git", ".temp", "node_modules"];

const copy = await Deno.makeTempDir({ prefix: "filestore-mutants-" });
await copyTree(REPOSITORY, copy);
// Mutants are of the schemas: in the copy they are the one migration, in the place of those that make the same database.
const [initial = "", ...later] = listMigrations();
for (const name of later) await Deno.remove(join(copy, "supabase/migrations", name));
await generate();
let killed = 0;

const chosen = MUTANTS.filter((_, index) =>
  index % Math.ceil(MUTANTS.length / rounds(SHORT, MUTANTS.length)) === 0
);
for (const mutant of chosen) {
  Deno.test(`mutant: ${mutant.promise}`, async () => {
    const file = join(copy, mutant.file);
    const original = await Deno.readTextFile(file);
    try {
      await Deno.writeTextFile(file, original.replace(mutant.text, () => mutant.replacement));
      if (mutant.file.endsWith(".sql")) await generate();
      const output = await run(mutant);
      // A file that does not load, or a schema that does not install, does not count as a failed test.
      assert(!output.includes("(uncaught error)"), `not a mutant:\n${output}`);
      assert(output === "" || / [1-9]\d* failed/.test(output), `it survives ${mutant.test}:\n${output}`);
      killed++;
    } finally {
      await Deno.writeTextFile(file, original);
      if (mutant.file.endsWith(".sql")) await generate();
    }
  });
}

Deno.test.afterAll(async () => {
  figures(`mutants: ${killed} of ${chosen.length} killed`);
  await Deno.remove(copy, { recursive: true });
});

/** Writes the migration from the schemas. */
async function generate(): Promise<void> {
  const script = await scriptOf(join(copy, "supabase/schemas"));
  await Deno.writeTextFile(join(copy, "supabase/migrations", initial), script);
}

/** The output of the test; empty if it took too long. */
async function run({ test, name }: Mutant): Promise<string> {
  const filter = name === undefined ? [] : ["--filter", name];
  return await deno(["test", "-A", "--no-check", "--config=tests/deno.jsonc", ...filter, test]);
}

async function deno(args: string[]): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS);
  const env = { NO_COLOR: "1", TEST_LONG: "", TEST_BRIEF: "1" };
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: copy,
    env,
    stdin: "null",
    signal,
  })
    .output();
  if (signal.aborted) return "";
  return [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
}

async function copyTree(from: string, to: string): Promise<void> {
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (LEFT_OUT.includes(name)) continue;
    const [source, target] = [join(from, name), join(to, name)];
    if (isDirectory) await copyTree(source, target);
    else {
      await Deno.mkdir(dirname(target), { recursive: true });
      await Deno.copyFile(source, target);
    }
  }
}
