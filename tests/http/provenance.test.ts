/** The provenance that clients send, and what every way to add a version stores of it. */
import { assert, assertEquals } from "@std/assert";
import {
  ACTOR_LENGTH_MAX,
  CHANGE_NOTE_LENGTH_MAX,
  RUN_ID_LENGTH_MAX,
} from "../../supabase/functions/api/limits.ts";
import {
  assertRefused,
  type ChangePage,
  changePage,
  dataOf,
  fileRecord,
  issuePaths,
  newLink,
} from "../support/client/contract.ts";
import type { Files, HeaderFields, ProjectFiles } from "../support/client/files.ts";
import { messageOf } from "../support/client/mcp.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

type Change = ChangePage["changes"][number];

async function feed(own: Files): Promise<Change[]> {
  return dataOf(await own.request("GET", "/changes"), "list_changes", changePage).changes;
}

/** The provenance of the last version in the project. */
async function said(own: Files) {
  const { runId, actor, note } = (await feed(own)).at(-1) ?? {};
  return { runId, actor, note };
}

const SAID = { "x-run-id": "run-1", "x-actor": "planner/2.1", "x-change-note": "fix%20%C3%A9" };
const STORED = { runId: "run-1", actor: "planner/2.1", note: "fix é" };

async function tool(
  own: Files,
  name: string,
  args: Record<string, unknown>,
  headers: HeaderFields = {},
  meta = {},
) {
  const { body, headers: given } = messageOf("modern", "tools/call", { name, arguments: args });
  Object.assign(Object(Reflect.get(Object(body["params"]), "_meta")), meta);
  return await own.request("POST", "/mcp", { body, headers: { ...given, ...headers } });
}

const remember = (command: Record<string, unknown>) => (own: ProjectFiles, headers: HeaderFields) =>
  own.request("POST", "/memory", { body: command, headers });
const post = (address: string, body: Record<string, unknown>) => (own: ProjectFiles, headers: HeaderFields) =>
  own.request("POST", address, { body, headers });
const call = (name: string, args: Record<string, unknown>) => (own: ProjectFiles, headers: HeaderFields) =>
  tool(own, name, args, headers);

/** Each way to add versions to `memories/a.txt`, which has two, and the provenance that the feed shows. */
const WAYS: readonly [
  string,
  (own: ProjectFiles, headers: HeaderFields) => Promise<{ readonly status: number }>,
  readonly Partial<Change>[],
][] = (() => {
  const path = "memories/a.txt";
  const destination = "memories/b.txt";
  const from = { path, version: 2 };
  const moved = [{ path, version: 3, operation: "move", deleted: true }, {
    path: destination,
    version: 1,
    operation: "move",
    from,
  }] as const;
  const restored = [{ path, version: 3, operation: "restore", from: { path, version: 1 } }] as const;
  const one = (operation: Change["operation"], more = {}) => [{ path, version: 3, operation, ...more }];
  const raw = { "content-type": "application/octet-stream" };
  return [
    ["POST /files", (own, headers) => own.post({ path, content: "x" }, headers), one("write")],
    ["POST /files raw", (own, headers) => own.post(Uint8Array.of(1), headers, { path }), one("write")],
    ["append", (own, headers) => own.put("append", path, { content: "x" }, headers), one("append")],
    [
      "append raw",
      (own, headers) => own.put("append", path, Uint8Array.of(1), { ...raw, ...headers }),
      one("append"),
    ],
    ["overwrite", (own, headers) => own.put("overwrite", path, { content: "x" }, headers), one("overwrite")],
    [
      "edit",
      (own, headers) => own.put("edit", path, { oldString: "one", newString: "x" }, headers),
      one("edit"),
    ],
    ["delete", (own, headers) => own.tryRemove(path, headers), one("delete", { deleted: true })],
    ["restore", (own, headers) => own.put("restore", path, { version: 1 }, headers), restored],
    ["copy", (own, headers) => own.put("copy", path, { destination }, headers), [
      { path: destination, version: 1, operation: "copy", from },
    ]],
    ["move", (own, headers) => own.put("move", path, { destination }, headers), moved],
    ["a link", async (own, headers) => {
      const answer = await own.request("POST", "/links", { body: { path, for: "write" } });
      const target = dataOf(answer, "create_link", newLink).url.slice(service.baseUrl.length);
      return await service.request(null, "PUT", target, { body: "bytes", headers });
    }, one("write")],
    ["memory create", remember({ command: "create", path: "/memories/b.txt", file_text: "x" }), [
      { path: destination, version: 1, operation: "write" },
    ]],
    [
      "memory str_replace",
      remember({ command: "str_replace", path: "/memories/a.txt", old_str: "one", new_str: "x" }),
      one("edit"),
    ],
    [
      "memory insert",
      remember({ command: "insert", path: "/memories/a.txt", insert_line: 0, insert_text: "x" }),
      one("edit"),
    ],
    [
      "memory delete",
      remember({ command: "delete", path: "/memories/a.txt" }),
      one("delete", { deleted: true }),
    ],
    [
      "memory rename",
      remember({ command: "rename", old_path: "/memories/a.txt", new_path: "/memories/b.txt" }),
      moved,
    ],
    ["write_file", call("write_file", { path, content: "x", expected_version: 2 }), one("write")],
    ["edit_file", call("edit_file", { path, old_string: "one", new_string: "x" }), one("edit")],
    ["append_file", call("append_file", { path, content: "x" }), one("append")],
    ["append_file, to a new file", call("append_file", { path: destination, content: "x" }), [
      { path: destination, version: 1, operation: "write" },
    ]],
    ["delete_file", call("delete_file", { path }), one("delete", { deleted: true })],
    ["move_file", call("move_file", { path, destination }), moved],
    ["restore_file", call("restore_file", { path, version: 1 }), restored],
    ["batch", post("/batch", { operations: [{ op: "write", path, content: "x" }] }), one("write")],
    ["folder copy", post("/folders/copy", { path: "memories", destination: "other" }), [
      { path: "other/a.txt", version: 1, operation: "copy", from },
    ]],
    ["folder move", post("/folders/move", { path: "memories", destination: "other" }), [
      { path, version: 3, operation: "move", deleted: true },
      { path: "other/a.txt", version: 1, operation: "move", from },
    ]],
    [
      "folder delete",
      (own, headers) => own.request("DELETE", "/folders/memories", { headers }),
      one("delete", { deleted: true }),
    ],
    ["folder restore", async (own, headers) => {
      const { createdAt: at } = await own.read(path, { version: 1 });
      return await post("/restore", { directory: "memories", at, dryRun: false })(own, headers);
    }, restored],
  ];
})();

for (const [name, send, expected] of WAYS) {
  test(`${name} stores its operation, and what the headers say`, async () => {
    const own = await files();
    await own.write("memories/a.txt", "one\n");
    await own.append("memories/a.txt", "two\n");
    assertEquals((await send(own, SAID)).status, 200);
    const made = (await feed(own)).slice(2);
    assertEquals(made.map(({ runId, actor, note }) => ({ runId, actor, note })), expected.map(() => STORED));
    assertEquals(
      made.map(({ path, version, operation, deleted, from }) => ({
        path,
        version,
        operation,
        deleted,
        from,
      })),
      expected.map(({ path, version, operation, deleted, from }) => ({
        path,
        version,
        operation,
        deleted,
        from,
      })),
    );
  });
}

test("headers at their bounds are stored as they are, and left out where they are not sent", async () => {
  const own = await files();
  const runId = "aZ09._:-".repeat(RUN_ID_LENGTH_MAX / 8);
  const actor = "a ~!".repeat(ACTOR_LENGTH_MAX / 4);
  const note = "😀".repeat(CHANGE_NOTE_LENGTH_MAX);
  const headers = { "x-run-id": runId, "x-actor": actor, "x-change-note": encodeURIComponent(note) };
  await own.post({ path: "a.txt", content: "x" }, headers);
  assertEquals(await said(own), { runId, actor, note });
  await own.write("a.txt", "x");
  assertEquals(await said(own), { runId: undefined, actor: undefined, note: undefined });
  await own.post({ path: "a.txt", content: "x" }, { "x-change-note": "plain text, 100%25" });
  assertEquals(await said(own), { runId: undefined, actor: undefined, note: "plain text, 100%" });
  await own.post({ path: "a.txt", content: "x" }, { "x-change-note": "" });
  assertEquals((await said(own)).note, undefined);
});

const BAD: readonly [string, string][] = [
  ["X-Run-Id", ""],
  ["X-Run-Id", "a b"],
  ["X-Run-Id", "a/b"],
  ["X-Run-Id", "ä"],
  ["X-Run-Id", "a".repeat(RUN_ID_LENGTH_MAX + 1)],
  ["X-Actor", ""],
  ["X-Actor", "a\tb"],
  ["X-Actor", "é"],
  ["X-Actor", "a".repeat(ACTOR_LENGTH_MAX + 1)],
  ["X-Change-Note", "%"],
  ["X-Change-Note", "%c3"],
  ["X-Change-Note", "%ed%a0%80"],
  ["X-Change-Note", "caf\u00e9"],
  ["X-Change-Note", "a%0Ab"],
  ["X-Change-Note", "a%00b"],
  ["X-Change-Note", "%C2%85"],
  ["X-Change-Note", "a".repeat(CHANGE_NOTE_LENGTH_MAX + 1)],
];

test("400: a header outside its bounds is named, on every route that writes, and nothing is changed", async () => {
  const own = await files();
  await own.write("memories/a.txt", "one\n");
  await own.append("memories/a.txt", "two\n");
  const before = await service.tables();
  for (const [name, value] of BAD) {
    const answer = await own.post({ path: "memories/a.txt", content: "x" }, { [name]: value });
    assertEquals(
      issuePaths(assertRefused(answer, "VALIDATION_ERROR", "write_file")),
      [name],
      `${name}: ${value}`,
    );
  }
  for (const [name, send] of WAYS) {
    // A tool reports a failure in its result, and a link is created first, so these cannot be checked here.
    if (/^(a link|\w+_file)/.test(name)) continue;
    const { status } = await send(own, { "X-Run-Id": "a b" });
    assertEquals(status, 400, name);
  }
  const refused = await tool(own, "delete_file", { path: "memories/a.txt" }, { "X-Actor": "é" });
  assert(refused.text.includes("VALIDATION_ERROR: X-Actor"), refused.text);
  assertEquals(await service.tables(), before);
});

test("over MCP: without headers the run is the trace, and the actor what the client calls itself, cut and cleaned", async () => {
  const own = await files();
  const trace = "0af7651916cd43dd8448eb211c80319c";
  const client = (name: unknown, version: unknown) => ({
    "io.modelcontextprotocol/clientInfo": { name, version },
  });
  const cases: [Record<string, unknown>, HeaderFields, Partial<Change>][] = [
    [{ traceparent: `00-${trace}-b7ad6b7169203331-01` }, {}, { runId: trace, actor: "test/1.0.0" }],
    [{ traceparent: `00-${"0".repeat(32)}-b7ad6b7169203331-01` }, {}, { actor: "test/1.0.0" }],
    [{ traceparent: "none" }, {}, { actor: "test/1.0.0" }],
    [{ traceparent: 7 }, {}, { actor: "test/1.0.0" }],
    [client("Ma\tjor é Tom 😀", "1\n.2"), {}, { actor: "Major  Tom/1.2" }],
    [client("n".repeat(200), "1"), {}, { actor: "n".repeat(ACTOR_LENGTH_MAX) }],
    [client("x", ""), {}, { actor: "x" }],
    [client("y", "v".repeat(300)), {}, { actor: `y/${"v".repeat(ACTOR_LENGTH_MAX - 2)}` }],
    [{ traceparent: `00-${trace}-b7ad6b7169203331-01` }, SAID, STORED],
    [{ traceparent: `00-${trace}-b7ad6b7169203331-01` }, { "x-actor": "ada" }, {
      runId: trace,
      actor: "ada",
    }],
  ];
  for (const [index, [meta, headers, expected]] of cases.entries()) {
    const { status, text } = await tool(
      own,
      "append_file",
      { path: "a.txt", content: `${index}` },
      headers,
      meta,
    );
    assertEquals(status, 200, text);
    assertEquals(
      await said(own),
      { runId: undefined, actor: undefined, note: undefined, ...expected },
      JSON.stringify(meta),
    );
  }
});

test("a replay of an idempotency key makes nothing, whatever it says of itself", async () => {
  const own = await files();
  const once = { "idempotency-key": "once" };
  const first = await own.post({ path: "a.txt", content: "x" }, { ...once, ...SAID });
  const again = await own.post({ path: "a.txt", content: "x" }, { ...once, "x-run-id": "another" });
  assertEquals(dataOf(again, "write_file", fileRecord), dataOf(first, "write_file", fileRecord));
  assertEquals((await feed(own)).map(({ runId }) => runId), ["run-1"]);
});
