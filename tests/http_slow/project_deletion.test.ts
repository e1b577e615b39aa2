/**
 * A deleted project is closed at once, and after a complete sweep none of its data is stored anywhere. This holds even
 * if a sweep is interrupted between any two of its steps, or requests were under way when the project was deleted.
 */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { sweepSlice } from "../../supabase/functions/api/maintenance/sweep.ts";
import { Administration } from "../../supabase/local/admin/administration.ts";
import { owner, signUp } from "../support/client/accounts.ts";
import {
  assertRefused,
  dataOf,
  deletedRecord,
  issuePaths,
  newLink,
  type OperationName,
} from "../support/client/contract.ts";
import { sweepAll, traces } from "../support/client/erasure.ts";
import { Files } from "../support/client/files.ts";
import { eventually } from "../support/eventually.ts";
import { runCommand } from "../support/stack/command.ts";
import { IS_LONG } from "../support/runner/long.ts";
import { privateSuite, test } from "../support/stack/suite.ts";
import { portsOf } from "../support/stack/supabase_client.ts";

const { service, files } = await privateSuite({});
const administration = new Administration(service.stack.backendUrl, service.stack.secretKey);

const { bucket, metadata, segments } = portsOf(service.stack);

type Owner = Awaited<ReturnType<typeof owner>>;

const confirming = (name: string) => ({ query: { confirm: name } });
const DELETED: OperationName = "delete_project";

/** Writes everything that a project can contain, with a unique word wherever the project chooses the text. */
async function fill(account: Owner, word: string): Promise<Files> {
  await account.request("PATCH", "/project", { body: { name: `project ${word}` } });
  const { key } = await account.createKey({ name: `key ${word}`, scopes: ["read", "write", "admin"] });
  await account.createKey({ name: "narrow", scopes: ["read"], pathPrefix: word });
  const own = new Files(service, key);
  const headers = {
    ...{ "x-run-id": `run-${word}`, "x-actor": `actor ${word}` },
    ...{ "x-change-note": `note ${word}`, "idempotency-key": `once ${word}` },
  };
  const body = { path: `${word}/short.md`, content: `short ${word}\n` };
  const written = await own.request("POST", "/files", { body, headers });
  assertEquals(written.status, 200);
  const long = `long ${word} `.repeat(2000);
  for (const name of ["long.txt", "same.txt"]) await own.write(`${word}/${name}`, long);
  for (const line of ["one", "two", "three"]) await own.append(`${word}/short.md`, `${line} ${word}\n`);
  await own.write(`deleted ${word}.txt`, word);
  await own.request("DELETE", `/files/deleted%20${word}.txt`);
  for (const purpose of ["read", "write"]) {
    const link = await own.request("POST", "/links", { body: { path: `${word}/short.md`, for: purpose } });
    assertEquals(link.status, 200);
  }
  // The console also writes.
  await account.request("POST", "/files", { body: { path: `console ${word}.md`, content: word } });
  // A text that is being indexed would delay the project's removal by a minute.
  await eventually("nothing is being indexed", async () => {
    const waiting = "select from filestore.search_queue where project_id = $1 limit 1";
    return (await service.sql(waiting, [account.projectId])).length === 0;
  });
  return own;
}

/** The tables that still contain a row of the project. */
async function rowsOf(projectId: string): Promise<string[]> {
  const tables = await service.sql<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'project_id'
     where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r' order by 1`,
  );
  const left: string[] = [];
  for (const { name } of tables) {
    const rows = `select from filestore.${name} where project_id = $1 limit 1`;
    if ((await service.sql(rows, [projectId])).length > 0) left.push(name);
  }
  return left;
}

async function objectsOf(projectId: string): Promise<string[]> {
  const objects = await service.sql<{ name: string }>(
    "select name from storage.objects where name like $1 order by name",
    [`${projectId}/%`],
  );
  return objects.map(({ name }) => name);
}

const randomWord = () => crypto.getRandomValues(new Uint8Array(32)).toHex();

/** Asserts that nothing of the project is stored but its record, until uploads that may have been under way are swept. */
async function assertOnlyRecorded(projectId: string, message?: string): Promise<void> {
  const left = [await rowsOf(projectId), await objectsOf(projectId)];
  assertEquals(left, [["project_deletions"], []], message);
}

/** Acts as if the project had been deleted `days` days ago, so that it is due again. */
async function age(projectId: string, days: number): Promise<void> {
  await service.sql(
    `update filestore.project_deletions
     set deleted_at = deleted_at - make_interval(days => $2), due_at = due_at - make_interval(days => $2)
     where project_id = $1`,
    [projectId, days],
  );
}

test("DELETE /project by its owner, and by a key with admin: gone from the list at once, the name free", async () => {
  const account = await owner(service);
  const second = await account.createProject("Second one");
  const about = account.about(second.id);
  const key = await about.createKey({ scopes: ["admin"] });
  const answer = await account.request("DELETE", "/project", confirming("My project"));
  const data = dataOf(answer, DELETED, deletedRecord);
  assertEquals(data.id, account.projectId);
  assertEquals((await account.projects()).map(({ name }) => name), ["Second one"]);
  assertRefused(await account.request("GET", "/project"), "PROJECT_NOT_FOUND");
  assertRefused(await account.request("DELETE", "/project", confirming("My project")), "PROJECT_NOT_FOUND");
  assertEquals((await account.about(null).createProject("My project")).name, "My project");

  const byKey = await service.request(key.key, "DELETE", "/project", confirming("Second one"));
  assertEquals(dataOf(byKey, DELETED, deletedRecord).id, second.id);
  assertRefused(await service.request(key.key, "GET", "/project"), "INVALID_API_KEY");
  assertEquals((await account.projects()).map(({ name }) => name), ["My project"]);
});

test("DELETE /project is refused without the exact name, without admin, and for whom it does not belong to", async () => {
  const account = await owner(service);
  const own = await fill(account, randomWord());
  const [{ name } = { name: "" }] = await account.projects();
  const before = await service.tables();
  for (const confirm of [name.toUpperCase(), `${name}x`, name.slice(1), "My project", account.projectId]) {
    const refused = await account.request("DELETE", "/project", confirming(confirm));
    assertEquals(issuePaths(assertRefused(refused, "VALIDATION_ERROR", DELETED)), ["confirm"]);
  }
  for (const path of ["/project", "/project?confirm", "/project?confirm=", "/project?confirm=a&confirm=b"]) {
    const refused = await account.request("DELETE", path);
    assertEquals(issuePaths(assertRefused(refused, "VALIDATION_ERROR", DELETED)), ["confirm"]);
  }
  const unchanged = await service.tables();
  assertEquals(unchanged, before);
  const { key: writer } = await account.createKey({ scopes: ["read", "write"] });
  const { key: narrow } = await account.createKey({ scopes: ["read", "write"], pathPrefix: "a" });
  for (const key of [writer, narrow]) {
    const refused = await service.request(key, "DELETE", "/project", confirming(name));
    assertRefused(refused, "FORBIDDEN_SCOPE", DELETED);
  }
  const stranger = (await signUp(service)).about(account.projectId);
  assertRefused(await stranger.request("DELETE", "/project", confirming(name)), "PROJECT_NOT_FOUND", DELETED);
  await administration.updateProject(account.projectId, { isSuspended: true });
  const suspended = await account.request("DELETE", "/project", confirming(name));
  assertEquals(assertRefused(suspended, "FORBIDDEN_SCOPE", DELETED), { suspended: true });
  await administration.updateProject(account.projectId, { isSuspended: false });
  assertEquals((await own.paths({ recursive: true })).length, 4);
});

test("keys, links and console sessions of a deleted project are refused at once, whatever an isolate remembers", async () => {
  const account = await owner(service);
  const { key } = await account.createKey({ scopes: ["read", "write"] });
  const own = new Files(service, key);
  await own.write("f.txt", "of the deleted project");
  const link = async (purpose: string, by: (body: object) => Promise<unknown>) =>
    newLink.parse(Object(await by({ path: "f.txt", for: purpose })).body.data);
  const links = [
    await link("read", (body) => own.request("POST", "/links", { body })),
    await link("read", (body) => account.request("POST", "/links", { body })),
  ];
  const opened = async (url: string) => {
    const response = await fetch(url, { headers: { "cf-connecting-ip": "10.9.0.1" } });
    return [response.status, (await response.text()).includes("of the deleted project")];
  };
  // The isolate has cached all of them.
  assertEquals((await account.request("GET", "/files/f.txt")).status, 200);
  for (const { url } of links) assertEquals(await opened(url), [200, true]);
  dataOf(await account.request("DELETE", "/project", confirming("My project")), DELETED, deletedRecord);
  const refused = [
    await own.request("GET", "/files/f.txt"),
    await own.post({ path: "g.txt", content: "" }),
    await own.put("append", "f.txt", { content: "x".repeat(100_000) }),
    await own.request("GET", "/changes"),
    await own.request("POST", "/memory", { body: { command: "view", path: "/memories" } }),
  ];
  for (const answer of refused) assertRefused(answer, "INVALID_API_KEY");
  for (const { url } of links) {
    const [status, isShown] = await opened(url);
    assert((status === 404 || status === 410) && isShown === false, String(status));
  }
  // The isolate tries its cached session once and answers "try again"; after that the project does not exist.
  assertNotEquals((await account.request("GET", "/files/f.txt")).status, 200);
  assertRefused(await account.request("GET", "/files/f.txt"), "PROJECT_NOT_FOUND");
});

test("a lost answer to DELETE /project is asked for again and is the first one's", async () => {
  for (const isByKey of [false, true]) {
    const account = await owner(service);
    const { key } = await account.createKey({ scopes: ["admin"] });
    const answers: string[] = [];
    service.proxy.hook = async ({ path }, forward) => {
      const answer = await forward();
      if (!path.includes("administer")) return answer;
      const text = await answer.text();
      answers.push(text);
      return answers.length === 1 ? new Response("lost", { status: 502 }) : new Response(text, answer);
    };
    const query = confirming("My project");
    const answer = isByKey
      ? await service.request(key, "DELETE", "/project", query)
      : await account.request("DELETE", "/project", query);
    service.proxy.hook = null;
    const { deletedAt } = dataOf(answer, DELETED, deletedRecord);
    assertEquals(answers.length, 2);
    assert(answers[0]?.includes(deletedAt));
  }
});

test("a canary in contents, paths, notes, names and keys is found nowhere after a complete sweep", async () => {
  const account = await owner(service);
  const word = randomWord();
  const own = await fill(account, word);
  await sweepAll(service);
  await eventually("it can be found", async () => {
    const answer = await own.request("GET", "/search", { query: { q: word } });
    return answer.text.includes("same.txt");
  });
  const before = (await traces(service, word)).map((trace) => trace.split(" ", 1)[0] ?? "");
  for (const table of "api_keys files file_versions idempotency_keys links projects runs".split(" ")) {
    assert(before.includes(`filestore.${table}`), table);
  }
  assert(before.includes("filestore.search_contents") && new Set(before).size > 12, before.join());
  dataOf(await account.request("DELETE", "/project", confirming(`project ${word}`)), DELETED, deletedRecord);
  assert(!(await traces(service, word)).some((trace) => trace.startsWith("filestore.projects ")));
  await sweepAll(service);
  assertEquals(await traces(service, word), []);
  await assertOnlyRecorded(account.projectId);
  // Two days later no table or object names it.
  await age(account.projectId, 5);
  await sweepAll(service);
  await age(account.projectId, 5);
  await sweepAll(service);
  assertEquals(await rowsOf(account.projectId), []);
  assertEquals(await service.sql("select from filestore.projects where id = $1", [account.projectId]), []);
});

test("every table with rows of projects is one that a deletion empties", async () => {
  const missing = await service.sql<{ name: string }>(
    `select c.relname as name from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attname = 'project_id' and not a.attisdropped
     where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r'
       and c.relname <> all ((
         select (regexp_match(p.prosrc, 'c_tables constant text\\[\\] := ''(\\{.*?\\})'''))[1]
         from pg_proc p where p.proname = 'filestore_sweep_remove_rows')::text[]) order by 1`,
  );
  // Rows of segments are removed with their objects, and the record of the deletion with the project.
  assertEquals(missing.map(({ name }) => name), ["project_deletions", "segments"]);
});

test("deleting one project changes nothing of another", async () => {
  const [account, other] = [await owner(service), await owner(service)];
  await fill(account, "shared-word");
  const kept = await fill(other, "shared-word");
  await sweepAll(service);
  const state = async () => {
    const counts = await service.sql(
      `select (select md5(string_agg(v::text, ',' order by v.file_id, v.version)) from filestore.file_versions v
               where v.project_id = $1) as versions,
              (select md5(string_agg(f::text, ',' order by f.id)) from filestore.files f where f.project_id = $1) as files,
              (select count(*) from filestore.segments s where s.project_id = $1) as segments,
              (select count(*) from filestore.search_texts s where s.project_id = $1) as texts,
              (select count(*) from filestore.links l where l.project_id = $1) as links,
              (select sum(u.bytes) from filestore.project_usage u where u.project_id = $1) as bytes`,
      [other.projectId],
    );
    return [counts, await objectsOf(other.projectId)];
  };
  const before = await state();
  await account.request("DELETE", "/project", confirming("project shared-word"));
  await sweepAll(service);
  await age(account.projectId, 5);
  await sweepAll(service);
  assertEquals(await state(), before);
  assertEquals((await kept.read("shared-word/long.txt")).content.length, "long shared-word ".length * 2000);
});

test("a sweep that is cut off between any two steps is completed by the next ones", async () => {
  let isEverythingTried = false;
  // The short form cuts it off at every third step.
  for (let step = 1; !isEverythingTried; step += IS_LONG ? 1 : 3) {
    const account = await owner(service);
    await fill(account, randomWord());
    const [{ name } = { name: "" }] = await account.projects();
    dataOf(await account.request("DELETE", "/project", confirming(name)), DELETED, deletedRecord);
    let left = step;
    const cut = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(_, property) {
          const value: unknown = Reflect.get(target, property);
          if (typeof value !== "function") return value;
          return async (...parameters: unknown[]) => {
            if (left === 0) throw new Error("cut off");
            const result: unknown = await value.apply(target, parameters);
            // The step is done, but its answer is lost.
            if (--left === 0) throw new Error("cut off");
            return result;
          };
        },
      });
    try {
      while (!(await sweepSlice(cut(metadata), cut(segments))).isDone);
      isEverythingTried = true;
    } catch (error) {
      if (!(error instanceof Error) || error.message !== "cut off") throw error;
    }
    await sweepAll(service);
    await assertOnlyRecorded(account.projectId, `cut off at step ${step}`);
  }
});

test("what requests under way store after the end of a project goes with a later sweep, and then the project", async () => {
  const account = await owner(service);
  const { key } = await account.createKey({ scopes: ["read", "write"] });
  const own = new Files(service, key);
  await own.write("f.txt", "before");
  const { projectId } = account;
  // An upload begun before the deletion is stored after the sweep, and an authorized commit completes.
  const late = async () => {
    const day = new Date().toISOString().slice(0, 10).replaceAll("-", "");
    const name = `${projectId}/${day}/${crypto.randomUUID()}`;
    const contentType = "application/octet-stream";
    const { error } = await bucket.upload(name, new Uint8Array(16), { contentType });
    assertEquals(error, null);
    await service.sql(
      `with file as (
         insert into filestore.files
           (project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
         values ($1, $2, 1, 'text/plain', 0, '{}', now(), now()) returning id)
       insert into filestore.file_versions
         (project_id, file_id, version, mime_type, size, segment_ids, commit_id, created_at)
       select $1, id, 1, 'text/plain', 0, '{}', gen_random_uuid(), now() from file`,
      [projectId, `late-${crypto.randomUUID()}`],
    );
  };
  await account.request("DELETE", "/project", confirming("My project"));
  await sweepAll(service);
  await assertOnlyRecorded(projectId);
  for (const daysLater of [1, 5]) {
    await late();
    await sweepAll(service);
    assertEquals((await objectsOf(projectId)).length, 1, "it is not due yet");
    await age(projectId, daysLater);
    await sweepAll(service);
    if (daysLater === 1) await assertOnlyRecorded(projectId);
    else assertEquals([await rowsOf(projectId), await objectsOf(projectId)], [[], []]);
  }
  assertEquals(await service.sql("select from filestore.projects where id = $1", [projectId]), []);
});

test("a version that is committed between two slices delays the end and is removed, too", async () => {
  const own = await files();
  await own.write("f.txt", "before");
  await administration.deleteProject(own.project.id, own.project.name);
  const [{ id } = { id: "" }] = await service.sql<{ id: string }>(
    "select id from filestore.files where project_id = $1",
    [own.project.id],
  );
  // Adds a version whenever the slice deletes versions, as a commit does that the slice cannot see yet.
  await service.stack.script(`
    create function public.store_late() returns trigger language plpgsql security definer as $$ begin
      insert into filestore.file_versions
        (project_id, file_id, version, mime_type, size, segment_ids, commit_id, created_at)
      values ('${own.project.id}', '${id}', 9, 'text/plain', 0, '{}', gen_random_uuid(), now());
      return null;
    end $$;
    create trigger store_late after delete on filestore.file_versions
      for each statement execute function public.store_late()`);
  const dueAt = async () =>
    (await service.sql<{ due: boolean }>(
      "select due_at > deleted_at as due from filestore.project_deletions where project_id = $1",
      [own.project.id],
    ))[0]?.due;
  try {
    await sweepAll(service);
    assertEquals([(await rowsOf(own.project.id)).includes("files"), await dueAt()], [true, true]);
  } finally {
    const drop = "drop trigger store_late on filestore.file_versions; drop function public.store_late";
    await service.stack.script(drop);
  }
  await age(own.project.id, 1);
  await sweepAll(service);
  await assertOnlyRecorded(own.project.id);
});

test("deno task projects delete asks for the name, and deletes with it", async () => {
  const own = await files();
  await own.write("f.txt", "x");
  const stack = ["--url", service.stack.supabaseUrl, "--secret-key", service.stack.secretKey];
  const run = (...args: string[]) => runCommand("projects.ts", "delete", ...args, ...stack);
  const { name } = own.project;
  const unconfirmed = await run(name);
  assertEquals(unconfirmed.code, 1);
  assert(unconfirmed.stderr.includes("requires --confirm"), unconfirmed.stderr);
  const wrong = await run(name, "--confirm", "another");
  assertEquals([wrong.code, wrong.stderr.includes("Nothing was deleted")], [1, true], wrong.stderr);
  assertEquals((await own.read("f.txt")).content, "x");
  const deleted = await run(name, "--confirm", name, "--json");
  assertEquals([deleted.code, JSON.parse(deleted.stdout).id], [0, own.project.id], deleted.stderr);
  assertRefused(await own.request("GET", "/files/f.txt"), "INVALID_API_KEY");
  assertEquals((await run(name, "--confirm", name)).code, 1);
  const ids = (await administration.listProjects()).map(({ id }) => id);
  assert(!ids.includes(own.project.id));
});
