/**
 * How each client is connected: the texts of supabase/docs/connect.md as they stand there
 * (tests/unit/console/connect.test.ts compares them), into which the page puts the address and a key.
 */

export type Group = "Clients" | "Frameworks" | "Programs";

export interface Step {
  /** Where it goes, or what it needs. */
  readonly text: string;
  readonly language: "sh" | "json" | "toml" | "ts" | "python";
  readonly template: string;
}

export interface Client {
  readonly name: string;
  readonly group: Group;
  readonly steps: readonly Step[];
}

/** The address that the texts have where those of MCP clients cannot read a variable. */
const LOCAL_ADDRESS = "http://127.0.0.1:54321/functions/v1/api";

/** Where the settings read the key from the environment. */
const EXPORT: Step = {
  text: "The configuration reads the key from a variable of the environment:",
  language: "sh",
  template: `export FILESTORE_API_KEY=oa_...
`,
};

export const CLIENTS: readonly Client[] = [
  {
    name: "Claude Code",
    group: "Clients",
    steps: [
      {
        text: "In a terminal:",
        language: "sh",
        template:
          `claude mcp add --transport http files http://127.0.0.1:54321/functions/v1/api/mcp --header "x-api-key: \${FILESTORE_API_KEY:?}"
`,
      },
    ],
  },
  {
    name: "Claude Code, shared",
    group: "Clients",
    steps: [
      {
        text: "For everybody who works on a project, in its .mcp.json, which holds no key:",
        language: "json",
        template: `{
  "mcpServers": {
    "files": {
      "type": "http",
      "url": "http://127.0.0.1:54321/functions/v1/api/mcp",
      "headers": { "x-api-key": "\${FILESTORE_API_KEY}" }
    }
  }
}
`,
      },
      EXPORT,
    ],
  },
  {
    name: "Cursor",
    group: "Clients",
    steps: [
      {
        text:
          "In ~/.cursor/mcp.json, or .cursor/mcp.json of the project. Commit no key: ${env:FILESTORE_API_KEY} in its place reads it from the environment.",
        language: "json",
        template: `{
  "mcpServers": {
    "files": {
      "url": "http://127.0.0.1:54321/functions/v1/api/mcp",
      "headers": { "x-api-key": "\${env:FILESTORE_API_KEY}" }
    }
  }
}
`,
      },
    ],
  },
  {
    name: "VS Code",
    group: "Clients",
    steps: [
      {
        text: "In .vscode/mcp.json; it asks for the key once, and keeps it:",
        language: "json",
        template: `{
  "inputs": [
    { "type": "promptString", "id": "filestore-key", "description": "API key of the files", "password": true }
  ],
  "servers": {
    "files": {
      "type": "http",
      "url": "http://127.0.0.1:54321/functions/v1/api/mcp",
      "headers": { "x-api-key": "\${input:filestore-key}" }
    }
  }
}
`,
      },
    ],
  },
  {
    name: "Codex",
    group: "Clients",
    steps: [
      {
        text: "In ~/.codex/config.toml:",
        language: "toml",
        template: `[mcp_servers.files]
url = "http://127.0.0.1:54321/functions/v1/api/mcp"
bearer_token_env_var = "FILESTORE_API_KEY"
`,
      },
      EXPORT,
    ],
  },
  {
    name: "Gemini CLI",
    group: "Clients",
    steps: [
      {
        text: "In ~/.gemini/settings.json:",
        language: "json",
        template: `{
  "mcpServers": {
    "files": {
      "httpUrl": "http://127.0.0.1:54321/functions/v1/api/mcp",
      "headers": { "x-api-key": "$FILESTORE_API_KEY" }
    }
  }
}
`,
      },
    ],
  },
  {
    name: "Anthropic API",
    group: "Clients",
    steps: [
      {
        text:
          "Its MCP connector calls the tools itself. It reaches hosted projects only, and sends the key as a bearer token:",
        language: "sh",
        template: `curl -fsS https://api.anthropic.com/v1/messages -H "x-api-key: \${ANTHROPIC_API_KEY:?}" \\
  -H "anthropic-version: 2023-06-01" -H "anthropic-beta: mcp-client-2025-11-20" -H "content-type: application/json" \\
  -d '{
    "model": "'"\${MODEL:?}"'",
    "max_tokens": 2000,
    "messages": [{ "role": "user", "content": "Which files are there?" }],
    "mcp_servers": [{
      "type": "url",
      "name": "files",
      "url": "'"\${BASE_URL:?}"'/mcp",
      "authorization_token": "'"\${FILESTORE_API_KEY:?}"'"
    }],
    "tools": [{ "type": "mcp_toolset", "mcp_server_name": "files" }]
  }'
`,
      },
    ],
  },
  {
    name: "Any other",
    group: "Clients",
    steps: [
      {
        text:
          "Choose the transport “Streamable HTTP”, the address with /mcp, and the header x-api-key with the key. To try it by hand:",
        language: "sh",
        template:
          `npx -y @modelcontextprotocol/inspector --cli "\${BASE_URL:?}/mcp" --transport http --header "x-api-key: \${FILESTORE_API_KEY:?}" --method tools/list
`,
      },
    ],
  },
  {
    name: "Memory tool",
    group: "Frameworks",
    steps: [
      {
        text: "A handler for Anthropic’s memory_20250818. With the package @anthropic-ai/sdk:",
        language: "ts",
        template: `import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";

const { BASE_URL, FILESTORE_API_KEY } = process.env;
async function command(input: unknown): Promise<string> {
  const response = await fetch(\`\${BASE_URL}/memory\`, {
    method: "POST",
    headers: { "x-api-key": \`\${FILESTORE_API_KEY}\`, "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  const { content, is_error, error } = await response.json();
  if (is_error || error) throw new Error(content ?? error.message);
  return content;
}
const [view, create, str_replace, insert, rename] = Array(5).fill(command);
const memory = betaMemoryTool({ view, create, str_replace, insert, delete: command, rename });
console.log(await memory.run({ command: "view", path: "/memories" }));
`,
      },
    ],
  },
  {
    name: "LangChain",
    group: "Frameworks",
    steps: [
      {
        text: "Also for deepagents. With the package @langchain/mcp-adapters:",
        language: "ts",
        template: `import { MultiServerMCPClient } from "@langchain/mcp-adapters";

const { BASE_URL, FILESTORE_API_KEY } = process.env;
const client = new MultiServerMCPClient({
  mcpServers: {
    files: {
      transport: "http",
      url: \`\${BASE_URL}/mcp\`,
      headers: { "x-api-key": \`\${FILESTORE_API_KEY}\` },
    },
  },
});
const tools = await client.getTools();
console.log(tools.map(({ name }) => name).join());
await client.close();
`,
      },
    ],
  },
  {
    name: "AI SDK",
    group: "Frameworks",
    steps: [
      {
        text: "With the package @ai-sdk/mcp:",
        language: "ts",
        template: `import { createMCPClient } from "@ai-sdk/mcp";

const { BASE_URL, FILESTORE_API_KEY } = process.env;
const client = await createMCPClient({
  transport: { type: "http", url: \`\${BASE_URL}/mcp\`, headers: { "x-api-key": \`\${FILESTORE_API_KEY}\` } },
});
const tools = await client.tools();
console.log(Object.keys(tools).join());
await client.close();
`,
      },
    ],
  },
  {
    name: "OpenAI Agents",
    group: "Frameworks",
    steps: [
      {
        text: "With the package @openai/agents:",
        language: "ts",
        template: `import { Agent, MCPServerStreamableHttp } from "@openai/agents";

const { BASE_URL, FILESTORE_API_KEY } = process.env;
const files = new MCPServerStreamableHttp({
  name: "files",
  url: \`\${BASE_URL}/mcp\`,
  requestInit: { headers: { "x-api-key": \`\${FILESTORE_API_KEY}\` } },
});
await files.connect();
const agent = new Agent({ name: "Archivist", instructions: "Keep the notes in order.", mcpServers: [files] });
console.log(agent.name, (await files.listTools()).map(({ name }) => name).join());
await files.close();
`,
      },
    ],
  },
  {
    name: "Mastra",
    group: "Frameworks",
    steps: [
      {
        text: "With the package @mastra/mcp:",
        language: "ts",
        template: `import { MCPClient } from "@mastra/mcp";

const { BASE_URL, FILESTORE_API_KEY } = process.env;
const client = new MCPClient({
  servers: {
    files: {
      url: new URL(\`\${BASE_URL}/mcp\`),
      requestInit: { headers: { "x-api-key": \`\${FILESTORE_API_KEY}\` } },
    },
  },
});
const tools = await client.listTools();
console.log(Object.keys(tools).join());
await client.disconnect();
`,
      },
    ],
  },
  {
    name: "curl",
    group: "Programs",
    steps: [
      {
        text: "Files over HTTP, without MCP. To see which there are:",
        language: "sh",
        template: `curl -fsS "\${BASE_URL:?}/files" -H "x-api-key: \${FILESTORE_API_KEY:?}"
`,
      },
    ],
  },
  {
    name: "TypeScript",
    group: "Programs",
    steps: [
      {
        text: "A tool is called with one request:",
        language: "ts",
        template: `const { BASE_URL, FILESTORE_API_KEY } = process.env;

async function tool(name: string, args: Record<string, unknown>): Promise<string> {
  const response = await fetch(\`\${BASE_URL}/mcp\`, {
    method: "POST",
    headers: { "x-api-key": \`\${FILESTORE_API_KEY}\`, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
  });
  const { result, error } = await response.json();
  if (!result) throw new Error(error.message);
  return result.content[0].text;
}

console.log(await tool("append_file", { path: "memory/log.md", content: "- met the team\\n" }));
console.log(await tool("read_file", { path: "memory/log.md" }));
`,
      },
    ],
  },
  {
    name: "Python",
    group: "Programs",
    steps: [
      {
        text: "A tool is called with one request, with Python’s own library alone:",
        language: "python",
        template: `import json, os, urllib.request

def tool(name, **args):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": args}}
    headers = {"x-api-key": os.environ["FILESTORE_API_KEY"], "content-type": "application/json"}
    request = urllib.request.Request(os.environ["BASE_URL"] + "/mcp", json.dumps(call).encode(), headers)
    with urllib.request.urlopen(request) as response:
        answer = json.load(response)
    if "error" in answer:
        raise RuntimeError(answer["error"]["message"])
    return answer["result"]["content"][0]["text"]

print(tool("append_file", path="memory/log.md", content="- met the team\\n"))
print(tool("read_file", path="memory/log.md"))
`,
      },
    ],
  },
];

/** What stands for the key until there is one. */
export const NO_KEY = "oa_...";

/**
 * The text with address and key in place of the variables. What a client reads from the environment, or asks for, stays.
 * @param baseUrl of the function, without a slash at its end
 */
export function fill({ language, template }: Step, baseUrl: string, key: string): string {
  const addressed = template.replaceAll(LOCAL_ADDRESS, baseUrl);
  switch (language) {
    case "json":
    case "toml":
      // `${FILESTORE_API_KEY}` stays: the file that has it is shared.
      return addressed.replace(/\$(?:\{env:FILESTORE_API_KEY\}|FILESTORE_API_KEY)/, key);
    case "sh":
      return addressed.replaceAll("${BASE_URL:?}", baseUrl)
        .replaceAll("${FILESTORE_API_KEY:?}", key)
        .replace("=oa_...", `=${key}`);
    case "ts":
      return addressed.replace(
        "const { BASE_URL, FILESTORE_API_KEY } = process.env;",
        `const BASE_URL = ${JSON.stringify(baseUrl)};\nconst FILESTORE_API_KEY = ${JSON.stringify(key)};`,
      );
    case "python":
      return addressed.replace("import json, os,", "import json,")
        .replace('os.environ["BASE_URL"]', JSON.stringify(baseUrl))
        .replace('os.environ["FILESTORE_API_KEY"]', JSON.stringify(key));
  }
}
