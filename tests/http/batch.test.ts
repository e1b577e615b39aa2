/** POST /batch: several operations as one commit; contract D3. */
import { assert, assertEquals } from "@std/assert";
import { BATCH_OPERATIONS_MAX, CONTENT_LENGTH_MAX } from "../../supabase/functions/api/limits.ts";
import type { Answer, Code } from "../support/client/contract.ts";
import { assertRefused, batchResults, dataOf, issuePaths, rateOf } from "../support/client/contract.ts";
import { owner } from "../support/client/accounts.ts";
import { administrator, redact } from "../support/client/erasure.ts";
import { Files } from "../support/client/files.ts";
import { inParallel } from "../support/in_parallel.ts";
import { suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

type Operation = Readonly<Record<string, unknown>>;

function tryBatch(own: Files, operations: readonly Operation[], headers = {}): Promise<Answer> {
  return own.request("POST", "/batch", { body: { operations }, headers });
}

async function batch(own: Files, operations: readonly Operation[], headers = {}) {
  return dataOf(await tryBatch(own, operations, headers), "batch", batchResults).results;
}

async function assertBatchRefused(own: Files, operations: readonly Operation[], code: Code) {
  return assertRefused(await tryBatch(own, operations), code, "batch");
}

const edit = (oldString: string, newString: string) => ({ oldString, newString });
const write = (path: string, content: string, more = {}) => ({ op: "write", path, content, ...more });

test("every kind of operation, each seeing what the earlier ones did", async (own) => {
  await own.write("kept.md", "one\ntwo\n");
  await own.write("gone.md", "x");
  await own.write("gone.md", "y");
  const results = await batch(own, [
    write("new.json", "{}"),
    { op: "append", path: "new.json", content: "\n" },
    { op: "edit", path: "new.json", ...edit("{}", '{"a": 1}') },
    { op: "overwrite", path: "kept.md", content: "aGk=", isBase64: true },
    { op: "edit", path: "kept.md", edits: [edit("h", "H"), edit("i", "I")] },
    { op: "restore", path: "gone.md", version: 1 },
    { op: "copy", path: "gone.md", destination: "copy.md" },
    { op: "edit", path: "copy.md", oldString: "x", newString: "z" },
    { op: "move", path: "new.json", destination: "a/moved.json" },
    { op: "edit", path: "a/moved.json", oldString: "1", newString: "2" },
    { op: "delete", path: "gone.md" },
    write("gone.md", "again", { contentType: "text/html" }),
  ]);
  assertEquals(
    results.map((made) => [made.path, made.version, made.deleted ?? made.replacements ?? null]),
    [
      ["new.json", 1, null],
      ["new.json", 2, null],
      ["new.json", 3, 1],
      ["kept.md", 2, null],
      ["kept.md", 3, 2],
      ["gone.md", 3, null],
      ["copy.md", 1, null],
      ["copy.md", 2, 1],
      ["a/moved.json", 1, null],
      ["a/moved.json", 2, 1],
      ["gone.md", 4, true],
      ["gone.md", 5, null],
    ],
  );
  const texts = {
    "kept.md": ["HI", "text/markdown"],
    "copy.md": ["z", "text/markdown"],
    "a/moved.json": ['{"a": 2}\n', "application/json"],
    "gone.md": ["again", "text/html"],
  };
  for (const [path, expected] of Object.entries(texts)) {
    const { content, mimeType } = await own.read(path);
    assertEquals([content, mimeType], expected);
  }
  assertRefused(await own.get("new.json"), "FILE_NOT_FOUND");
  const times = new Set(results.map(({ updatedAt }) => updatedAt));
  assertEquals(times.size, 1, "all versions of a commit have its time");
  const history = await own.versions("a/moved.json");
  const origins = history.versions.map(({ operation, from }) => [operation, from]);
  assertEquals(origins, [["edit", undefined], ["move", { path: "new.json", version: 3 }]]);
});

test("an edit of what a restore brings back: a version of before, or one that the batch has made", async () => {
  const own = await files();
  await own.write("old", "old 1");
  await own.write("old", "old 2");
  const renew = (path: string, old: string) => ({ op: "edit", path, ...edit(old, "new") });
  await batch(own, [
    write("made", "made 1"),
    { op: "overwrite", path: "made", content: "made 2" },
    { op: "restore", path: "made", version: 1 },
    renew("made", "made 1"),
    { op: "delete", path: "made" },
    { op: "restore", path: "made", version: 4 },
    { op: "append", path: "made", content: "!" },
    renew("made", "new!"),
    { op: "overwrite", path: "old", content: "old 3" },
    { op: "restore", path: "old", version: 1 },
    renew("old", "old 1"),
  ]);
  assertEquals([(await own.read("made")).content, (await own.read("old")).content], ["new", "new"]);
  assertEquals((await own.versions("made")).total, 8);
});

test("an edit of what a restore cannot bring back: what is refused is the restore, or an operation before it", async () => {
  const own = await files();
  for (const content of ["old 1", "old 2", "old 3"]) await own.write("old", content);
  await redact(await administrator(service, own.project.id), "old", [1]);
  await own.request("DELETE", "/files/old");
  const before = await own.versions("old");
  const renew = { op: "edit", path: "old", ...edit("old", "new") };
  const codes = { 1: "VERSION_REDACTED", 4: "VERSION_DELETED", 9: "VERSION_NOT_FOUND" } as const;
  for (const [version, code] of Object.entries(codes)) {
    const restore = { op: "restore", path: "old", version: Number(version) };
    const refused = await assertBatchRefused(own, [write("new", "1"), restore, renew], code);
    assertEquals(refused["index"], 1, code);
    const first = [{ op: "delete", path: "none" }, restore, renew];
    assertEquals((await assertBatchRefused(own, first, "FILE_NOT_FOUND"))["index"], 0, code);
  }
  assertEquals(await own.versions("old"), before);
  assertRefused(await own.get("new"), "FILE_NOT_FOUND");
});

const REFUSED: readonly (readonly [what: string, code: Code, operation: Operation])[] = [
  ["a file that does not exist", "FILE_NOT_FOUND", { op: "append", path: "no", content: "x" }],
  ["a string that does not occur", "STRING_NOT_FOUND", { op: "edit", path: "f", ...edit("q", "r") }],
  ["an edit of a deleted file", "FILE_NOT_FOUND", { op: "edit", path: "deleted", ...edit("x", "y") }],
  ["another version", "PRECONDITION_FAILED", { op: "delete", path: "f", ifVersion: 7 }],
  ["a version that is not there", "VERSION_NOT_FOUND", { op: "restore", path: "f", version: 9 }],
  ["a destination that exists", "FILE_ALREADY_EXISTS", { op: "copy", path: "f", destination: "made" }],
];

for (const [what, code, operation] of REFUSED) {
  test(`refused for ${what}: nothing is done, nothing stored, and the index names the operation`, async () => {
    const own = await files();
    await own.write("f", "text");
    await own.write("deleted", "x");
    const before = await service.tables();
    const details = await assertBatchRefused(own, [
      write("made", "content of its own"),
      { op: "delete", path: "deleted" },
      { op: "edit", path: "f", ...edit("text", "texts") },
      operation,
      { op: "delete", path: "never looked at" },
    ], code);
    assertEquals(details["index"], 3);
    assertEquals(await service.tables(), before);
  });
}

test("ifVersion is about path: 0 for none live, also on a tombstone, whose numbers go on", async (own) => {
  await own.write("f", "1");
  await own.write("dead", "1");
  await own.remove("dead");
  const answer = await tryBatch(own, [write("g", "x"), write("f", "2", { ifVersion: 0 })]);
  assertEquals(answer.status, 412);
  assert(answer.text.includes("FILE_ALREADY_EXISTS") && answer.text.includes('"index":1'), answer.text);
  const results = await batch(own, [
    write("g", "x", { ifVersion: 0 }),
    write("dead", "2", { ifVersion: 0 }),
    write("f", "2", { ifVersion: 1 }),
    { op: "append", path: "f", content: "3", ifVersion: 2 },
  ]);
  assertEquals(results.map(({ version }) => version), [1, 3, 2, 3]);
});

test("faults of shape name the field; 101 operations are 400, too much content is 413", async (own) => {
  const before = await service.tables();
  const issues = async (operations: readonly Operation[]) =>
    issuePaths(await assertBatchRefused(own, operations, "VALIDATION_ERROR"));
  const bad: readonly (readonly [Operation, string])[] = [
    [{ op: "purge", path: "a" }, "op"],
    [write("a", "x", { ifVersion: -1 }), "ifVersion"],
    [{ op: "edit", path: "a", ...edit("x", "x") }, "newString"],
    [{ op: "edit", path: "a", ...edit("x", "y"), dryRun: true }, "dryRun"],
    [{ op: "copy", path: "a", destination: "a" }, "destination"],
    [write("a", "?", { isBase64: true }), "content"],
  ];
  for (const [operation, field] of bad) assertEquals(await issues([operation]), [`operations.0.${field}`]);
  assertEquals(await issues([write("a", "x"), { op: "write", content: "x" }]), ["operations.1.path"]);
  assertEquals(await issues([]), ["operations"]);
  assertEquals(await issues(Array(BATCH_OPERATIONS_MAX + 1).fill(write("a", ""))), ["operations"]);
  const outside = await assertBatchRefused(own, [write("a", "x"), write("../b", "x")], "INVALID_PATH");
  assertEquals(outside, { rule: "dot_segment", index: 1 });
  const half = "x".repeat(CONTENT_LENGTH_MAX / 2);
  await assertBatchRefused(own, [write("a", half), write("b", half), write("c", "x")], "CONTENT_TOO_LARGE");
  assertEquals(await service.tables(), before);
  const made = await batch(own, [write("a", half), write("b", half)]);
  assertEquals(made.map(({ size }) => size), [half.length, half.length]);
});

test("it counts one request for each ten operations begun, and none where fewer are left", async () => {
  const own = await files("free", { requestsPerMinute: 20 });
  const many = (count: number) => Array.from({ length: count }, (_, index) => write(`f${index}`, "x"));
  const change = { op: "edit", path: "f0", ...edit("x", "y") };
  const large = write("large", "x".repeat(100_000));
  const left = (answer: Answer) => rateOf(answer.headers).remaining;
  await service.freezeWindow(own.project.id);
  assertEquals(left(await tryBatch(own, many(1))), 19);
  assertEquals(left(await tryBatch(own, many(11))), 17);
  // An edit needs a read first, and the limits are checked before a body over 64 KiB is read.
  assertEquals(left(await tryBatch(own, [...many(20), change])), 14);
  assertEquals(left(await tryBatch(own, [...many(20), large])), 11);
  // A request with an invalid body counts as one.
  assertEquals(left(await tryBatch(own, [...many(30), { op: "delete" }])), 10);
  assertEquals(left(await tryBatch(own, [large, { op: "delete" }])), 9);
  const before = await service.tables();
  for (const last of [write("g", "x"), change, large]) {
    const refused = await tryBatch(own, [...many(90), last]);
    assertRefused(refused, "RATE_LIMIT_EXCEEDED", "batch");
    assertEquals(left(refused), 9);
  }
  assertEquals(await service.tables(), before);
  assertEquals(left(await tryBatch(own, many(90))), 0);
  assertRefused(await tryBatch(own, many(1)), "RATE_LIMIT_EXCEEDED", "batch");
});

test("an Idempotency-Key replays the answer, whatever has become of the files since", async (own) => {
  await own.write("f", "old text");
  const operations = [
    { op: "edit", path: "f", ...edit("old", "new") },
    write("g", "x"),
    { op: "move", path: "g", destination: "h" },
  ];
  const headers = { "idempotency-key": "once" };
  const first = await tryBatch(own, operations, headers);
  assertEquals(first.headers.has("idempotency-replayed"), false);
  await own.write("f", "rewritten");
  await own.remove("h");
  const second = await tryBatch(own, operations, headers);
  assertEquals(second.headers.get("idempotency-replayed"), "true");
  assertEquals(second.body, first.body);
  assertEquals((await own.record("f")).version, 3);
  assertRefused(await tryBatch(own, [write("g", "y")], headers), "IDEMPOTENCY_KEY_REUSED", "batch");
});

test("a key with a prefix writes below it alone; an edit needs the scope read", async () => {
  const account = await owner(service);
  const keyed = async (fields: Record<string, unknown>) =>
    new Files(service, (await account.createKey(fields)).key);
  const own = await keyed({});
  await own.write("out/f", "x");
  const inside = await keyed({ pathPrefix: "in" });
  const writer = await keyed({ scopes: ["write"] });
  await batch(inside, [write("in/a", "x")]);
  const before = await service.tables();
  const outside = [
    write("out/g", "x"),
    { op: "move", path: "out/f", destination: "in/f" },
    { op: "copy", path: "in/a", destination: "out/g" },
  ];
  for (const operation of outside) {
    await assertBatchRefused(inside, [write("in/b", "x"), operation], "FORBIDDEN_SCOPE");
  }
  // For a key with a prefix, a file outside it does not exist.
  await assertBatchRefused(inside, [{ op: "copy", path: "out/f", destination: "in/f" }], "FILE_NOT_FOUND");
  const change = { op: "edit", path: "out/f", ...edit("x", "y") };
  assertEquals(await assertBatchRefused(writer, [change], "FORBIDDEN_SCOPE"), { scope: "read" });
  assertEquals(await service.tables(), before);
});

test("appends of a batch to a file that is full of segments: it is compacted first", async (own) => {
  await own.write("log", "");
  const lines = (from: number) =>
    Array.from({ length: 90 }, (_, index) => ({ op: "append", path: "log", content: `${from + index}\n` }));
  for (const from of [0, 90, 180]) await batch(own, lines(from));
  const expected = Array.from({ length: 270 }, (_, index) => `${index}\n`).join("");
  assertEquals((await own.read("log")).content, expected);
});

test("edits of batches that meet are all made, or named as conflicts", async (own) => {
  const CLIENTS = 8;
  const clients = Array.from({ length: CLIENTS }, (_, client) => client);
  const name = (client: number) => `line ${client} is`;
  await own.write("f", clients.map((client) => `${name(client)} old\n`).join(""));
  const answers = await inParallel(clients, CLIENTS, (client) => {
    const change = edit(`${name(client)} old`, `${name(client)} new`);
    return tryBatch(own, [write(`by/${client}`, "x"), { op: "edit", path: "f", ...change }]);
  });
  const text = (await own.read("f")).content;
  for (const [client, answer] of answers.entries()) {
    const isDone = answer.status === 200;
    if (!isDone) assertRefused(answer, "VERSION_CONFLICT", "batch");
    assertEquals(text.includes(`${name(client)} ${isDone ? "new" : "old"}`), true);
    assertEquals((await own.get(`by/${client}`)).status, isDone ? 200 : 404);
  }
});
