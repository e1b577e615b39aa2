/**
 * No project's work keeps the sweep from another project, and a sweep ends even if others add work meanwhile. The wait
 * of a project is counted in slices, beside a project that has much work of every kind and adds more before each slice.
 */
import { assert, assertEquals } from "@std/assert";
import { sweepSlice } from "../../supabase/functions/api/maintenance/sweep.ts";
import { Administration } from "../../supabase/local/admin/administration.ts";
import { administrator, lengthen, purge, redact } from "../support/client/erasure.ts";
import type { Files, ProjectFiles } from "../support/client/files.ts";
import { assertConsistent } from "../support/postgres/consistency.ts";
import { privateSuite, test } from "../support/stack/suite.ts";
import { portsOf } from "../support/stack/supabase_client.ts";

const { service, files } = await privateSuite({});
const administration = new Administration(service.stack.backendUrl, service.stack.secretKey);
const { bucket, metadata, segments } = portsOf(service.stack);

const ERASED_AT_ONCE = 10_000;
const DELETED_PROJECTS = 40;
const SLICES_MAX = 150;

/** Stores the answers to idempotent requests; each answer names a file. */
async function storeAnswers({ project: { id } }: ProjectFiles, count: number): Promise<void> {
  await service.sql(
    `insert into filestore.idempotency_keys (project_id, key, fingerprint, response, names, created_at)
     select $1, 'other ' || n, sha256('x'), '{}', '{"files": ["canary"]}', clock_timestamp()
     from generate_series(1, $2::integer) n`,
    [id, count],
  );
}

async function writeOnce(own: Files, path: string): Promise<void> {
  const answer = await own.request("POST", "/files", {
    body: { path, content: path },
    headers: { "idempotency-key": `once ${path}` },
  });
  assertEquals(answer.status, 200, answer.text);
}

async function deleteProject(own: ProjectFiles): Promise<void> {
  await own.write("a.txt", "x");
  await administration.deleteProject(own.project.id, own.project.name);
}

/** An upload of an earlier day that no commit names. */
async function orphan({ project: { id } }: ProjectFiles): Promise<void> {
  const { error } = await bucket.upload(
    `${id}/20240101/${crypto.randomUUID()}`,
    new Uint8Array(16),
    { contentType: "application/octet-stream" },
  );
  assertEquals(error, null);
}

/** The project with the least id, which comes first wherever ids alone decide, and as many others. */
async function projects(count: number): Promise<[first: ProjectFiles, others: ProjectFiles[]]> {
  let first = await files();
  const others: ProjectFiles[] = [];
  while (others.length < count) {
    const next = await files();
    const isBefore = next.project.id < first.project.id;
    others.push(isBefore ? first : next);
    if (isBefore) first = next;
  }
  return [first, others];
}

/** Gives a project much work of every kind. Returns a function that adds some of each kind. */
async function attackFrom(own: ProjectFiles): Promise<() => Promise<void>> {
  const admin = await administrator(service, own.project.id);
  for (let n = 0; n < 2; n++) {
    await own.write(`purged-${n}`, `all of it in ${own.project.id}`);
    await lengthen(service, own.project.id, `purged-${n}`, ERASED_AT_ONCE + 5000);
    await purge(admin, `purged-${n}`);
  }
  await own.write("redacted", `all of it in ${own.project.id}`);
  await lengthen(service, own.project.id, "redacted", 2 * ERASED_AT_ONCE);
  await own.write("trimmed", `all of it in ${own.project.id}`);
  await lengthen(service, own.project.id, "trimmed", 5000);
  await storeAnswers(own, 20_000);
  for (let n = 0; n < DELETED_PROJECTS; n++) await deleteProject(await files());
  let calls = 0;
  return async () => {
    calls++;
    await writeOnce(own, `mine-${calls}`);
    await purge(admin, `mine-${calls}`);
    await redact(admin, "redacted", [calls]);
    await admin.request("PATCH", "/project", { body: { retention: { keepVersions: 9000 + calls % 2 } } });
    await deleteProject(await files());
    await orphan(await files());
  };
}

/**
 * Work of each kind, which `make` gives to a project, and the number of slices within which it must be done beside the
 * attacker. `isDone` is an SQL condition that is true once the sweep has done all of it.
 */
const WORK: Record<string, { slices: number; isDone: string; make(own: ProjectFiles): Promise<unknown> }> = {
  "versions of a purged file": {
    slices: 6,
    isDone: `not exists (select from filestore.purged_files where project_id = $1 and pending_versions > 0)
      and not exists (select from filestore.dead_segments where project_id = $1 and removed_at is null)`,
    async make(own) {
      await own.write("f", `all of it in ${own.project.id}`);
      await lengthen(service, own.project.id, "f", ERASED_AT_ONCE + 4500);
      await purge(await administrator(service, own.project.id), "f");
    },
  },
  "stored answers with a purged path": {
    slices: 7,
    isDone: `not exists (
      select from filestore.idempotency_keys where project_id = $1 and names::text like '%canary%')`,
    async make(own) {
      await storeAnswers(own, 11_000);
      await writeOnce(own, "canary");
      await purge(await administrator(service, own.project.id), "canary");
    },
  },
  "a redacted version of a long history": {
    slices: 47,
    isDone:
      `not exists (select from filestore.possibly_unreferenced_segments where project_id = $1 and due_since is not null)
      and not exists (select from filestore.dead_segments where project_id = $1 and removed_at is null)`,
    async make(own) {
      await own.write("f", "canary");
      await own.write("f", `all of it in ${own.project.id}`);
      await lengthen(service, own.project.id, "f", ERASED_AT_ONCE + 500);
      await redact(await administrator(service, own.project.id), "f", [1]);
    },
  },
  "a rule of retention": {
    slices: 3,
    isDone: "(select count(*) from filestore.file_versions where project_id = $1) = 300",
    async make(own) {
      await own.write("f", `all of it in ${own.project.id}`);
      await lengthen(service, own.project.id, "f", 1600);
      const admin = await administrator(service, own.project.id);
      await admin.request("PATCH", "/project", { body: { retention: { keepVersions: 300 } } });
    },
  },
  "a deleted project": {
    slices: 7,
    isDone: "(select due_at > deleted_at from filestore.project_deletions where project_id = $1)",
    make: deleteProject,
  },
  "an upload that nothing names": {
    slices: 1,
    isDone: "not exists (select from storage.objects where name like $1::text || '/20240101/%')",
    make: orphan,
  },
};

async function isDone(name: string, projectId: string): Promise<boolean> {
  const [row] = await service.sql<{ done: boolean }>(`select ${WORK[name]?.isDone} as done`, [projectId]);
  return row?.done === true;
}

test("each kind of work is done within a bounded number of slices, and a sweep ends, while a project adds work before each", async () => {
  const names = Object.keys(WORK);
  const [first, others] = await projects(names.length);
  const attack = await attackFrom(first);
  await attack();
  const victims = new Map<string, string>();
  for (const [index, own] of others.entries()) {
    const name = names[index] ?? "";
    await WORK[name]?.make(own);
    victims.set(name, own.project.id);
  }
  const begun = new Date().toISOString();
  const doneAfter: Record<string, number> = {};
  let slices = 0;
  for (let isEnded = false; !isEnded; slices++) {
    assert(slices < SLICES_MAX, `the sweep ends; done: ${JSON.stringify(doneAfter)}`);
    await attack();
    isEnded = (await sweepSlice(metadata, segments, begun)).isDone;
    for (const [name, projectId] of victims) {
      if (!(name in doneAfter) && await isDone(name, projectId)) doneAfter[name] = slices + 1;
    }
  }
  for (const [name, { slices: most }] of Object.entries(WORK)) {
    const after = doneAfter[name];
    assert(after !== undefined && after <= most, `${name}: ${after} slices; ${JSON.stringify(doneAfter)}`);
  }
  // Work added later is left to the next sweep.
  while (!(await sweepSlice(metadata, segments)).isDone);
  await assertConsistent((statement) => service.sql(statement));
});
