/**
 * The real Supabase CLI deploys to an imitation of the management API on this machine: it uploads exactly the files
 * that the function needs, and they run on their own.
 */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { DEPLOYED_DENO } from "../../supabase/local/repository.ts";
import { eventually } from "../support/eventually.ts";
import { SUPABASE_CLI } from "../support/program.ts";
import { test } from "../support/stack/suite.ts";
import { REPOSITORY } from "../support/stack/command.ts";
import { figures } from "../support/runner/long.ts";

/** The platform's limit for a bundle: https://supabase.com/docs/guides/functions/limits */
const BUNDLE_BYTES_MAX = 20 * 1024 * 1024;
const ENTRY = "supabase/functions/api/index.ts";
const CONFIG = "supabase/functions/api/deno.json";
const LOCK = "supabase/functions/api/deno.lock";

interface Deployment {
  readonly slug: string | null;
  /** Maps the names of the uploaded files to their bytes. */
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  readonly metadata: Record<string, unknown>;
  readonly output: string;
  readonly code: number;
}

/** Copies the files that the CLI reads into a folder of its own; `change` may damage the copy. */
async function projectCopy(change: (directory: string) => Promise<void> = async () => {}): Promise<string> {
  const directory = await Deno.makeTempDir({ prefix: "filestore-deploy-" });
  const project = join(directory, "project");
  await copy(join(REPOSITORY, "supabase/functions"), join(project, "supabase/functions"));
  for (const file of ["supabase/config.toml", "deno.json"]) {
    await Deno.copyFile(join(REPOSITORY, file), join(project, file));
  }
  await change(project);
  return project;
}

async function copy(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copy(join(from, name), join(to, name));
    else await Deno.copyFile(join(from, name), join(to, name));
  }
}

/** Runs `supabase functions deploy api` in the folder and receives the upload. */
async function deploy(project: string): Promise<Deployment> {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  let metadata: Record<string, unknown> = {};
  let slug: string | null = null;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    if (request.method !== "POST") return Response.json([]);
    slug = new URL(request.url).searchParams.get("slug");
    for (const [name, part] of await request.formData()) {
      if (part instanceof File) files.set(part.name, new Uint8Array(await part.arrayBuffer()));
      else if (name === "metadata") metadata = JSON.parse(part);
    }
    const now = Date.now();
    const answer = {
      id: "1",
      slug,
      name: slug,
      status: "ACTIVE",
      version: 1,
      created_at: now,
      updated_at: now,
    };
    return Response.json({ ...answer, verify_jwt: false }, { status: 201 });
  });
  try {
    const address = `http://127.0.0.1:${server.addr.port}`;
    const profile = join(dirname(project), "profile.yaml");
    const settings = {
      name: "stand-in",
      api_url: address,
      dashboard_url: address,
      project_host: "stand-in.localhost",
    };
    await Deno.writeTextFile(
      profile,
      Object.entries(settings).map(([name, value]) => `${name}: ${value}\n`).join(""),
    );
    const { code, stdout, stderr } = await new Deno.Command("npx", {
      args: [
        ...["-y", SUPABASE_CLI, "functions", "deploy", "api", "--use-api", "--remote=abcdefghijklmnopqrst"],
        ...["--profile", profile, "--agent", "no", "--yes"],
      ],
      cwd: project,
      env: { SUPABASE_ACCESS_TOKEN: `sbp_${"0".repeat(40)}`, DO_NOT_TRACK: "1", NO_COLOR: "1" },
      stdin: "null",
    }).output();
    const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    return { slug, files, metadata, output, code };
  } finally {
    await server.shutdown();
  }
}

interface Graph {
  /** Local files, relative to the project. */
  readonly local: string[];
  /** Other imports, such as `npm:` and `https:`. */
  readonly remote: string[];
}

/** The import graph as Deno sees it. */
async function graphOf(project: string): Promise<Graph> {
  const { stdout, success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--config", CONFIG, "--no-lock", ENTRY],
    cwd: project,
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  const { modules }: { modules: { specifier: string; error?: string }[] } = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  for (const { specifier, error } of modules) assertEquals(error, undefined, specifier);
  const isLocal = (specifier: string) => specifier.startsWith("file:");
  const root = await Deno.realPath(project);
  return {
    local: modules.map(({ specifier }) => specifier).filter(isLocal)
      .map((specifier) => relative(root, fileURLToPath(specifier))).sort(),
    remote: modules.map(({ specifier }) => specifier).filter((specifier) => !isLocal(specifier)),
  };
}

async function withProject(
  change: ((directory: string) => Promise<void>) | undefined,
  use: (project: string) => Promise<void>,
): Promise<void> {
  const project = await projectCopy(change);
  try {
    await use(project);
  } finally {
    await Deno.remove(dirname(project), { recursive: true });
  }
}

/** Writes only the uploaded files into a folder. */
async function extract({ files }: Deployment, directory: string): Promise<void> {
  for (const [name, bytes] of files) {
    const file = join(directory, name);
    assert(!relative(directory, file).startsWith(".."), `${name} leaves the folder`);
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.writeFile(file, bytes);
  }
}

/** Starts the function as the platform does and requests its health. */
async function healthOf(directory: string): Promise<unknown> {
  // The platform decides on which port a function listens; so does this test.
  const port = await freePort();
  const boot = join(directory, "boot.ts");
  await Deno.writeTextFile(
    boot,
    `const serve = Deno.serve;\n` +
      `Object.defineProperty(Deno, "serve", { value: (handler: Deno.ServeHandler) => serve({ port: ${port} }, handler) });\n` +
      `await import(${JSON.stringify(pathToFileURL(join(directory, ENTRY)).href)});\n`,
  );
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--config", CONFIG, "--no-lock", "--no-check", boot],
    cwd: directory,
    env: {
      SUPABASE_URL: "http://127.0.0.1:9",
      SUPABASE_SECRET_KEYS: '{"default":"sb_secret_x"}',
      SUPABASE_PUBLISHABLE_KEYS: '{"default":"sb_publishable_x"}',
    },
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    let health: unknown;
    await eventually("the uploaded function answers", async () => {
      const response = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => null);
      health = await response?.json();
      return response !== null;
    });
    return health;
  } finally {
    child.kill("SIGKILL");
    await child.status;
  }
}

async function freePort(): Promise<number> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  await Promise.resolve(listener.close());
  return port;
}

test("supabase functions deploy uploads the import graph, all of it and nothing else, and that boots by itself", async () => {
  await withProject(undefined, async (project) => {
    const deployment = await deploy(project);
    assertEquals(deployment.code, 0, deployment.output);
    assert(!/warn/i.test(deployment.output.replaceAll(/^npm.*$/gm, "")), deployment.output);
    assertEquals(deployment.slug, "api");
    const graph = await graphOf(project);
    assertEquals([...deployment.files.keys()].sort(), [...graph.local, CONFIG, LOCK].sort());
    for (const [name, bytes] of deployment.files) {
      assertEquals(bytes, await Deno.readFile(join(project, name)), name);
    }
    const { entrypoint_path: entry, import_map_path: map, verify_jwt: verifies } = deployment.metadata;
    assertEquals([entry, map, verifies], [ENTRY, CONFIG, false]);
    // Everything that is not local comes from one registry.
    for (const specifier of graph.remote) assert(/^(npm:|node:)/.test(specifier), specifier);

    const alone = await Deno.makeTempDir({ prefix: "filestore-deployed-" });
    try {
      await extract(deployment, alone);
      const check = await new Deno.Command(Deno.execPath(), {
        args: ["check", "--config", CONFIG, "--no-lock", ENTRY],
        cwd: alone,
      }).output();
      assert(check.success, new TextDecoder().decode(check.stderr));
      const health = await healthOf(alone);
      assertEquals(Object(health).status, "ok");
    } finally {
      await Deno.remove(alone, { recursive: true });
    }
    const total = [...deployment.files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
    assert(total < BUNDLE_BYTES_MAX);
    figures(
      `${deployment.files.size} files uploaded, ${
        (total / 1024).toFixed(0)
      } KiB; they type-check and boot alone`,
    );
  });
});

/** Downloads the imports of the uploaded files into an empty cache, as a bundler does. Returns Deno's output. */
async function install(directory: string, ...options: string[]): Promise<{ success: boolean; said: string }> {
  const cache = await Deno.makeTempDir({ prefix: "filestore-packages-" });
  try {
    const { success, stderr } = await new Deno.Command("npx", {
      args: ["-y", `deno@${DEPLOYED_DENO}`, "cache", "--config", CONFIG, ...options, ENTRY],
      cwd: directory,
      env: { DENO_DIR: cache, DENO_TLS_CA_STORE: "mozilla,system", NO_COLOR: "1" },
    }).output();
    return { success, said: new TextDecoder().decode(stderr) };
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
}

test("the packages of the deployed function are those of its lock, by version and by content, and no others", async () => {
  await withProject(undefined, async (project) => {
    const alone = await Deno.makeTempDir({ prefix: "filestore-deployed-" });
    try {
      await extract(await deploy(project), alone);
      const whole = await install(alone, "--frozen");
      assert(whole.success, whole.said);
      const lock = await Deno.readTextFile(join(alone, LOCK));
      assertEquals(lock, await Deno.readTextFile(join(REPOSITORY, LOCK)));
      // An indirect dependency whose bytes differ from those in the lock file.
      const changed = lock.replace(/("iceberg-js@[^"]*": \{\s*"integrity": "sha512-)..../, "$1AAAA");
      assertNotEquals(changed, lock);
      await Deno.writeTextFile(join(alone, LOCK), changed);
      const other = await install(alone);
      assertEquals([other.success, /checksum|integrity/i.test(other.said)], [false, true], other.said);
    } finally {
      await Deno.remove(alone, { recursive: true });
    }
  });
});
