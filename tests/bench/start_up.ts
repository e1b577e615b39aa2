/** The time that the function takes to start, and its size as a bundle. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { IMPORT_MAP } from "../../supabase/local/repository.ts";
import { type Bench, fewer } from "./bench.ts";
import { EMPTY_FUNCTION_WITH_IMPORTS, SERVICE_FUNCTION } from "./bench_stack.ts";
import { MEGABYTE } from "./contents.ts";
import { atMost } from "./report.ts";

const ESBUILD = "esbuild@0.25.12";
/** Packages that the function imports. */
const IMPORTED = ["@supabase/supabase-js", "hono", "zod"];

export async function startUp({ stack, rounds, report }: Bench): Promise<void> {
  report.group("Start and size of the function");
  const times: { empty: number[]; service: number[] } = { empty: [], service: [] };
  const starts = fewer(rounds, 5);
  // The first start fills the caches of compiled code, as a deployment's first start does.
  for (let round = 0; round <= starts; round++) {
    const empty = await millisecondsToFirstAnswer(stack, EMPTY_FUNCTION_WITH_IMPORTS);
    const service = await millisecondsToFirstAnswer(stack, SERVICE_FUNCTION);
    if (round > 0) times.empty.push(empty);
    if (round > 0) times.service.push(service);
  }
  report.times(
    "cold start, spawn to first answer",
    times.service,
    "an empty function that also imports supabase-js, hono and zod",
    times.empty,
    atMost(1.5),
  );
  const { minified, compressed } = await bundledSize();
  report.value("bundle, esbuild, minified", minified / MEGABYTE, "MB", atMost(2, "value"));
  report.value("bundle, gzip", compressed / MEGABYTE, "MB", null);
}

/** From the start of a process to its answer to the first request. */
async function millisecondsToFirstAnswer(stack: Bench["stack"], entry: string): Promise<number> {
  const started = performance.now();
  const own = await stack.ownFunction(entry);
  try {
    const response = await fetch(`${own.baseUrl}/health`);
    await response.body?.cancel();
    return performance.now() - started;
  } finally {
    await own.stop();
  }
}

/** Bytes of the function and all of its imports in one file, bundled by esbuild from npm. */
async function bundledSize(): Promise<{ minified: number; compressed: number }> {
  const directory = await Deno.makeTempDir({ prefix: "filestore-bundle-" });
  try {
    const { imports } = JSON.parse(await Deno.readTextFile(IMPORT_MAP));
    const packages = IMPORTED.map((name) => String(imports[name]).replace(/^npm:/, ""));
    await Deno.writeTextFile(join(directory, "package.json"), '{"private":true}');
    await run("npm", ["install", "--silent", "--no-audit", "--no-fund", ESBUILD, ...packages], directory);
    const bundle = join(directory, "bundle.js");
    await run(
      join(directory, "node_modules", ".bin", "esbuild"),
      [
        fileURLToPath(new URL(SERVICE_FUNCTION, "file://")),
        "--bundle",
        "--minify",
        "--format=esm",
        "--platform=node",
        "--target=esnext",
        "--main-fields=module,main",
        `--outfile=${bundle}`,
      ],
      directory,
      { NODE_PATH: join(directory, "node_modules") },
    );
    const bytes = await Deno.readFile(bundle);
    const gzipped = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
    return { minified: bytes.length, compressed: (await new Response(gzipped).arrayBuffer()).byteLength };
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function run(
  command: string,
  args: string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args, cwd, env }).output();
  if (!success) throw new Error(`${command} fails: ${new TextDecoder().decode(stderr).slice(0, 2000)}`);
}
