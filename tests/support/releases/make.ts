/**
 * Writes the fixture of the present release: a dump of a database with every kind of row, the objects of its bucket, and
 * the function. Run once, when a version is released; from then on the tests upgrade it.
 *
 *     deno run -A --config=tests/deno.jsonc tests/support/releases/make.ts
 */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { FUNCTION_ENTRY } from "../../../supabase/local/repository.ts";
import { VERSION } from "../../../supabase/functions/api/version.ts";
import { Account, owner, register } from "../client/accounts.ts";
import { Branches } from "../client/branches.ts";
import { dataOf, newLink } from "../client/contract.ts";
import { sweepAll } from "../client/erasure.ts";
import { Files } from "../client/files.ts";
import { accept, addressOf, invited, joined } from "../client/members.ts";
import { App } from "../client/oauth.ts";
import { Receiver } from "../client/receiver.ts";
import { eventually } from "../eventually.ts";
import { inParallel } from "../in_parallel.ts";
import { sequencesOn } from "../model/agreement.ts";
import { sequence } from "../model/model_operations.ts";
import { startPostgres } from "../postgres/postgres.ts";
import { run } from "../program.ts";
import { SEED } from "../random.ts";
import { withScratchDirectory } from "../scratch_directory.ts";
import { type EmbeddingServer, startEmbeddingServer } from "../stack/embedding_server.ts";
import { type Service, startService } from "../stack/service.ts";
import { archiveOf, type Manifest, objectsOf, POSTGRES } from "./release.ts";

/** Sequences of the model, each in a project of its own. */
const SEQUENCES = 300;
const VERSIONS = 20_000;
const BATCH = 100;
const FOLDERS = 16;
/** Tables of a minute, and of work that is done when the fixture is made. */
const PASSING = new Set([
  ...["rate_windows", "link_windows", "search_queue", "account_deletions"],
  ...["dead_segments", "possibly_unreferenced_segments"],
]);

async function runModel(service: Service): Promise<Manifest["keys"][number][]> {
  const runSequence = sequencesOn(service);
  return await inParallel(fc.sample(sequence, { seed: SEED, numRuns: SEQUENCES }), 3, async (operations) => {
    const { projectId, key } = await runSequence(operations);
    return { projectId, key };
  });
}

/** A large project: runs of several agents, in batches, until the service has enough versions. */
async function work(service: Service): Promise<Manifest["keys"][number]> {
  const { id, key } = await service.project("enterprise");
  const files = new Files(service, key);
  const count = "select count(*)::integer as count from filestore.file_versions";
  const [stored] = await service.sql<{ count: number }>(count);
  const batches = Math.ceil((VERSIONS - (stored?.count ?? 0)) / BATCH);
  const numbers = Array.from({ length: Math.max(batches, 0) }, (_, number) => number);
  await inParallel(numbers, 4, async (number) => {
    const operations = Array.from({ length: BATCH }, (_, place) => ({
      op: number >= FOLDERS && place % 5 === 0 ? "append" : "write",
      path: `reports/${number % FOLDERS}/${place}.md`,
      content: `# Report ${place}\n\nRound ${number} of the agent ${number % 7}.\n`,
    }));
    const headers = { "x-run-id": `nightly-${number}`, "x-actor": `agent-${number % 7}` };
    const { status, text } = await files.request("POST", "/batch", { body: { operations }, headers });
    assertEquals(status, 200, text);
  });
  return { projectId: id, key };
}

/** People, their apps, links, webhooks, a branch, and what they have deleted. */
async function team(service: Service, receiver: Receiver): Promise<Omit<Manifest, "keys">> {
  const { email, password, session } = await register(service.stack);
  const person = new Account(service, session.access_token);
  const project = await person.createProject("A team");
  await service.setTier(project.id, "enterprise");
  const by = Object.assign(person.about(project.id), { projectId: project.id });
  for (const role of ["viewer", "editor", "admin"] as const) await joined(by, role);
  await invited(by, "guest@example.org", "editor");
  const leaving = await owner(service);
  await accept(leaving, (await invited(by, addressOf(leaving), "viewer")).id);
  const { access_token: appToken } = await (await App.register(service)).connect(by);
  const { key } = await service.key(project.id);
  const files = new Files(service, key);
  receiver.behaviour = () => new Response(null, { status: 500 });
  const hook = await by.request("POST", "/project/webhooks", { body: { url: receiver.urlOf("a") } });
  assertEquals(hook.status, 200, hook.text);
  await files.write("notes/plan.md", "# The plan\n\nBuy a vehicle before the appointment.\n".repeat(20));
  await by.request("POST", "/files", { body: { path: "notes/by hand.md", content: "by a person\n" } });
  await by.request("PATCH", "/project", { body: { retention: { keepVersions: 50 } } });
  const branches = new Branches(files);
  await branches.create("draft", { directory: "notes" });
  await files.write(".branches/draft/plan.md", "# Another plan\n");
  await branches.merge("draft");
  const link = await by.request("POST", "/links", { body: { path: "notes/plan.md", for: "read" } });
  const { url } = dataOf(link, "create_link", newLink);
  await fetch(url);
  await leaving.request("DELETE", "/project", { query: { confirm: "My project" } });
  const gone = await owner(service);
  await gone.request("DELETE", "/account", { query: { confirm: addressOf(gone) } });
  await eventually("the webhook is called", () => receiver.received.length > 0);
  return {
    person: { email, password, projectId: project.id, key },
    appToken,
    link: url.slice(service.baseUrl.length),
  };
}

async function assertEveryKind(service: Service): Promise<void> {
  const tables = await service.sql<{ name: string }>(
    "select relname as name from pg_catalog.pg_class where relnamespace = 'filestore'::regnamespace and relkind = 'r'",
  );
  const empty: string[] = [];
  for (const { name } of tables) {
    const [row] = await service.sql(`select from filestore.${name} limit 1`);
    if (row === undefined && !PASSING.has(name)) empty.push(name);
  }
  assertEquals(empty, [], "tables without a row");
}

async function fill(service: Service, receiver: Receiver, embeddings: EmbeddingServer): Promise<Manifest> {
  const keys = await runModel(service);
  keys.unshift(await work(service));
  const people = await team(service, receiver);
  await sweepAll(service);
  await eventually("the texts are indexed", async () => {
    const [row] = await service.sql("select from filestore.search_queue limit 1");
    return row === undefined && embeddings.texts.length > 0;
  });
  await assertEveryKind(service);
  return { ...people, keys };
}

function compress(bytes: Uint8Array): Uint8Array {
  return brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS },
  });
}

async function make(): Promise<void> {
  const server = await startPostgres({ version: POSTGRES });
  const [receiver, embeddings] = [new Receiver(), startEmbeddingServer()];
  try {
    await withScratchDirectory(async (folder) => {
      const at = (name: string) => join(folder, name);
      const service = await startService({
        dataDir: at("data"),
        databaseUrl: server.url,
        functionProcesses: 2,
        functionVariables: {
          OUTBOUND_ALLOWED_HOSTS: receiver.host,
          EMBEDDINGS_URL: embeddings.url,
          EMBEDDINGS_MODEL: "hashed-words",
        },
      });
      let manifest: Manifest;
      try {
        manifest = await fill(service, receiver, embeddings);
      } finally {
        await service.stop();
      }
      await Deno.writeTextFile(at("manifest.json"), JSON.stringify(manifest));
      await run("pg_dump", ["--no-sync", "-f", at("database.sql"), server.url]);
      await run("pg_dumpall", ["--globals-only", "-f", at("roles.sql"), "-d", server.url]);
      await run("mv", [await objectsOf(at("data"), server.url), at("objects")]);
      await run("mv", [at("data/secrets.json"), at("secrets.json")]);
      await run("cp", ["-r", dirname(FUNCTION_ENTRY), at("function")]);
      const parts = ["manifest.json", "database.sql", "roles.sql", "objects", "secrets.json", "function"];
      await run("tar", ["-cf", at("archive.tar"), "-C", folder, ...parts]);
      await Deno.writeFile(archiveOf(VERSION), compress(await Deno.readFile(at("archive.tar"))));
    });
  } finally {
    await Promise.all([receiver.stop(), embeddings.stop()]);
    await server.stop();
  }
}

await make();
