/** The time that the function takes to start as a bundle, as it is deployed, and the size of the bundle. */
import { basename, join } from "node:path";
import { DEPLOYED_DENO, FUNCTION_ENTRY, IMPORT_MAP } from "../../supabase/local/repository.ts";
import { type Bench, fewer } from "./bench.ts";
import { EMPTY_FUNCTION_WITH_IMPORTS } from "./bench_stack.ts";
import { MEGABYTE } from "./contents.ts";
import { atMost } from "./report.ts";

const ESBUILD = "esbuild@0.25.12";
/** Some packages call `require` for modules of Node. */
const WITH_REQUIRE =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

export async function startUp({ stack, rounds, report }: Bench): Promise<void> {
  report.group("Start and size of the function");
  const directory = await Deno.makeTempDir({ prefix: "filestore-bundle-" });
  try {
    await installPackages(directory);
    const empty = await bundle(directory, EMPTY_FUNCTION_WITH_IMPORTS);
    const service = await bundle(directory, FUNCTION_ENTRY);
    const starts = {
      empty: [empty.entry, "/health"],
      health: [service.entry, "/health"],
      // Refused without a key, after its route was loaded.
      read: [service.entry, "/files/a"],
    } as const;
    const names = ["empty", "health", "read"] as const;
    const times: Record<typeof names[number], number[]> = { empty: [], health: [], read: [] };
    // The first start fills the caches of compiled code, as a deployment's first start does.
    for (let round = 0; round <= fewer(rounds, 2); round++) {
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        const [entry, path] = starts[name];
        const milliseconds = await millisecondsToFirstAnswer(stack, entry, path);
        if (round > 0) times[name].push(milliseconds);
      }
    }
    const baseline = "an empty function that also imports supabase-js, hono and zod";
    report.times("cold start, spawn to first answer", times.health, baseline, times.empty, atMost(1.15));
    report.times("... to the first answer about a file", times.read, baseline, times.empty, atMost(1.15));
    report.value("bundle, esbuild, minified", service.bytes / MEGABYTE, "MB", atMost(2, "value"));
    report.value("bundle, gzip", service.compressedBytes / MEGABYTE, "MB", null);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** From the start of a process to its answer to the first request. */
async function millisecondsToFirstAnswer(
  stack: Bench["stack"],
  entry: string,
  path: string,
): Promise<number> {
  const started = performance.now();
  const own = await stack.ownFunction({ entry, denoVersion: DEPLOYED_DENO });
  try {
    const response = await fetch(own.baseUrl + path);
    await response.body?.cancel();
    return performance.now() - started;
  } finally {
    await own.stop();
  }
}

/** Installs the packages that the function imports, and esbuild, from npm. */
async function installPackages(directory: string): Promise<void> {
  const { imports } = JSON.parse(await Deno.readTextFile(IMPORT_MAP));
  const packages = Object.values<string>(imports).map((specifier) => specifier.replace(/^npm:/, ""));
  await Deno.writeTextFile(join(directory, "package.json"), '{"private":true}');
  await run("npm", ["install", "--silent", "--no-audit", "--no-fund", ESBUILD, ...packages], directory);
}

/**
 * Bundles a function. What it imports dynamically is in files of its own, as it is a module of its own in a deployed
 * function.
 */
async function bundle(
  directory: string,
  source: string,
): Promise<{ entry: string; bytes: number; compressedBytes: number }> {
  const name = basename(source, ".ts");
  const outdir = join(directory, name);
  await run(
    join(directory, "node_modules", ".bin", "esbuild"),
    [
      source,
      "--bundle",
      "--splitting",
      "--minify",
      "--format=esm",
      "--platform=node",
      "--target=esnext",
      "--main-fields=module,main",
      `--banner:js=${WITH_REQUIRE}`,
      `--outdir=${outdir}`,
    ],
    directory,
    { NODE_PATH: join(directory, "node_modules") },
  );
  const files = await Promise.all(
    [...Deno.readDirSync(outdir)].map((file) => Deno.readFile(join(outdir, file.name))),
  );
  const text = new Blob(files);
  const gzipped = new Response(text.stream().pipeThrough(new CompressionStream("gzip")));
  return {
    entry: join(outdir, `${name}.js`),
    bytes: text.size,
    compressedBytes: (await gzipped.arrayBuffer()).byteLength,
  };
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
