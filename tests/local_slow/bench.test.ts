/** The benchmarks run: every group once, at a hundredth of its size, and those of a deployment from outside. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { z } from "zod";
import { startBenchStack } from "../bench/bench_stack.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { REPOSITORY } from "../support/stack/command.ts";

const figures = z.object({ rows: z.array(z.object({ group: z.string(), value: z.number() })) });

/** The output of `deno task bench --brief`. */
async function bench(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--config=tests/deno.jsonc", "tests/bench/run.ts", "--brief", ...args],
    cwd: REPOSITORY,
    env,
    stdin: "null",
  }).output();
  const [output, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assertEquals(code, 0, `${output}\n${errors}`);
  return output ?? "";
}

Deno.test("every group of the benchmarks runs, and measures numbers", () =>
  withScratchDirectory(async (directory) => {
    const file = join(directory, "bench.json");
    await bench(["--json", file]);
    const { rows } = figures.parse(JSON.parse(await Deno.readTextFile(file)));
    assert(new Set(rows.map(({ group }) => group)).size > 10);
  }));

Deno.test("a deployment is measured from outside, with its secret key, and is left as it was", async () => {
  const stack = await startBenchStack(undefined);
  try {
    const projects = () =>
      stack.sql("select count(*)::integer as count from filestore.projects where deleted_at is null");
    const before = await projects();
    const args = ["--supabase", stack.supabaseUrl, "--bare", stack.bareFunctionUrl];
    const output = await bench(args, { SUPABASE_SECRET_KEY: stack.secretKey });
    assert(output.includes("append of 1 KB"), output);
    assertEquals(await projects(), before);
  } finally {
    await stack.stop();
  }
});
