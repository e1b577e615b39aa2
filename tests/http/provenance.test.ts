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
import { suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

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

async function tool(own: Files, name: string, args: object, headers: HeaderFields = {}, meta = {}) {
  const { body, headers: given } = messageOf("modern", "tools/call", { name, arguments: args });
  Object.assign(Object(Reflect.get(Object(body["params"]), "_meta")), meta);
  return await own.request("POST", "/mcp", { body, headers: { ...given, ...headers } });
}

type Send = (own: ProjectFiles, headers: HeaderFields) => Promise<{ readonly status: number }>;

const post = (address: string, body: object): Send => (own, headers) =>
  own.request("POST", address, { body, headers });
const remember = (command: string, body: object) => post("/memory", { command, ...body });
const put = (route: string, body: object): Send => (own, headers) =>
  own.put(route, "memories/a.txt", body, headers);
const call = (name: string, args: object): Send => (own, headers) => tool(own, name, args, headers);

/** Each way to add versions to `memories/a.txt`, which has two, and the provenance that the feed shows. */
const WAYS: readonly (readonly [string, Send, readonly Partial<Change>[]])[] = (() => {
  const path = "memories/a.txt";
  const destination = "memories/b.txt";
  const from = { path, version: 2 };
  const one = (operation: Change["operation"], more = {}) => [{ path, version: 3, operation, ...more }];
  const deleted = one("delete", { deleted: true });
  const restored = one("restore", { from: { path, version: 1 } });
  const movedTo = (to: string) => [
    ...one("move", { deleted: true }),
    { path: to, version: 1, operation: "move", from } as const,
  ];
  const [edited, moved] = [one("edit"), movedTo(destination)];
  const created = [{ path: destination, version: 1, operation: "write" }] as const;
  const copied = (to: string) => [{ path: to, version: 1, operation: "copy", from }] as const;
  const raw = { "content-type": "application/octet-stream" };
  const memory = "/memories/a.txt";
  const folder = { path: "memories", destination: "other" };
  return [
    ["POST /files", (own, headers) => own.post({ path, content: "x" }, headers), one("write")],
    ["POST /files raw", (own, headers) => own.post(Uint8Array.of(1), headers, { path }), one("write")],
    ["append", put("append", { content: "x" }), one("append")],
    [
      "append raw",
      (own, headers) => own.put("append", path, Uint8Array.of(1), { ...raw, ...headers }),
      one("append"),
    ],
    ["overwrite", put("overwrite", { content: "x" }), one("overwrite")],
    ["edit", put("edit", { oldString: "one", newString: "x" }), edited],
    ["delete", (own, headers) => own.tryRemove(path, headers), deleted],
    ["restore", put("restore", { version: 1 }), restored],
    ["copy", put("copy", { destination }), copied(destination)],
    ["move", put("move", { destination }), moved],
    ["a link", async (own, headers) => {
      const answer = await own.request("POST", "/links", { body: { path, for: "write" } });
      const target = dataOf(answer, "create_link", newLink).url.slice(service.baseUrl.length);
      return await service.request(null, "PUT", target, { body: "bytes", headers });
    }, one("write")],
    ["memory create", remember("create", { path: "/memories/b.txt", file_text: "x" }), created],
    ["memory str_replace", remember("str_replace", { path: memory, old_str: "one", new_str: "x" }), edited],
    ["memory insert", remember("insert", { path: memory, insert_line: 0, insert_text: "x" }), edited],
    ["memory delete", remember("delete", { path: memory }), deleted],
    ["memory rename", remember("rename", { old_path: memory, new_path: "/memories/b.txt" }), moved],
    ["write_file", call("write_file", { path, content: "x", expected_version: 2 }), one("write")],
    ["edit_file", call("edit_file", { path, old_string: "one", new_string: "x" }), edited],
    ["append_file", call("append_file", { path, content: "x" }), one("append")],
    ["append_file, to a new file", call("append_file", { path: destination, content: "x" }), created],
    ["delete_file", call("delete_file", { path }), deleted],
    ["move_file", call("move_file", { path, destination }), moved],
    ["restore_file", call("restore_file", { path, version: 1 }), restored],
    ["batch", post("/batch", { operations: [{ op: "write", path, content: "x" }] }), one("write")],
    ["folder copy", post("/folders/copy", folder), copied("other/a.txt")],
    ["folder move", post("/folders/move", folder), movedTo("other/a.txt")],
    ["folder delete", (own, headers) => own.request("DELETE", "/folders/memories", { headers }), deleted],
    ["folder restore", async (own, headers) => {
      const { createdAt: at } = await own.read(path, { version: 1 });
      return await post("/restore", { directory: "memories", at, dryRun: false })(own, headers);
    }, restored],
  ];
})();

for (const [name, send, expected] of WAYS) {
  test(`${name} stores its operation, and what the headers say`, async (own) => {
    await own.write("memories/a.txt", "one\n");
    await own.append("memories/a.txt", "two\n");
    assertEquals((await send(own, SAID)).status, 200);
    const made = (await feed(own)).slice(2);
    assertEquals(made.map(({ runId, actor, note }) => ({ runId, actor, note })), expected.map(() => STORED));
    const shown = (one: Partial<Change>) => [one.path, one.version, one.operation, one.deleted, one.from];
    assertEquals(made.map(shown), expected.map(shown));
  });
}

test("headers at their bounds are stored as they are, and left out where they are not sent", async (own) => {
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

const BAD: Readonly<Record<string, readonly string[]>> = {
  "X-Run-Id": ["", "a b", "a/b", "ä", "a".repeat(RUN_ID_LENGTH_MAX + 1)],
  "X-Actor": ["", "a\tb", "é", "a".repeat(ACTOR_LENGTH_MAX + 1)],
  "X-Change-Note": [
    ...[
      "%",
      "%c3",
      "%ed%a0%80",
      "caf\u00e9",
      "a%0Ab",
      "a%00b",
      "%C2%85",
      "a".repeat(CHANGE_NOTE_LENGTH_MAX + 1),
    ],
  ],
};

test("400: a header outside its bounds is named, on every route that writes, and nothing is changed", async () => {
  const own = await files();
  await own.write("memories/a.txt", "one\n");
  await own.append("memories/a.txt", "two\n");
  const before = await service.tables();
  for (
    const [name, value] of Object.entries(BAD).flatMap(([name, bad]) =>
      bad.map((value) => [name, value] as const)
    )
  ) {
    const answer = await own.post({ path: "memories/a.txt", content: "x" }, { [name]: value });
    const details = assertRefused(answer, "VALIDATION_ERROR", "write_file");
    assertEquals(issuePaths(details), [name], `${name}: ${value}`);
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
  const traced = (id: string) => ({ traceparent: `00-${id}-b7ad6b7169203331-01` });
  const info = "io.modelcontextprotocol/clientInfo";
  const client = (name: string, version: string) => ({ [info]: { name, version } });
  const cases: [Record<string, unknown>, HeaderFields, Partial<Change>][] = [
    [traced(trace), {}, { runId: trace, actor: "test/1.0.0" }],
    [traced("0".repeat(32)), {}, { actor: "test/1.0.0" }],
    [{ traceparent: "none" }, {}, { actor: "test/1.0.0" }],
    [{ traceparent: 7 }, {}, { actor: "test/1.0.0" }],
    [client("Ma\tjor é Tom 😀", "1\n.2"), {}, { actor: "Major  Tom/1.2" }],
    [client("n".repeat(200), "1"), {}, { actor: "n".repeat(ACTOR_LENGTH_MAX) }],
    [client("x", ""), {}, { actor: "x" }],
    [client("y", "v".repeat(300)), {}, { actor: `y/${"v".repeat(ACTOR_LENGTH_MAX - 2)}` }],
    [traced(trace), SAID, STORED],
    [traced(trace), { "x-actor": "ada" }, { runId: trace, actor: "ada" }],
  ];
  for (const [index, [meta, headers, expected]] of cases.entries()) {
    const args = { path: "a.txt", content: `${index}` };
    const { status, text } = await tool(own, "append_file", args, headers, meta);
    assertEquals(status, 200, text);
    const unsaid = { runId: undefined, actor: undefined, note: undefined };
    assertEquals(await said(own), { ...unsaid, ...expected }, JSON.stringify(meta));
  }
});

test("a replay of an idempotency key makes nothing, whatever it says of itself", async (own) => {
  const once = { "idempotency-key": "once" };
  const first = await own.post({ path: "a.txt", content: "x" }, { ...once, ...SAID });
  const again = await own.post({ path: "a.txt", content: "x" }, { ...once, "x-run-id": "another" });
  assertEquals(dataOf(again, "write_file", fileRecord), dataOf(first, "write_file", fileRecord));
  assertEquals((await feed(own)).map(({ runId }) => runId), ["run-1"]);
});
