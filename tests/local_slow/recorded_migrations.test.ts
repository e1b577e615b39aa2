/** A data folder of an earlier release is upgraded, after a copy of it; one of a later release is refused and left unchanged. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { basename, dirname, join } from "node:path";
import { VERSION } from "../../supabase/functions/api/version.ts";
import { listMigrations } from "../../supabase/local/database/migrations.ts";
import { MIGRATIONS_DIRECTORY } from "../../supabase/local/repository.ts";
import { type Stack, type StackOptions, startStack } from "../../supabase/local/stack/stack.ts";
import { StartupError } from "../../supabase/local/startup_error.ts";
import { apiAt } from "../support/client/api.ts";
import { runCommand } from "../support/stack/command.ts";
import { freshDataDirectory } from "../support/stack/fresh_data_directory.ts";
import { copyDirectory } from "../support/stack/templates.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { createHostedLike, withConnection } from "../support/postgres/postgres_hosted.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";

const VERSIONS = (await listMigrations(MIGRATIONS_DIRECTORY)).map(({ version }) => version);
/** The migration of a release after this one. */
const NEXT = "29990101000000";
const FILES: Readonly<Record<string, string>> = { "notes/a.md": "# One\n", "big.txt": "x".repeat(3_000_000) };
const ACCOUNT = { email: "person@example.com", password: "a long password" };

const OTHER =
  "was made by another version of this service, which this version cannot read; start it with that " +
  "version, or choose another folder with --data.";
const UNREADABLE =
  "has no readable migrations.json, so it is not known which release it belongs to; take that file " +
  "from a backup, or choose another folder with --data.";

/** Other contents of a folder's record of migrations than this version's, with the refusals; undefined: no record. */
const RECORDS: readonly (readonly [string | undefined, string])[] = [
  [JSON.stringify({ versions: ["20261120000000", "20261120000100"] }), OTHER],
  [JSON.stringify({ versions: [...VERSIONS.slice(1), NEXT], release: "2.0.0" }), OTHER],
  [
    JSON.stringify({ versions: [...VERSIONS, NEXT], release: "9.8.7" }),
    `was made by release 9.8.7 or later, and this is release ${VERSION}; start it with that release, or choose another ` +
    "folder with --data.",
  ],
  [JSON.stringify({ versions: [] }), UNREADABLE],
  [JSON.stringify({ versions: VERSIONS, release: "../1" }), UNREADABLE],
  ["{", UNREADABLE],
  [undefined, UNREADABLE],
];

Deno.test("a data folder of a later or an unknown release, or with a damaged record or none, is refused and not touched", async () => {
  const data = await freshDataDirectory();
  const file = join(data, "migrations.json");
  try {
    for (const [record, refusal] of RECORDS) {
      if (record === undefined) await Deno.remove(file);
      else await Deno.writeTextFile(file, record);
      const before = await contents(data);
      const error = await assertRejects(() => startStack({ dataDir: data, port: 0 }), StartupError);
      assertEquals(error.message, `The data folder ${data} ${refusal}`);
      assertEquals(await contents(data), before, record);
    }
    const before = await contents(data);
    const { code, stdout, stderr } = await runCommand("start.ts", "--port", "0", "--data", data);
    assertEquals([code, stdout, stderr], [1, "", `Error: The data folder ${data} ${UNREADABLE}\n`]);
    assertEquals(await contents(data), before);
    assertEquals(await besides(data), []);
  } finally {
    await Deno.remove(data, { recursive: true });
  }
});

Deno.test("a data folder of this version is opened again, and one whose first start broke off; lost secrets are said", () =>
  withScratchDirectory(async (dataDir) => {
    // The files left by a start that is killed before it has created the database.
    await Deno.writeTextFile(join(dataDir, "migrations.json"), JSON.stringify({ versions: VERSIONS }));
    const noticesOf = async () => {
      const lines: string[] = [];
      const stack = await startStack({
        dataDir,
        port: 0,
        demo: false,
        onProgress: (line) => lines.push(line),
      });
      await stack.stop();
      return lines.filter((line) => line.includes("secrets"));
    };
    for (let start = 0; start < 2; start++) assertEquals(await noticesOf(), []);
    await Deno.remove(join(dataDir, "secrets.json"));
    assertEquals((await noticesOf()).map((line) => line.split(":")[0]), [
      "Creating new secrets, as secrets.json is missing",
    ]);
    assertEquals(await besides(dataDir), []);
  }));

Deno.test("an upgrade keeps files, keys and sign-ins; the copy is the folder as it was, and starts with the former release", () =>
  withScratchDirectory(async (scratch) => {
    const former = await formerFolder(scratch);
    const { dataDir, options } = former;
    await copyDirectory(dataDir, join(scratch, "before"));
    const lines = await started(
      { ...options, migrationsDirectory: await nextMigrations(scratch) },
      async (stack) => {
        assertEquals(await stack.exec("select from filestore.added_later"), []);
        await former.check(stack);
        const body = { path: "notes/a.md", content: "two" };
        assertEquals(
          (await apiAt(stack.baseUrl).request(stack.apiKey, "POST", "/files", { body })).status,
          200,
        );
      },
    );
    const [copy = "", ...more] = await besides(dataDir);
    assertEquals(more, []);
    assert(/-1\.0\.0-\d{8}T\d{6}Z$/.test(copy), copy);
    assertEquals(lines.slice(0, 2), [
      `Copying ${dataDir}`,
      `Upgrading ${dataDir} from release 1.0.0 to ${VERSION}; a copy of it as it was is in ${copy}`,
    ]);
    const expected = await contents(join(scratch, "before"), ["lock", "requests.log"]);
    assertEquals(withoutTimes(await contents(copy)), withoutTimes(expected));
    // No space of their own for the objects.
    const objects = Object.keys(await contents(copy)).filter((path) => path.startsWith("storage/"))
      .map((path) => Deno.statSync(join(copy, path))).filter(({ isFile }) => isFile);
    assert(objects.length > 0);
    for (const { nlink } of objects) assertEquals(nlink, 2);

    const again = await started(
      { ...options, migrationsDirectory: await nextMigrations(scratch) },
      former.hasKey,
    );
    assertEquals(again.filter((line) => /^(?:Copying|Upgrading|Applying)/.test(line)), []);
    assertEquals(await besides(dataDir), [copy]);
    await started({ ...options, dataDir: copy }, former.check);
  }));

Deno.test("a folder that cannot be copied, or whose port is in use, is not upgraded, nothing is changed, and no part of a copy stays", () =>
  withScratchDirectory(async (scratch) => {
    const { dataDir, options } = await formerFolder(scratch);
    // No copy of a socket is possible, for any user.
    const socket = Deno.listen({ transport: "unix", path: join(dataDir, "pglite", "socket") });
    try {
      const before = await contents(dataDir);
      const migrationsDirectory = await nextMigrations(scratch);
      using other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      await assertRejects(
        () => started({ ...options, migrationsDirectory, port: other.addr.port }, async () => {}),
        StartupError,
        "in use",
      );
      assertEquals([await contents(dataDir), await besides(dataDir)], [before, []]);
      const error = await assertRejects(
        () => started({ ...options, migrationsDirectory }, async () => {}),
        StartupError,
        `The data folder ${dataDir} is of release 1.0.0 and must be upgraded, but it cannot be copied to `,
      );
      assert(error.message.endsWith("Nothing was changed. Make room there, or start it with release 1.0.0."));
      assertEquals(await contents(dataDir), before);
      assertEquals(await besides(dataDir), []);
    } finally {
      socket.close();
    }
  }));

Deno.test("a migration that fails leaves the files and names the copy; the former release refuses the folder, and the next start continues", () =>
  withScratchDirectory(async (scratch) => {
    const { dataDir, options, check } = await formerFolder(scratch);
    const failing = await nextMigrations(scratch, "create table filestore.half (); select 1 / 0;");
    const upgraded = { ...options, migrationsDirectory: failing };
    const error = await assertRejects(() => started(upgraded, async () => {}), StartupError);
    const [copy = ""] = await besides(dataDir);
    assertEquals(
      error.message,
      `The migration ${NEXT}_next.sql fails: division by zero The upgrade of ${dataDir} from release 1.0.0 has not ` +
        `ended; the next start tries again; a copy of it as it was is in ${copy}.`,
    );
    const refused = await assertRejects(() => started(options, async () => {}), StartupError);
    assert(refused.message.includes(`was made by release ${VERSION} or later`), refused.message);
    // Whoever removes the copy is told so, and gets no other one: the folder is no longer as it was.
    await Deno.rename(copy, `${scratch}/moved`);
    const again = await assertRejects(() => started(upgraded, async () => {}), StartupError);
    assert(again.message.endsWith(`its copy, ${copy}, is gone.`), again.message);
    assertEquals(await besides(dataDir), []);
    await Deno.rename(`${scratch}/moved`, copy);
    await nextMigrations(scratch);
    const lines = await started(upgraded, async (stack) => {
      assertEquals(await stack.exec("select to_regclass('filestore.half') as half"), [{ half: null }]);
      await check(stack);
    });
    assert(lines[0]?.endsWith(`a copy of it as it was is in ${copy}`), lines[0]);
    assertEquals(await besides(dataDir), [copy]);
  }));

for (const [index] of VERSIONS.slice(1).entries()) {
  Deno.test(`a folder with the first ${index + 1} of the migrations gets the others, and its key writes and reads`, () =>
    withScratchDirectory(async (scratch) => {
      const dataDir = join(scratch, "data");
      const migrationsDirectory = await migrations(join(scratch, "former"), VERSIONS.slice(0, index + 1));
      let apiKey = "";
      await started(
        { dataDir, port: 0, migrationsDirectory },
        (stack) => Promise.resolve(apiKey = stack.apiKey),
      );
      await started({ dataDir, port: 0 }, async (stack) => {
        assertEquals(stack.apiKey, apiKey);
        await write(stack);
        await reads(stack);
      });
      assertEquals((await besides(dataDir)).length, 1);
    }));
}

Deno.test("a Postgres gets the migrations that it lacks, after a line, and one with others than this version has is refused", () =>
  withScratchDirectory(async (scratch) => {
    const server = await startPostgres();
    try {
      const { superuserUrl } = await createHostedLike(server, "upgraded");
      const options = { dataDir: join(scratch, "data"), port: 0, demo: false, databaseUrl: superuserUrl };
      const first = await started(options, async () => {});
      assertEquals(first.filter((line) => line.startsWith("Upgrading")), []);
      const next = { ...options, migrationsDirectory: await nextMigrations(scratch) };
      const lines = await started(next, async () => {});
      assertEquals(lines.filter((line) => /^(?:Upgrading|Applying)/.test(line)), [
        "Upgrading the database with 1 migration, without a copy of it",
        `Applying ${NEXT}_next.sql`,
      ]);
      await assertRejects(
        () => started(options, async () => {}),
        StartupError,
        `The database has migrations that release ${VERSION} does not have (${NEXT}): it belongs to a later release, or ` +
          "to another program. Start it with that release, or use another database.",
      );
    } finally {
      await server.stop();
    }
  }));

Deno.test("a Postgres with another version's file store is refused, and its tables stay as they are", () =>
  withScratchDirectory(async (dataDir) => {
    const server = await startPostgres();
    try {
      const { superuserUrl } = await createHostedLike(server, "other");
      await withConnection(superuserUrl, async (sql) => {
        await sql`create schema filestore`;
        await sql`create table filestore.files as select 1 as one`;
      });
      await assertRejects(
        () => startStack({ dataDir, port: 0, demo: false, databaseUrl: superuserUrl }),
        StartupError,
        "The database holds files of another version of this service, which this version cannot read; use an empty database.",
      );
      await withConnection(superuserUrl, async (sql) => {
        const tables = await sql`select relname from pg_class where relnamespace = 'filestore'::regnamespace`;
        assertEquals(tables.map((row) => row.relname), ["files"]);
      });
    } finally {
      await server.stop();
    }
  }));

interface Former {
  readonly dataDir: string;
  /** Those of the former release. The port is the same for every start, as for a person. */
  readonly options: StackOptions;
  /** Its files are read with the key of before, and its account is still signed in and owns the project. */
  check(stack: Stack): Promise<void>;
  hasKey(stack: Stack): Promise<void>;
}

/** A folder as 1.0.0 leaves it, which has not recorded its version, with files and an account that is signed in. */
async function formerFolder(scratch: string): Promise<Former> {
  const dataDir = join(scratch, "data");
  await Deno.rename(await freshDataDirectory(), dataDir);
  let [port, key, token] = [0, "", ""];
  await started({ dataDir, port }, async (stack) => {
    [port, key] = [Number(new URL(stack.supabaseUrl).port), stack.apiKey];
    await write(stack);
    const headers = { apikey: stack.publishableKey, "content-type": "application/json" };
    const signUp = await fetch(`${stack.supabaseUrl}/auth/v1/signup`, {
      method: "POST",
      headers,
      body: JSON.stringify(ACCOUNT),
    });
    token = Object(await signUp.json()).access_token;
  });
  await Deno.writeTextFile(join(dataDir, "migrations.json"), JSON.stringify({ versions: VERSIONS }));
  const hasKey = (stack: Stack) => Promise.resolve(assertEquals(stack.apiKey, key));
  const check = async (stack: Stack) => {
    await hasKey(stack);
    await reads(stack);
    const authorization = { authorization: `Bearer ${token}` };
    const { body } = await apiAt(stack.baseUrl).request(null, "GET", "/projects", { headers: authorization });
    const names = Object(body).data.projects.map((project: { readonly name: string }) => project.name);
    assertEquals(names, ["demo"]);
  };
  return { dataDir, options: { dataDir, port }, check, hasKey };
}

/** Starts a stack for `use` and returns the lines of its progress. */
async function started(options: StackOptions, use: (stack: Stack) => Promise<unknown>): Promise<string[]> {
  const lines: string[] = [];
  const stack = await startStack({ ...options, onProgress: (line) => lines.push(line) });
  try {
    await use(stack);
  } finally {
    await stack.stop();
  }
  return lines;
}

async function write({ baseUrl, apiKey }: Stack): Promise<void> {
  for (const [path, content] of Object.entries(FILES)) {
    const { status } = await apiAt(baseUrl).request(apiKey, "POST", "/files", { body: { path, content } });
    assertEquals(status, 200, path);
  }
}

async function reads({ baseUrl, apiKey }: Stack): Promise<void> {
  for (const [path, content] of Object.entries(FILES)) {
    const { body } = await apiAt(baseUrl).request(apiKey, "GET", `/files/${path}`, { query: { version: 1 } });
    assertEquals(Object(body).data.content === content, true, path);
  }
}

/** The migrations of a release after this one; `sql` is the last of them. */
async function nextMigrations(
  scratch: string,
  sql = "create table filestore.added_later (id integer primary key);",
): Promise<string> {
  const directory = await migrations(join(scratch, "next"), VERSIONS);
  await Deno.writeTextFile(join(directory, `${NEXT}_next.sql`), sql);
  return directory;
}

/** A folder with these of the repository's migrations. */
async function migrations(directory: string, versions: readonly string[]): Promise<string> {
  await Deno.mkdir(directory, { recursive: true });
  for (const { version, file } of await listMigrations(MIGRATIONS_DIRECTORY)) {
    if (versions.includes(version)) {
      await Deno.copyFile(join(MIGRATIONS_DIRECTORY, file), join(directory, file));
    }
  }
  return directory;
}

/** What lies beside a data folder under a name that begins with its own: copies, and parts of them. */
async function besides(dataDir: string): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(dirname(dataDir)), ({ name }) => name);
  return names.filter((name) => name.startsWith(`${basename(dataDir)}-`)).map((name) =>
    join(dirname(dataDir), name)
  );
}

/** Maps each path in a folder to the time of its last change, its size and its digest. */
async function contents(
  directory: string,
  without: readonly string[] = [],
  below = "",
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, isFile, isDirectory } of Deno.readDir(join(directory, below))) {
    if (without.includes(name)) continue;
    const path = join(below, name);
    const { mtime, size } = await Deno.stat(join(directory, path));
    const bytes = isFile ? await Deno.readFile(join(directory, path)) : new Uint8Array();
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    found[path] = [mtime?.getTime(), size, digest].join(" ");
    if (isDirectory) Object.assign(found, await contents(directory, without, path));
  }
  return found;
}

function withoutTimes(found: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(found).map(([path, facts]) => [path, facts.split(" ").at(-1) ?? ""]),
  );
}
