/**
 * The backend of deep agents: what it answers is what the package's own backend of a folder answers to the same calls. The
 * exceptions are named.
 */
import { assert, assertEquals } from "@std/assert";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { type BackendProtocolV2, createDeepAgent, FilesystemBackend } from "deepagents";
import { Filestore, FilestoreBackend } from "../../supabase/client/mod.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

type Backend = Required<
  Pick<
    BackendProtocolV2,
    | ("ls" | "read" | "readRaw" | "write" | "edit" | "delete")
    | ("grep" | "glob" | "uploadFiles" | "downloadFiles")
  >
>;
type Case = readonly [name: string, run: (backend: Backend) => Promise<unknown>];

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 255]);

/** Each after the one before, on both backends. */
const CASES: readonly Case[] = [
  ["files are written", async (backend) => [
    await backend.write("/notes/plan.md", "# Plan\n- ship\n- sleep\n"),
    await backend.write("/notes/deep/ä b.py", "print('ship')\nprint('(a|b)')\n"),
    await backend.write("/top.txt", "no line feed"),
    await backend.write("/data.json", "{}"),
    await backend.write("/empty.txt", ""),
  ]],
  ["bytes are uploaded", (backend) => Promise.resolve(backend.uploadFiles([["/pictures/a.png", PNG]]))],
  [
    "bytes are downloaded, and what is missing is said",
    (backend) => Promise.resolve(backend.downloadFiles(["/pictures/a.png", "/top.txt", "/nowhere.txt"])),
  ],
  ["the root is listed", (backend) => Promise.resolve(backend.ls("/"))],
  ["a folder is listed, with slashes or without", async (backend) => [
    await backend.ls("notes"),
    await backend.ls("/notes"),
    await backend.ls("/notes/"),
  ]],
  ["a missing folder and a file have no entries", async (backend) => [
    await backend.ls("/nowhere"),
    await backend.ls("/top.txt"),
  ]],
  ["a text is read whole and in pages", async (backend) => [
    await backend.read("/notes/plan.md"),
    await backend.read("/notes/plan.md", 1, 1),
    await backend.read("/notes/plan.md", 2, 500),
    await backend.read("/top.txt", 0, 1),
    await backend.read("/data.json"),
  ]],
  ["an empty text, no lines, and lines beyond the end", async (backend) => [
    await backend.read("/empty.txt"),
    await backend.read("/notes/plan.md", 0, 0),
    failed(await backend.read("/notes/plan.md", 3, 5)),
  ]],
  ["a picture is read as bytes", (backend) => Promise.resolve(backend.read("/pictures/a.png"))],
  ["whole files are read with their types", async (backend) => [
    await backend.readRaw("/notes/plan.md"),
    await backend.readRaw("/pictures/a.png"),
  ]],
  ["a missing file is an error", async (backend) => [
    failed(await backend.read("/nowhere.md")),
    failed(await backend.edit("/nowhere.md", "a", "b")),
    failed(await backend.delete("/nowhere.md")),
  ]],
  ["a file is overwritten", async (backend) => [
    await backend.write("/top.txt", "one two one"),
    await backend.read("/top.txt"),
  ]],
  ["an edit replaces one, or all; what occurs twice or never is an error", async (backend) => [
    failed(await backend.edit("/top.txt", "one", "1")),
    failed(await backend.edit("/top.txt", "three", "3")),
    await backend.edit("/top.txt", "two", "2"),
    await backend.edit("/top.txt", "one", "1", true),
    await backend.read("/top.txt"),
  ]],
  ["grep finds literal text, in all files, a folder, or files of a glob", async (backend) => [
    sorted(await backend.grep("ship")),
    sorted(await backend.grep("(a|b)", "/")),
    sorted(await backend.grep("ship", "/notes/deep")),
    sorted(await backend.grep("ship", "/", "*.py")),
    sorted(await backend.grep("Ship")),
  ]],
  ["grep stops at a number of matches", async (backend) => {
    const { matches, truncated } = await backend.grep("ship", "/", null, 1);
    return [matches?.length, truncated];
  }],
  ["a glob finds files below a folder", async (backend) => [
    await backend.glob("**/*.md"),
    await backend.glob("*.txt"),
    await backend.glob("/**/*.py", "/notes"),
    await backend.glob("*.py", "/notes/deep/"),
    await backend.glob("*.nothing"),
  ]],
  ["a file and a folder are deleted", async (backend) => [
    await backend.delete("/top.txt"),
    await backend.delete("/notes/deep"),
    await backend.glob("**/*"),
  ]],
];

/** The two speak of a failure in different words. */
function failed({ error }: { error?: string }): boolean {
  return error !== undefined && error !== "";
}

/** Tools that search files print them in any order. */
function sorted<T extends { matches?: { path: string; line: number }[] }>(result: T): T {
  result.matches?.sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line);
  return result;
}

/** Without fields that are undefined, with any times, and without those of folders, which only a disk has. */
function comparable(answer: unknown): unknown {
  if (answer instanceof Uint8Array) return [...answer];
  if (Array.isArray(answer)) return answer.map(comparable);
  if (typeof answer !== "object" || answer === null) return answer;
  const fields = Object.entries(answer).filter(([name, value]) =>
    value !== undefined && !(name === "modified_at" && "is_dir" in answer && answer.is_dir === true)
  );
  return Object.fromEntries(fields.map(([name, value]) => [
    name,
    name.endsWith("_at") ? !Number.isNaN(Date.parse(String(value))) : comparable(value),
  ]));
}

for (const directory of ["", "agents/one"]) {
  test(`deep agents: as the package's backend of a folder, below "${directory}"`, async (t) => {
    const own = await files();
    const store = new Filestore({ url: service.baseUrl, key: own.key });
    const backend: Backend = new FilestoreBackend(store, directory);
    if (directory !== "") await store.write("outside.md", "ship\n");
    await withScratchDirectory(async (folder) => {
      const reference: Backend = new FilesystemBackend({ rootDir: folder, virtualMode: true });
      for (const [name, run] of CASES) {
        await t.step(
          name,
          async () => assertEquals(comparable(await run(backend)), comparable(await run(reference))),
        );
      }
    });
  });
}

test("deep agents: a key without the right is told so, and nothing is thrown", async () => {
  const own = await files();
  const backend = new FilestoreBackend(new Filestore({ url: service.baseUrl, key: "oa_wrong" }));
  const { error } = await backend.write("/a.md", "x") as { error?: string };
  assert(error?.startsWith("INVALID_API_KEY: "), error);
  assertEquals(await backend.uploadFiles([["/a.md", PNG]]), [{ path: "/a.md", error: "permission_denied" }]);
  assertEquals(await own.paths({}), []);
});

/** A model that calls tools as it is told, one after the other. */
class Scripted extends BaseChatModel {
  constructor(private readonly calls: readonly (readonly [name: string, args: Record<string, unknown>])[]) {
    super({});
  }
  #step = 0;
  override _llmType(): string {
    return "scripted";
  }
  override bindTools(): this {
    return this;
  }
  override _generate() {
    const [name, args] = this.calls[this.#step++] ?? [];
    const tool_calls = name === undefined ? [] : [{ id: `call-${this.#step}`, name, args: args ?? {} }];
    const message = new AIMessage({ content: tool_calls.length > 0 ? "" : "done", tool_calls });
    return Promise.resolve({ generations: [{ text: "", message }] });
  }
}

test("deep agents: an agent of the package writes, edits, finds and reads files of a project", async () => {
  const own = await files();
  const store = new Filestore({ url: service.baseUrl, key: own.key, actor: "researcher" });
  const model = new Scripted([
    ["write_file", { file_path: "/plan.md", content: "# Plan\n- ship\n" }],
    ["edit_file", { file_path: "/plan.md", old_string: "ship", new_string: "sleep" }],
    ["grep", { pattern: "sleep" }],
    ["ls", { path: "/" }],
    ["read_file", { file_path: "/plan.md" }],
  ]);
  const agent = createDeepAgent({ model, backend: new FilestoreBackend(store, "research") });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  const answers = messages.filter((message) => message.getType() === "tool").map(({ text }) => text);
  assertEquals(answers.length, 5);
  assert(answers[2]?.includes("/plan.md") && answers[3]?.includes("/plan.md"), answers.join("\n"));
  assert(answers[4]?.includes("- sleep"), answers[4]);
  assertEquals((await own.read("research/plan.md")).content, "# Plan\n- sleep\n");
  const { versions } = await own.versions("research/plan.md");
  assertEquals(versions.map(({ actor }) => actor), ["researcher", "researcher"]);
});
