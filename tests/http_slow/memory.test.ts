/**
 * POST /memory compared with the reference of Anthropic's SDK, which works on a folder of the disk: the same texts for
 * any command. In addition what the reference lacks: versions, several writers, scopes.
 */
import Anthropic from "@anthropic-ai/sdk";
import { BetaLocalFilesystemMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { MEMORY_TEXT_BYTES_MAX } from "../../supabase/functions/api/limits.ts";
import { owner } from "../support/client/accounts.ts";
import { assertRefused } from "../support/client/contract.ts";
import { Files, type HeaderFields } from "../support/client/files.ts";
import { type Random, randomFrom } from "../support/random.ts";
import { figures, IS_LONG } from "../support/runner/long.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { suite, test } from "../support/stack/suite.ts";

const { files } = await suite();

type Input = Readonly<Record<string, unknown>>;
const answer = z.strictObject({ content: z.string(), is_error: z.boolean() });
type Said = z.infer<typeof answer>;

async function ask(own: Files, input: Input, headers: HeaderFields = {}, root?: string): Promise<Said> {
  const query = root === undefined ? {} : { root };
  const response = await own.request("POST", "/memory", { body: input, headers, query });
  assertEquals(response.status, 200, response.text);
  return answer.parse(response.body);
}

async function said(own: Files, input: Input, root?: string): Promise<string> {
  const { content, is_error } = await ask(own, input, {}, root);
  assertEquals(is_error, false, content);
  return content;
}

async function failed(own: Files, input: Input): Promise<string> {
  const { content, is_error } = await ask(own, input);
  assertEquals(is_error, true, content);
  return content;
}

const COMMANDS = IS_LONG ? 10_000 : 500;
const FILES = [
  ..."a.md b.txt notes/a.md notes/b notes/deep/c.md notes/deep/er/d.md x/.hidden Ä/ß.md".split(" "),
];
const FOLDERS = ["notes", "notes/deep", "x", "Ä", "notes/deep/er"];
const ODD = [
  ..."/memories /memories/ /memories/notes/ /memories/../etc /notes /memories/./a.md".split(" "),
  ..."/memories//b.txt /memories/../memories/a.md /memories/none /memories/notes/../b.txt".split(" "),
];
const TEXTS = ["", "one", "one\ntwo\nthree\n", "two two\n", "é\n\nü", "\n", "a\r\nb\r\n", "one\n".repeat(12)];
const PIECES = ["one", "two", "", "\n", "é", "three\n", "none", "$&", "two\nthree"];

/** A random command, mostly about a file that exists. */
function randomCommand({ below, pick }: Random): Input {
  const chance = (percent: number) => below(100) < percent;
  const at = () => chance(10) ? pick(ODD) : `/memories/${chance(85) ? pick(FILES) : pick(FOLDERS)}`;
  const line = () => below(8) - 2;
  const commands = [
    ...["view", "view", "view", "create", "create", "create", "create"],
    ...["str_replace", "str_replace", "str_replace", "insert", "insert", "insert", "delete", "rename"],
  ];
  const command = pick(commands);
  switch (command) {
    case "view":
      return { command, path: at(), ...chance(40) && { view_range: [line(), line()] } };
    case "create":
      return { command, path: at(), file_text: pick(TEXTS) };
    case "str_replace":
      return { command, path: at(), old_str: pick(PIECES), new_str: pick(PIECES) };
    case "insert":
      return { command, path: at(), insert_line: line(), insert_text: pick(TEXTS) };
    case "delete":
      return { command, path: at() };
    default:
      return { command, old_path: at(), new_path: at() };
  }
}

async function reference(tool: BetaLocalFilesystemMemoryTool, input: Input): Promise<Said> {
  const { view, create, str_replace, insert, delete: remove, rename } = tool;
  const handlers = new Map(Object.entries({ view, create, str_replace, insert, delete: remove, rename }));
  try {
    const handler = handlers.get(String(input["command"]));
    if (!handler) throw new Error("no such command");
    // deno-lint-ignore no-explicit-any -- each handler takes its own command
    return { content: await (handler as any).call(tool, input), is_error: false };
  } catch (error) {
    return { content: error instanceof Error ? error.message : String(error), is_error: true };
  }
}

/**
 * Errors of the disk for a name that is both file and folder, or for moving a folder into itself. The reference has no
 * text for them.
 */
const OF_THE_DISK = /^(ENOTDIR|EISDIR|EINVAL|EEXIST|ENOTEMPTY)\b/;

/** The text without the sizes of folders, which depend on the disk. The first line of a view is the folder itself. */
function withoutFolderSizes({ content, is_error }: Said): Said {
  const lines = content.split("\n");
  const isFolder = !is_error && content.startsWith("Here're the files");
  const shown = lines.map((line, index) =>
    isFolder && (index === 1 || line.endsWith("/")) ? line.replace(/^[^\t]*/, "") : line
  );
  return { content: shown.join("\n"), is_error };
}

/** Removes folders without files, which only a disk has. */
async function removeEmptyFolders(folder: string): Promise<boolean> {
  let isEmpty = true;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (!isDirectory || !await removeEmptyFolders(`${folder}/${name}`)) isEmpty = false;
  }
  if (isEmpty && !folder.endsWith("/memories")) await Deno.remove(folder);
  return isEmpty;
}

test(`${COMMANDS} random commands give the texts of the SDK's own tool over a folder`, async () => {
  const own = await files();
  const random = randomFrom(20_261_123);
  let failures = 0;
  let skipped = 0;
  await withScratchDirectory(async (folder) => {
    const tool = await BetaLocalFilesystemMemoryTool.init(folder);
    for (let count = 0; count < COMMANDS; count++) {
      const input = randomCommand(random);
      const path = (name: string) => String(input[name] ?? "");
      // A file where a folder of the path must be, or the reverse. Only the service can have both.
      const wouldClash = [path("path"), path("new_path")].some((one) => clashes(folder, one));
      if (wouldClash) {
        skipped++;
        continue;
      }
      const expected = await reference(tool, input);
      if (OF_THE_DISK.test(expected.content)) {
        skipped++;
        await removeEmptyFolders(`${folder}/memories`);
        continue;
      }
      await removeEmptyFolders(`${folder}/memories`);
      assertEquals(
        withoutFolderSizes(await ask(own, input)),
        withoutFolderSizes(expected),
        `${count}: ${JSON.stringify(input)}`,
      );
      if (expected.is_error) failures++;
    }
  });
  figures(`${COMMANDS - skipped} commands with the same texts, ${failures} of them failures`);
  assert(skipped < COMMANDS / 4 && failures < COMMANDS * 0.7);
});

function clashes(folder: string, memoryPath: string): boolean {
  const names = memoryPath.replace("/memories", "").split("/").filter((name) => name !== "" && name !== ".");
  return names.slice(0, -1).some((_, index) => {
    try {
      return Deno.statSync(`${folder}/memories/${names.slice(0, index + 1).join("/")}`).isFile;
    } catch {
      return false;
    }
  });
}

test("every change is a version, and the file an ordinary one", async () => {
  const own = await files();
  await said(own, { command: "create", path: "/memories/plan.md", file_text: "one\n" });
  await said(own, { command: "str_replace", path: "/memories/plan.md", old_str: "one", new_str: "two" });
  await said(own, { command: "insert", path: "/memories/plan.md", insert_line: 0, insert_text: "# Plan\n" });
  const { content, version, mimeType } = await own.read("memories/plan.md");
  assertEquals([content, version, mimeType], ["# Plan\ntwo\n", 3, "text/markdown"]);
  assertEquals((await own.read("memories/plan.md", { version: 1 })).content, "one\n");
  await said(own, { command: "rename", old_path: "/memories/plan.md", new_path: "/memories/old/plan.md" });
  await said(own, { command: "delete", path: "/memories/old" });
  assertEquals((await own.versions("memories/old/plan.md")).total, 2);
  await own.restore("memories/old/plan.md", 1);
  const view = await said(own, { command: "view", path: "/memories/old/plan.md" });
  const heading = "Here's the content of /memories/old/plan.md with line numbers:";
  assertEquals(view, `${heading}\n     1\t# Plan\n     2\ttwo\n     3\t`);
});

test("a folder is renamed and deleted as one commit", async () => {
  const own = await files();
  for (const name of ["a", "b", "deep/c"]) await own.write(`memories/x/${name}.md`, name);
  const times = async () => {
    const { files } = await own.list({ recursive: true, deleted: true });
    return new Set(files.map(({ updatedAt }) => updatedAt)).size;
  };
  await said(own, { command: "rename", old_path: "/memories/x", new_path: "/memories/y" });
  assertEquals(
    await own.paths({ recursive: true }),
    ["a", "b", "deep/c"].map((name) => `memories/y/${name}.md`),
  );
  assertEquals(await times(), 1);
  await said(own, { command: "delete", path: "/memories/y" });
  assertEquals(await own.paths({ recursive: true }), []);
  assertEquals(await times(), 2);
});

test("an Idempotency-Key makes a repeated command the same one", async () => {
  const own = await files();
  const path = "/memories/f.md";
  const twice = async (input: Input) => {
    const key = { "idempotency-key": crypto.randomUUID() };
    const first = await ask(own, input, key);
    const again = await own.request("POST", "/memory", { body: input, headers: key });
    assertEquals([again.body, first.is_error], [first, false]);
    assertEquals(again.headers.get("idempotency-replayed"), "true");
  };
  await twice({ command: "create", path, file_text: "one two\n" });
  await twice({ command: "insert", path, insert_line: 0, insert_text: "zero" });
  await twice({ command: "str_replace", path, old_str: "one", new_str: "one one" });
  assertEquals((await own.read("memories/f.md")).content, "zero\none one two\n");
  await twice({ command: "rename", old_path: path, new_path: "/memories/g.md" });
  await twice({ command: "delete", path: "/memories/g.md" });
  assertEquals((await own.versions("memories/f.md")).total, 4);
});

test("a root of its own, and below the prefix of a key that has one", async () => {
  const account = await owner(await service());
  const whole = new Files(account.service, (await account.createKey()).key);
  const create = { command: "create", path: "/memories/f.md", file_text: "x" };
  await said(whole, create, "agents/b");
  assertEquals((await whole.read("agents/b/f.md")).content, "x");
  const { key } = await account.createKey({ pathPrefix: "agents/a" });
  const own = new Files(account.service, key);
  await said(own, create);
  assertEquals((await whole.read("agents/a/memories/f.md")).content, "x");
  await said(own, create, "agents/a/other");
  const outside = await own.request("POST", "/memory", { body: create, query: { root: "agents/c" } });
  assertEquals(assertRefused(outside, "FORBIDDEN_SCOPE", "memory"), { pathPrefix: "agents/a" });
  const seen = await ask(own, { command: "view", path: "/memories/f.md" }, {}, "agents/b");
  assertEquals(seen.is_error, true);
  const absolute = await own.request("POST", "/memory", { body: create, query: { root: "/a" } });
  assertRefused(absolute, "INVALID_PATH", "memory");
});

async function service() {
  return (await suite()).service;
}

test("a view escapes characters of names that nobody sees, and takes the names as it shows them", async () => {
  const own = await files();
  await own.write("memories/a\u200b/b\u2028c.md", "x");
  const shown = "/memories/a\\u200b/b\\u2028c.md";
  const view = await said(own, { command: "view", path: "/memories" });
  assertEquals(view.split("\n").slice(2), ["4K\t/memories/a\\u200b/", `1B\t${shown}`]);
  for (const path of [shown, "/memories/a\u200b/b\u2028c.md"]) {
    assertEquals((await said(own, { command: "view", path })).split("\n")[1]?.trim(), "1\tx");
  }
});

test("scopes: to view takes read, to create takes write, everything else both", async () => {
  const account = await owner(await service());
  const by = async (scopes: string[]) =>
    new Files(account.service, (await account.createKey({ scopes })).key);
  const [reader, writer] = [await by(["read"]), await by(["write"])];
  const path = "/memories/f.md";
  await said(writer, { command: "create", path, file_text: "x" });
  await said(reader, { command: "view", path });
  const refused: readonly (readonly [Files, Input, string])[] = [
    [writer, { command: "view", path }, "read"],
    [reader, { command: "create", path, file_text: "y" }, "write"],
    [writer, { command: "str_replace", path, old_str: "x", new_str: "y" }, "read"],
    [reader, { command: "str_replace", path, old_str: "x", new_str: "y" }, "write"],
    [reader, { command: "insert", path, insert_line: 0, insert_text: "y" }, "write"],
    [reader, { command: "delete", path }, "write"],
    [reader, { command: "rename", old_path: path, new_path: "/memories/g.md" }, "write"],
  ];
  for (const [own, input, scope] of refused) {
    const response = await own.request("POST", "/memory", { body: input });
    assertEquals(assertRefused(response, "FORBIDDEN_SCOPE", "memory"), { scope }, JSON.stringify(input));
  }
  assertEquals((await reader.read("memories/f.md")).version, 1);
});

test("an error of the model is answered to the model; an error of its client, to the client", async () => {
  const own = await files();
  const path = "/memories/f.bin";
  await own.writeBytes("memories/f.bin", Uint8Array.of(0xff, 0x61));
  await own.write("memories/large.txt", "x".repeat(MEMORY_TEXT_BYTES_MAX + 1));
  assertEquals(await failed(own, { command: "append", path }), "append not implemented");
  assertEquals(await failed(own, {}), "undefined not implemented");
  assertEquals(await failed(own, { command: "view" }), "VALIDATION_ERROR: path: is required");
  assert((await failed(own, { command: "view", path: "/memories/\u0007" })).startsWith("INVALID_PATH: "));
  const edit = { command: "str_replace", path, old_str: "a", new_str: "b" };
  assert((await failed(own, edit)).startsWith("NOT_TEXT: "));
  assert(
    (await failed(own, { command: "view", path: "/memories/large.txt" })).startsWith("CONTENT_TOO_LARGE: "),
  );
  assertEquals((await own.record("memories/f.bin")).version, 1);
  assertRefused(await own.request("POST", "/memory", { body: [] }), "VALIDATION_ERROR", "memory");
  const json = { "content-type": "application/json" };
  assertRefused(await own.request("POST", "/memory", { body: "{", headers: json }), "INVALID_JSON", "memory");
  // An address of its own, since other tests of this process fail to authenticate, too.
  const headers = { "cf-connecting-ip": "203.0.113.70" };
  const unknown = { body: { command: "x" }, headers };
  const wrong = await (await service()).request("oa_wrong", "POST", "/memory", unknown);
  assertRefused(wrong, "INVALID_API_KEY", "memory");
});

test("the SDK's tool runner works with a handler of one line", async () => {
  const own = await files();
  const inputs: Input[] = [
    { command: "create", path: "/memories/facts.md", file_text: "The sky is red.\n" },
    { command: "str_replace", path: "/memories/facts.md", old_str: "red", new_str: "blue" },
    { command: "view", path: "/memories/none.md" },
  ];
  const results: unknown[] = [];
  let turn = 0;
  // Replaces the model: it requests one command after another.
  const scripted = (_url: unknown, init?: { body?: unknown }) => {
    const { messages } = JSON.parse(String(init?.body));
    const last = messages.at(-1);
    if (Array.isArray(last.content)) results.push(...last.content);
    const input = inputs[turn++];
    const content = input
      ? [{ type: "tool_use", id: `toolu_${turn}`, name: "memory", input }]
      : [{ type: "text", text: "Done." }];
    return Promise.resolve(Response.json({
      ...{ id: `msg_${turn}`, type: "message", role: "assistant", model: "scripted", content },
      stop_reason: input ? "tool_use" : "end_turn",
      usage: { input_tokens: 1, output_tokens: 1 },
    }));
  };
  const client = new Anthropic({ apiKey: "none", fetch: scripted });
  const { baseUrl } = await service();
  const runner = client.beta.messages.toolRunner({
    model: "scripted",
    max_tokens: 100,
    messages: [{ role: "user", content: "Remember the sky." }],
    tools: [{
      type: "memory_20250818",
      name: "memory",
      parse: (input: unknown) => input,
      // deno-fmt-ignore
      run: async (input: unknown) => (await (await fetch(`${baseUrl}/memory`, { method: "POST", headers: { "x-api-key": own.key, "content-type": "application/json" }, body: JSON.stringify(input) })).json()).content,
    }],
  });
  await runner.runUntilDone();
  assertEquals((await own.read("memories/facts.md")).content, "The sky is blue.\n");
  assertEquals(results.length, 3);
  assert(JSON.stringify(results[2]).includes("does not exist. Please provide a valid path."));
});
