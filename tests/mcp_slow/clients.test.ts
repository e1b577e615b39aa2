/**
 * Published MCP clients do what agents do: they list the tools, read, write, get refusals, edit with a nearly matching
 * text, and search.
 */
import { createMCPClient } from "@ai-sdk/mcp";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { MCPClient as MastraClient } from "@mastra/mcp";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FormerClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FormerTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { MCPServerStreamableHttp } from "@openai/agents";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { z } from "zod";
import { Files } from "../support/client/files.ts";
import { eventually } from "../support/eventually.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

/** A connection of one of the clients. */
interface Connection {
  /** Names of the tools that the server offers. */
  tools(): Promise<string[]>;
  /** The text that the model gets, also of a failure. */
  call(tool: string, args: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

type Connect = (url: string, key: string) => Promise<Connection>;

const CLIENT = { name: "test", version: "1.0.0" };
const result = z.looseObject({
  content: z.array(z.looseObject({ type: z.literal("text"), text: z.string() })),
});

function textOf(given: unknown): string {
  return result.parse(given).content.map(({ text }) => text).join("\n");
}

const listed = z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) });

function namesOf(given: unknown): string[] {
  return listed.parse(given).tools.map(({ name }) => name);
}

/** The result, or the message of the exception, which is what an agent gets. */
async function orMessage(call: () => Promise<string>): Promise<string> {
  try {
    return await call();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const modern: Connect = async (url, key) => {
  const client = new Client(CLIENT, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { "x-api-key": key } },
  });
  await client.connect(transport);
  return {
    tools: async () => namesOf(await client.listTools()),
    call: async (name, args) => textOf(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  };
};

const byDefault: Connect = async (url, key) => {
  const client = new Client(CLIENT);
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  return {
    tools: async () => namesOf(await client.listTools()),
    call: async (name, args) => textOf(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  };
};

const former: Connect = async (url, key) => {
  const client = new FormerClient(CLIENT);
  const transport = new FormerTransport(new URL(url), { requestInit: { headers: { "x-api-key": key } } });
  await client.connect(transport);
  return {
    tools: async () => namesOf(await client.listTools()),
    call: async (name, args) => textOf(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  };
};

const langchain: Connect = async (url, key) => {
  const client = new MultiServerMCPClient({
    mcpServers: { files: { transport: "http", url, headers: { "x-api-key": key } } },
  });
  const tools = await client.getTools();
  return {
    tools: () => Promise.resolve(tools.map(({ name }) => name)),
    call: (name, args) =>
      orMessage(async () => String(await tools.find((tool) => tool.name === name)?.invoke(args))),
    close: () => client.close(),
  };
};

const aiSdk: Connect = async (url, key) => {
  const client = await createMCPClient({ transport: { type: "http", url, headers: { "x-api-key": key } } });
  const tools = await client.tools();
  return {
    tools: () => Promise.resolve(Object.keys(tools)),
    call: async (name, args) =>
      textOf(await tools[name]?.execute?.(args, { toolCallId: "1", messages: [], context: {} })),
    close: () => client.close(),
  };
};

const openAi: Connect = async (url, key) => {
  const client = new MCPServerStreamableHttp({
    url,
    name: "files",
    requestInit: { headers: { "x-api-key": key } },
  });
  await client.connect();
  return {
    tools: async () => (await client.listTools()).map(({ name }) => name),
    call: async (name, args) => textOf({ content: await client.callTool(name, args) }),
    close: () => client.close(),
  };
};

const mastra: Connect = async (url, key) => {
  const client = new MastraClient({
    id: crypto.randomUUID(),
    servers: { files: { url: new URL(url), requestInit: { headers: { "x-api-key": key } } } },
  });
  const { tools, errors } = await client.listToolsWithErrors();
  if (errors["files"] !== undefined) {
    await client.disconnect();
    throw new Error(errors["files"]);
  }
  return {
    tools: () => Promise.resolve(Object.keys(tools).map((name) => name.replace("files_", ""))),
    call: (name, args) =>
      orMessage(async () => textOf(await tools[`files_${name}`]?.execute?.(args, Object({})))),
    close: () => client.disconnect(),
  };
};

const CLIENTS: Readonly<Record<string, Connect>> = {
  "@modelcontextprotocol/client, 2026-07-28": modern,
  "@modelcontextprotocol/client, as it comes": byDefault,
  "@modelcontextprotocol/sdk 1.x": former,
  "LangChain": langchain,
  "AI SDK": aiSdk,
  "OpenAI Agents SDK": openAi,
  "Mastra": mastra,
};

for (const [name, connect] of Object.entries(CLIENTS)) {
  test(`${name}: lists the tools, reads, writes, is refused, edits with a near miss, and searches`, async () => {
    const own = await files();
    const agent = await connect(`${service.baseUrl}/mcp`, own.key);
    try {
      await work(agent, own);
    } finally {
      await agent.close();
    }
  });

  test(`${name}: a key that is not valid is an error, not a way to sign in`, async () => {
    const connecting = async () => {
      const agent = await connect(`${service.baseUrl}/mcp`, "oa_none");
      await agent.tools();
    };
    const error = await assertRejects(connecting, Error);
    assertMatch(error.message, /401|INVALID_API_KEY|unauthorized/i);
  });
}

async function work(agent: Connection, own: Files): Promise<void> {
  const names = await agent.tools();
  for (const name of ["read_file", "write_file", "edit_file", "search_files"]) {
    assert(names.includes(name), name);
  }

  const written = await agent.call("write_file", {
    path: "notes/plan.md",
    content: "# Plan\n- survey the harbour\n",
  });
  assertMatch(written, /^Created notes\/plan.md: version 1, 2 lines/);
  assertEquals(
    await agent.call("read_file", { path: "notes/plan.md" }),
    "notes/plan.md — version 1, lines 1–2 of 2\n     1\t# Plan\n     2\t- survey the harbour",
  );
  const refused = await agent.call("write_file", { path: "notes/plan.md", content: "other" });
  assertMatch(
    refused,
    /FILE_ALREADY_EXISTS: notes\/plan.md exists already: version 1, .*expected_version=1\./,
  );
  const edit = { path: "notes/plan.md", old_string: "- survey teh harbour", new_string: "- sail" };
  assertMatch(await agent.call("edit_file", edit), /STRING_NOT_FOUND: [^]*\n {5}2\t- survey the harbour/);
  const right = { ...edit, old_string: "- survey the harbour", new_string: "- survey the harbour by boat" };
  assertMatch(await agent.call("edit_file", right), /^Edited notes\/plan.md: version 2, 1 replacement/);
  assertEquals((await own.read("notes/plan.md")).content, "# Plan\n- survey the harbour by boat\n");
  await eventually("the file is found", async () => {
    const found = await agent.call("search_files", { query: "harbour boat", limit: 3 });
    return found.startsWith("notes/plan.md — version 2\n");
  });
}
