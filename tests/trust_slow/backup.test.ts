/**
 * Backup and restore with the real `pg_dump`, as operating/backups.md describes them: what happens if the database and
 * Storage are restored to different times, what `verify` reports, that a client can continue to follow the change feed,
 * and that a copy calls no webhooks until somebody turns them on.
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { z } from "zod";
import { Administration } from "../../supabase/local/admin/administration.ts";
import { newVerification, verify } from "../../supabase/local/admin/verification.ts";
import { type Stack, startStack } from "../../supabase/local/stack/stack.ts";
import { fileAddress } from "../../supabase/client/library/api.ts";
import { changedWebhook, webhookList } from "../../supabase/functions/api/contract/webhooks.ts";
import { askForSession, register } from "../support/client/accounts.ts";
import { Receiver, verify as verifySignature } from "../support/client/receiver.ts";
import { readDocument } from "../support/content/documents.ts";
import { eventually } from "../support/eventually.ts";
import { run } from "../support/program.ts";
import { createDatabase, objectsOf, POSTGRES, withoutSuperuser } from "../support/releases/release.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { type PostgresServer, startPostgres } from "../support/postgres/postgres.ts";

const receiver = new Receiver();
Deno.test.afterAll(() => receiver.stop());
const functionVariables = { OUTBOUND_ALLOWED_HOSTS: receiver.host };

const change = z.object({ path: z.string(), version: z.int(), cursor: z.string() });
const changePage = z.object({ data: z.object({ changes: z.array(change), cursor: z.string() }) });

/** A project of a running stack. */
class Project {
  constructor(readonly stack: Stack, readonly key: string) {}

  async call(method: string, path: string, body?: unknown) {
    const response = await fetch(this.stack.baseUrl + path, {
      method,
      headers: { "x-api-key": this.key, "content-type": "application/json" },
      ...body !== undefined && { body: JSON.stringify(body) },
    });
    return { status: response.status, body: await response.json() };
  }

  async write(path: string, content: string): Promise<void> {
    const { status, body } = await this.call("POST", "/files", { path, content });
    assertEquals(status, 200, JSON.stringify(body));
  }

  async read(path: string, version?: number): Promise<string> {
    const which = version === undefined ? "" : `?version=${version}`;
    const { status, body } = await this.call("GET", fileAddress(path) + which);
    return status === 200 ? body.data.content : body.error.code;
  }

  async changes(after: string) {
    const { status, body } = await this.call("GET", `/changes?after=${after}`);
    assertEquals(status, 200, JSON.stringify(body));
    return changePage.parse(body).data.changes.map(({ path, version }) => `${path} ${version}`);
  }
}

/** Paths and versions that verify reports as unreadable. */
async function unreadable({ stack }: Project): Promise<string[]> {
  const state = newVerification(true);
  const operator = new Administration(stack.supabaseUrl, stack.secretKey);
  await verify(operator, state, { projectId: undefined, repairs: true, onSlice: () => Promise.resolve() });
  assertEquals(state.removed, 0);
  assert(state.versions > 0);
  return state.unreadable.map(({ path, version }) => `${path} ${version}`);
}

/** The webhook of the copy calls nobody; once it is turned on, it has a secret of its own, and skips nothing. */
async function assertPaused(again: Project): Promise<void> {
  receiver.received.length = 0;
  receiver.accept();
  const { body } = await again.call("GET", "/project/webhooks");
  const { webhooks: [hook] } = webhookList.parse(body.data);
  assertEquals([hook?.state, hook?.reason], ["paused", "other_database"]);
  const sweep = await fetch(`${again.stack.baseUrl}/sweep`, {
    method: "POST",
    headers: { authorization: `Bearer ${again.stack.secretKey}` },
  });
  assertEquals((await sweep.json()).success, true);
  assertEquals(receiver.received, []);
  const turned = await again.call("PATCH", `/project/webhooks/${hook?.id}`, { state: "active" });
  const { state, secret } = changedWebhook.parse(turned.body.data);
  assertEquals(state, "active");
  await eventually("all is delivered", () => receiver.changes().includes("d.txt 1"));
  assertEquals(receiver.changes(), ["a.txt 1", "b.txt 1", "a.txt 2", "c.txt 1", "d.txt 1"]);
  for (const received of receiver.received) verifySignature(secret, received);
}

const copy = (from: string, to: string) => run("cp", ["-a", from, to]);

/** A new database restored from a dump, and a stack on it with these objects. */
async function restored(server: PostgresServer, folder: string, name: string, dump: string, bytes: string) {
  const url = await createDatabase(server, name);
  await run("psql", ["-qX", "-v", "ON_ERROR_STOP=1", "-f", dump, url]);
  return await stackWith(url, join(folder, name), bytes);
}

/** A stack with this database and these objects. */
async function stackWith(url: string, dataDir: string, bytes: string): Promise<Stack> {
  const storage = await objectsOf(dataDir, url);
  await Deno.remove(storage, { recursive: true }).catch(() => {});
  await copy(bytes, storage);
  return await startStack({ dataDir, port: 0, demo: false, databaseUrl: url, functionVariables });
}

Deno.test("a dump and a copy of Storage, each restored with an older or newer other half", async (t) => {
  const source = await startPostgres({ version: POSTGRES });
  const target = await startPostgres({ version: POSTGRES });
  try {
    await withScratchDirectory(async (folder) => {
      const dataDir = join(folder, "source");
      const storage = await objectsOf(dataDir, source.url);
      const stack = await startStack({ dataDir, port: 0, databaseUrl: source.url, functionVariables });
      // Whoever signs up first owns the project.
      const { email, password } = await register(stack);
      const own = new Project(stack, stack.apiKey);
      const at = (name: string) => join(folder, name);
      const dump = async (name: string) => {
        await run("pg_dump", ["--no-sync", "-f", at(name), source.url]);
      };
      receiver.behaviour = () => new Response(null, { status: 500 });
      const rights = "update filestore.api_keys set scopes = '{read,write,admin}'";
      await run("psql", ["-qX", "-v", "ON_ERROR_STOP=1", "-c", rights, source.url]);
      const created = await own.call("POST", "/project/webhooks", { url: receiver.urlOf("a") });
      assertEquals(created.status, 200, JSON.stringify(created.body));
      await own.write("a.txt", "one");
      await eventually("the webhook is called", () => receiver.received.length > 0);
      const [first] = changePage.parse((await own.call("GET", "/changes")).body).data.changes;
      await own.write("b.txt", "b");
      await dump("early.sql");
      await copy(storage, at("early"));
      await own.write("a.txt", "two");
      await own.write("c.txt", "c");
      await dump("late.sql");
      await copy(storage, at("late"));
      const globals = await run("pg_dumpall", ["--globals-only", "-d", source.url]);
      await stack.stop();
      await run("psql", ["-qX", "-v", "ON_ERROR_STOP=1", target.url], withoutSuperuser(globals));
      const cursor = first?.cursor ?? "";

      await t.step(
        "Postgres and Storage of the same time: all is whole, and a follower goes on",
        async () => {
          const again = new Project(
            await restored(target, folder, "same", at("late.sql"), at("late")),
            own.key,
          );
          assertEquals(await unreadable(again), []);
          assertEquals([await again.read("a.txt", 1), await again.read("a.txt"), await again.read("c.txt")], [
            "one",
            "two",
            "c",
          ]);
          await again.write("d.txt", "after the restore");
          assertEquals(await again.changes(cursor), ["b.txt 1", "a.txt 2", "c.txt 1", "d.txt 1"]);
          await assertPaused(again);
          await again.stack.stop();
        },
      );

      await t.step(
        "an earlier Postgres with a later Storage: what it knows is whole, and is written on",
        async () => {
          const again = new Project(
            await restored(target, folder, "older", at("early.sql"), at("late")),
            own.key,
          );
          assertEquals(await unreadable(again), []);
          assertEquals([await again.read("a.txt"), await again.read("c.txt")], ["one", "FILE_NOT_FOUND"]);
          await again.write("c.txt", "another c");
          assertEquals(await again.changes(cursor), ["b.txt 1", "c.txt 1"]);
          assertEquals(await again.read("c.txt"), "another c");
          await again.stack.stop();
        },
      );

      await t.step(
        "a later Postgres with an earlier Storage: verify names the versions without bytes, and no others",
        async () => {
          const again = new Project(
            await restored(target, folder, "newer", at("late.sql"), at("early")),
            own.key,
          );
          assertEquals(await unreadable(again), ["a.txt 2", "c.txt 1"]);
          assertEquals(
            [
              await again.read("a.txt", 1),
              await again.read("b.txt"),
              await again.read("a.txt"),
              await again.read("c.txt"),
            ],
            ["one", "b", "CONTENT_CORRUPT", "CONTENT_CORRUPT"],
          );
          await again.stack.stop();
        },
      );

      await t.step(
        "the drill of the documents restores the rows into a project that has others",
        async () => {
          const url = await createDatabase(target, "drill");
          const fresh = await startStack({ dataDir: at("fresh"), port: 0, databaseUrl: url });
          await new Project(fresh, fresh.apiKey).write("other.txt", "not of the backup");
          await fresh.stop();
          const { blocks } = await readDocument("supabase/docs/operating/backups.md");
          const recipe = blocks.filter(({ marker }) => marker?.includes("backup.test.ts")).map(({ text }) =>
            text
          );
          assertEquals(recipe.length, 2);
          const variables = [`DATABASE_URL=${source.url}`, `NEW_DATABASE_URL=${url}`];
          await run("env", ["-C", folder, ...variables, "bash", "-euc", recipe.join("")]);
          // Uploads would make these rows.
          const objects = await run("pg_dump", ["--data-only", "-t", "storage.objects", source.url]);
          await run(
            "psql",
            ["-qX", "-v", "ON_ERROR_STOP=1", url],
            `truncate storage.objects cascade;\n${objects}`,
          );
          const again = new Project(await stackWith(url, at("drill"), at("late")), own.key);
          assertEquals(await unreadable(again), []);
          assertEquals(
            [await again.read("a.txt", 1), await again.read("a.txt"), await again.read("other.txt")],
            ["one", "two", "FILE_NOT_FOUND"],
          );
          await again.write("d.txt", "after the drill");
          await askForSession(again.stack, "token?grant_type=password", { email, password });
          assertEquals(await again.changes(cursor), ["b.txt 1", "a.txt 2", "c.txt 1", "d.txt 1"]);
          await again.stack.stop();
        },
      );
    });
  } finally {
    await source.stop();
    await target.stop();
  }
});
