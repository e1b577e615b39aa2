/** A repeated request whose versions have been erased since is answered without an error, and is not performed again. */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import type { Answer } from "../support/client/contract.ts";
import { administrator, purge, redact, sweepAll } from "../support/client/erasure.ts";
import type { Files, ProjectFiles } from "../support/client/files.ts";
import { prepare, WRITES } from "../support/client/write_kinds.ts";
import { assertReplayed, withData } from "../acceptance/idempotency.ts";
import { IS_LONG } from "../support/runner/long.ts";
import { privateSuite, test } from "../support/stack/suite.ts";

const { service, files } = await privateSuite({});

async function paths(own: Files): Promise<string[]> {
  const { files } = await own.list({ recursive: true, limit: 100 });
  const deleted = await own.list({ recursive: true, deleted: true, limit: 100 });
  return [...files, ...deleted.files].map(({ path }) => path);
}
const versionsOf = async (own: ProjectFiles) =>
  (await service.sql(
    "select from filestore.file_versions where project_id = $1 and operation <> 'purge'",
    [own.project.id],
  )).length;

/** Like `assertReplayed`, for an answer without an entity tag. */
function assertRepeated(again: Answer, first: Answer): void {
  assertEquals([again.status, again.headers.get("idempotency-replayed")], [200, "true"], again.text);
  assertEquals(withData.parse(again.body).data, withData.parse(first.body).data);
}

/** Ways to erase every version that a request added. If the latest version must stay, they add a later one first. */
const ERASURES: Readonly<Record<string, (own: Files, admin: Files) => Promise<void>>> = {
  async purged(own, admin) {
    for (const path of await paths(own)) await purge(admin, path);
  },
  async redacted(own, admin) {
    for (const path of await paths(own)) {
      const { version } = await own.write(path, "later");
      await redact(admin, path, Array.from({ length: version - 1 }, (_, index) => index + 1));
    }
  },
  async trimmed(own, admin) {
    for (const path of await paths(own)) await own.write(path, "later");
    await admin.request("PATCH", "/project", { body: { retention: { keepVersions: 1 } } });
    await sweepAll(service);
  },
};

/** All of them in the long form; in the short form each kind meets one erasure. */
function inTurn<T>(kinds: readonly T[], erasure: string): T[] {
  const names = Object.keys(ERASURES);
  return kinds.filter((_, index) => IS_LONG || names[index % names.length] === erasure);
}

for (const [name, erase] of Object.entries(ERASURES)) {
  test(`a repeated write of any kind is answered as it was while its versions are ${name}, and makes nothing`, async () => {
    for (const kind of inTurn(WRITES, name)) {
      const own = await files();
      await prepare(own, "f.txt");
      const once = { "idempotency-key": "k" };
      const first = await kind.send(own, "f.txt", once);
      await erase(own, await administrator(service, own.project.id));
      const before = await versionsOf(own);
      assertReplayed(await kind.send(own, "f.txt", once), first);
      assertEquals(await versionsOf(own), before, kind.name);
      await sweepAll(service);
      assertReplayed(await kind.send(own, "f.txt", once), first);
      assertEquals(await versionsOf(own), before, kind.name);
    }
  });
}

type Operation = "batch" | "copy_folder" | "move_folder" | "delete_folder" | "undo_run" | "restore_folder";
interface ManyKind {
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  body?(cursor: string): unknown;
}
const toOther = () => ({ path: "d", destination: "e" });
const CHANGES = [
  { op: "edit", path: "d/a", oldString: "one", newString: "two" },
  { op: "write", path: "d/b", content: "x" },
  { op: "move", path: "d/b", destination: "d/c" },
];
const overwriting = () => ({ dryRun: false, onConflict: "overwrite" });
const restored = (cursor: string) => ({ directory: "d", at: cursor, dryRun: false });
const MANY: readonly ManyKind[] = [
  { operation: "batch", method: "POST", path: "/batch", body: () => ({ operations: CHANGES }) },
  { operation: "copy_folder", method: "POST", path: "/folders/copy", body: toOther },
  { operation: "move_folder", method: "POST", path: "/folders/move", body: toOther },
  { operation: "delete_folder", method: "DELETE", path: "/folders/d" },
  { operation: "undo_run", method: "POST", path: "/runs/r/undo", body: overwriting },
  { operation: "restore_folder", method: "POST", path: "/restore", body: restored },
];

/** Writes a folder with two files: a run changed one and created the other. Returns a function that sends the request. */
async function prepareMany(own: Files, kind: ManyKind): Promise<() => Promise<Answer>> {
  await own.write("d/a", "one");
  const { cursor } = (await own.versions("d/a")).versions[0] ?? { cursor: "" };
  for (const path of ["d/a", "d/new"]) {
    await own.request("POST", "/files", {
      body: { path, content: "one by the run" },
      headers: { "x-run-id": "r" },
    });
  }
  const body = kind.body?.(cursor);
  const headers = { "idempotency-key": "k", "x-run-id": "mine" };
  return () => own.request(kind.method, kind.path, { ...(body !== undefined && { body }), headers });
}

/** Asserts that the answer is the same, with its lists empty. */
function assertBlank(again: Answer, first: Answer): void {
  assertEquals([again.status, again.headers.get("idempotency-replayed")], [200, "true"], again.text);
  const data = z.object({ data: z.record(z.string(), z.unknown()) }).parse(first.body).data;
  const blank = Object.entries(data).map(([name, value]) => [name, Array.isArray(value) ? [] : value]);
  assertEquals(withData.parse(again.body).data, Object.fromEntries(blank));
}
const namesOf = async (own: ProjectFiles) =>
  (await service.sql("select from filestore.idempotency_keys where project_id = $1 and names is not null", [
    own.project.id,
  ])).length;

for (const [name, erase] of Object.entries(ERASURES)) {
  test(`200: a repeated change of several files whose versions are ${name} was done, and is not done again`, async () => {
    for (const kind of inTurn(MANY, name)) {
      const own = await files();
      const send = await prepareMany(own, kind);
      const first = await send();
      assertEquals([first.status, first.headers.get("idempotency-replayed")], [200, null], first.text);
      await erase(own, await administrator(service, own.project.id));
      const before = await versionsOf(own);
      // Retention removes versions to save space, not to hide them, so the stored answer stays.
      const assertAgain = name === "trimmed" ? assertRepeated : assertBlank;
      assertAgain(await send(), first);
      await sweepAll(service);
      assertAgain(await send(), first);
      assertEquals(await versionsOf(own), before, kind.operation);
      assertEquals(await namesOf(own) > 0, name === "trimmed", kind.operation);
    }
  });
}

test("200: a purge of any file makes the answers of its project blank with its commit, and no later one", async () => {
  for (const kind of IS_LONG ? MANY : MANY.slice(0, 2)) {
    const own = await files();
    const send = await prepareMany(own, kind);
    const first = await send();
    await own.write("other", "x");
    await purge(await administrator(service, own.project.id), "other");
    assertBlank(await send(), first);
    await sweepAll(service);
    const later = () =>
      own.request("POST", "/batch", {
        body: { operations: [{ op: "write", path: "later", content: "x" }] },
        headers: { "idempotency-key": "later" },
      });
    const second = await later();
    assertRepeated(await later(), second);
  }
});

test("an answer that quotes content does so no longer once a version was redacted", async () => {
  const own = await files();
  const edit = () =>
    own.request("POST", "/memory", {
      body: { command: "str_replace", path: "/memories/a", old_str: "one", new_str: "canary" },
      headers: { "idempotency-key": "k" },
    });
  await own.write("memories/a", "one");
  const first = await edit();
  assert(first.text.includes("canary"), first.text);
  await own.write("memories/a", "later");
  await redact(await administrator(service, own.project.id), "memories/a", [2]);
  const again = await edit();
  assertEquals([again.status, again.headers.get("idempotency-replayed")], [200, "true"], again.text);
  assert(!again.text.includes("canary"), again.text);
  await sweepAll(service);
  assertEquals(await namesOf(own), 0);
});

test("a key that was confined to a folder since is not shown what it was answered before", async () => {
  const own = await files();
  const kind = MANY.find(({ operation }) => operation === "copy_folder");
  if (kind === undefined) throw new Error("no such kind");
  const send = await prepareMany(own, kind);
  const first = await send();
  await service.sql("update filestore.api_keys set path_prefix = 'x' where id = $1", [own.project.keyId]);
  const again = await send();
  assert(!again.text.includes("e/a"), again.text);
  await service.sql("update filestore.api_keys set path_prefix = null where id = $1", [own.project.keyId]);
  assertRepeated(await send(), first);
});

test("200: an undo that had nothing to do is answered as it was, whatever was done since", async () => {
  const own = await files();
  await own.write("a", "one");
  await own.request("POST", "/files", { body: { path: "a", content: "two" }, headers: { "x-run-id": "r" } });
  await own.write("a", "one");
  const send = () =>
    own.request("POST", "/runs/r/undo", {
      body: { dryRun: false },
      headers: { "idempotency-key": "k", "x-run-id": "mine" },
    });
  const first = await send();
  assert(first.text.includes('"unchanged":["a"]'), first.text);
  await own.write("a", "three");
  assertRepeated(await send(), first);
});
