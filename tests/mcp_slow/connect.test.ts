/** The settings and programs of supabase/docs/connect.md, unchanged: each lists the tools, or does more. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { z } from "zod";
import { REPOSITORY } from "../support/stack/command.ts";
import { type CodeBlock, readDocument } from "../support/content/documents.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();
const { blocks } = await readDocument("supabase/docs/connect.md");
const LOCAL_URL = "http://127.0.0.1:54321/functions/v1/api/mcp";

/** The ways in which clients write the variable, or the value that they prompt for. */
const PLACES = [
  "${FILESTORE_API_KEY}",
  "${env:FILESTORE_API_KEY}",
  "${input:filestore-key}",
  "$FILESTORE_API_KEY",
];

const entry = z.looseObject({
  url: z.string().optional(),
  httpUrl: z.string().optional(),
  headers: z.record(z.string(), z.string()),
});
const entries = z.record(z.string(), entry);
const settings = z.looseObject({ mcpServers: entries.optional(), servers: entries.optional() });

async function listWith(headers: Record<string, string>): Promise<string> {
  const response = await fetch(`${service.baseUrl}/mcp`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  return await response.text();
}

const json = blocks.filter(({ language }) => language === "json");

test("each configuration names the local address, and sends the key in a header that is taken", async () => {
  const { key } = await files();
  assertEquals(json.length, 4);
  for (const { text, line } of json) {
    const { mcpServers, servers } = settings.parse(JSON.parse(text));
    const { files: { url, httpUrl, headers } = { headers: {} } } = mcpServers ?? servers ?? {};
    assertEquals(url ?? httpUrl, LOCAL_URL, `line ${line}`);
    const [[name, value] = ["", ""]] = Object.entries(headers);
    assert(PLACES.includes(value), `line ${line}: ${value}`);
    assertMatch(await listWith({ [name]: key }), /"read_file"/);
  }
});

test("Codex sends the key as a bearer token", async () => {
  const { key } = await files();
  const [{ text } = { text: "" }] = blocks.filter(({ language }) => language === "toml");
  assertEquals(text.match(/^url = "(.*)"$/m)?.[1], LOCAL_URL);
  assertMatch(text, /^bearer_token_env_var = "FILESTORE_API_KEY"$/m);
  assertMatch(await listWith({ authorization: `Bearer ${key}` }), /"read_file"/);
});

async function run({ text, language, line }: CodeBlock, key: string): Promise<string> {
  const extension = language === "ts" ? "ts" : "py";
  // In the folder of the tests, so that packages come from their import map.
  const file = join(REPOSITORY, `tests/mcp_slow/connect_${line}.${extension}`);
  await Deno.writeTextFile(file, text);
  try {
    const [command, args] = language === "ts"
      ? [Deno.execPath(), ["run", "-A", "--no-check", file]] as const
      : ["python3", [file]] as const;
    const { success, stdout, stderr } = await new Deno.Command(command, {
      args: [...args],
      cwd: REPOSITORY,
      env: { BASE_URL: service.baseUrl, FILESTORE_API_KEY: key },
    }).output();
    assert(success, `line ${line}: ${new TextDecoder().decode(stderr)}`);
    return new TextDecoder().decode(stdout);
  } finally {
    await Deno.remove(file);
  }
}

const programs = blocks.filter(({ language }) => language === "ts" || language === "python");

for (const block of programs) {
  const [, name = block.language] = /from "(.*)"/.exec(block.text) ?? [];
  test(`the program with ${name} runs`, async () => {
    const own = await files();
    const output = await run(block, own.project.key);
    if (block.text.includes("append_file")) {
      assertMatch(
        output,
        /^Created memory\/log.md: version 1, 15 bytes\.\nmemory\/log.md — version 1, lines 1–1 of 1\n/,
      );
      assertEquals((await own.read("memory/log.md")).content, "- met the team\n");
    } else if (block.text.includes("betaMemoryTool")) {
      assertMatch(output, /^Here're the files and directories up to 2 levels deep in \/memories/);
    } else assertMatch(output, /read_file/);
  });
}

test("the tools that the page names are those that there are, in their order", async () => {
  const { key } = await files();
  const { lines } = await readDocument("supabase/docs/connect.md");
  const named = lines.flatMap((line) => /^\| `(\w+)` /.exec(line)?.[1] ?? []);
  const { result: { tools } } = JSON.parse(await listWith({ "x-api-key": key }));
  assertEquals(named, tools.map(({ name }: { name: string }) => name));
  assertEquals(programs.length, 7);
});
