/** The cost of each operation at the back end: calls of the database, and objects stored and fetched. */
import { assertEquals } from "@std/assert";
import { tagOf } from "../support/client/preconditions.ts";
import { NO_OBJECTS, type Traffic, trafficOf } from "../support/client/traffic.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { suite } from "../support/stack/suite.ts";
import { prepare, WRITES } from "../support/client/write_kinds.ts";

const { service, files, test } = await suite();

/** A project with a file, whose key is cached in the function. */
async function prepared(): Promise<ProjectFiles> {
  const own = await files();
  await prepare(own, "f.txt");
  return own;
}

for (const kind of WRITES) {
  const reads = kind.name.startsWith("PUT edit") ? ["filestore_content"] : [];
  const puts = kind.stores ? 1 : 0;
  const expected: Traffic = { database: [...reads, "filestore_commit"], puts, gets: 0, removals: 0 };
  test(`${kind.name}: ${expected.database.length} call${reads.length > 0 ? "s" : ""}, ${expected.puts} object`, async () => {
    const own = await prepared();
    assertEquals(await trafficOf(service, () => kind.send(own, "f.txt")), expected);
  });

  test(`${kind.name}: as many calls with a precondition and an idempotency key`, async () => {
    const own = await prepared();
    const headers = { "if-match": await own.tag("f.txt"), "idempotency-key": "k" };
    assertEquals(await trafficOf(service, () => kind.send(own, "f.txt", headers)), expected);
  });
}

/** Operations on 3 MB of many segments that must not touch an object. */
const MOVELESS: readonly (readonly [string, (own: ProjectFiles) => Promise<unknown>])[] = [
  ["delete", (own) => own.remove("big.txt")],
  ["restore", (own) => own.restore("big.txt", 1)],
  ["copy", (own) => own.copy("big.txt", "copy.txt")],
  ["move", (own) => own.move("big.txt", "moved.txt")],
  ["metadata", (own) => own.record("big.txt")],
  ["versions", (own) => own.versions("big.txt")],
  ["list of deleted files", (own) => own.list({ deleted: true, recursive: true })],
  ["list after a path", (own) => own.list({ after: "a", recursive: true })],
];

for (const [name, operation] of MOVELESS) {
  test(`${name}: 1 call, and no byte of the content moves`, async (own) => {
    await own.write("big.txt", "x".repeat(3_000_000));
    await own.append("big.txt", "y");
    const objects = service.objectsOnDisk();
    const { database, ...moved } = await trafficOf(service, () => operation(own));
    assertEquals([database.length, moved], [1, NO_OBJECTS]);
    assertEquals(service.objectsOnDisk(), objects);
    const bytes = service.proxy.calls.reduce((sum, call) => sum + call.requestBytes + call.responseBytes, 0);
    assertEquals(bytes < 10_000, true, `${bytes} bytes passed`);
  });
}

test("a deleted file and its tombstone's diff: 1 call, one more for an unknown key, and the objects of the other side alone", async () => {
  const own = await prepared();
  await own.remove("f.txt");
  await service.restartFunction();
  // The account whose slot for costly requests it needs is not known yet.
  const database = ["filestore_authorize", "filestore_diff"];
  const gone = { database: ["filestore_content"], ...NO_OBJECTS };
  assertEquals(await trafficOf(service, () => own.diff("f.txt")), { database, ...NO_OBJECTS, gets: 1 });
  assertEquals(await trafficOf(service, () => own.get("f.txt")), gone);
});

test("304: 1 call and no object", async () => {
  const own = await prepared();
  const condition = { "if-none-match": tagOf(await own.get("f.txt")) };
  const { database, ...objects } = await trafficOf(service, () => own.get("f.txt", condition));
  assertEquals([database, objects], [["filestore_content"], NO_OBJECTS]);
});

for (const kind of WRITES) {
  const isEdit = kind.name.startsWith("PUT edit");
  const uploads = kind.stores && !isEdit ? 1 : 0;
  const expected: Traffic = {
    database: [isEdit ? "filestore_content" : "filestore_commit"],
    ...{ puts: uploads, gets: 0, removals: uploads },
  };
  test(`${kind.name}, replayed: 1 call, and what it uploaded is removed again`, async () => {
    const own = await prepared();
    const once = { "idempotency-key": "k" };
    await kind.send(own, "f.txt", once);
    assertEquals(await trafficOf(service, () => kind.send(own, "f.txt", once)), expected);
  });

  test(`${kind.name} with a stale If-Match: 1 call`, async () => {
    const own = await prepared();
    const stale = { "if-match": '"stale"' };
    assertEquals(await trafficOf(service, () => kind.send(own, "f.txt", stale)), expected);
  });
}
