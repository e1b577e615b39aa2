/** Compares a tool of /mcp with the same request over HTTP; the tool must not cost much more. */
import { BareInFunction } from "./baselines.ts";
import type { Bench } from "./bench.ts";
import { Client } from "./client.ts";
import { KILOBYTE, lines } from "./contents.ts";
import { interleave, type Times } from "./measure.ts";
import { atMost } from "./report.ts";

const CONTENT = lines(KILOBYTE);
/** Largest allowed ratio of a tool's call to the same request over HTTP. */
const TOOL_MAX = 1.15;

/** The message, as a client of revision 2026-07-28 sends it. */
function messageOf(name: string, args: Readonly<Record<string, unknown>>) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args, _meta } };
}

function callTool(client: Client, name: string, args: Readonly<Record<string, unknown>>): Promise<string> {
  return client.send("POST", "/mcp", messageOf(name, args), headersOf(name));
}

function headersOf(name: string): Record<string, string> {
  return {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": name,
  };
}

export async function toolCalls({ stack, rounds, report }: Bench): Promise<void> {
  const project = await stack.project();
  const client = new Client(stack.baseUrl, project.key);
  report.group("Tools of /mcp, against the same request over HTTP");
  for (const path of ["read.txt", "appended.txt", "tool_appended.txt"]) await client.write(path, CONTENT);
  const bare = new BareInFunction(stack);
  const payload = JSON.parse(await client.read("read.txt"));
  await stack.supabase.from("bench_payloads").upsert({ name: "same", payload });
  const readMessage = messageOf("read_file", { path: "read.txt" });
  const bareMessage = messageOf("read_file", { name: "same" });
  const times = await interleave({
    bareGet: () => bare.payload("same"),
    barePost: () => bare.payloadByPost("same", readMessage),
    bareTool: () => bare.payloadByTool(bareMessage, headersOf("read_file")),
    read: () => client.read("read.txt"),
    readTool: () => callTool(client, "read_file", { path: "read.txt" }),
    list: () => client.send("GET", "/files?directory=/&limit=100"),
    listTool: () => callTool(client, "list_files", {}),
    write: (round) => client.write(`written/${round}.txt`, CONTENT),
    writeTool: (round) =>
      callTool(client, "write_file", { path: `tool_written/${round}.txt`, content: CONTENT }),
    append: () => client.append("appended.txt", "one more line\n"),
    appendTool: () =>
      callTool(client, "append_file", { path: "tool_appended.txt", content: "one more line\n" }),
    edit: (round) =>
      editOf(client, `edited/${round}.txt`, (path) => client.edit(path, CONTENT.slice(0, 40), "new")),
    editTool: (round) =>
      editOf(
        client,
        `tool_edited/${round}.txt`,
        (path) =>
          callTool(client, "edit_file", { path, old_string: CONTENT.slice(0, 40), new_string: "new" }),
      ),
  }, rounds);
  const compare = (tool: string, ofTool: Times, what: string, ofHttp: Times) =>
    report.times(tool, ofTool, what, ofHttp, atMost(TOOL_MAX));
  const floor = "a bare function asked by GET";
  report.times("the floor: a bare function asked by POST", times.barePost, floor, times.bareGet, null);
  report.times("the floor: a tool of a bare function", times.bareTool, floor, times.bareGet, null);
  compare("read_file, 1 KB", times.readTool, "GET /files/{path}", times.read);
  compare("list_files", times.listTool, "GET /files", times.list);
  compare("write_file, 1 KB, a new file", times.writeTool, "POST /files", times.write);
  compare("append_file", times.appendTool, "PUT /files/append/{path}", times.append);
  compare("edit_file, with the write before it", times.editTool, "PUT /files/edit/{path}", times.edit);
}

/** An edit of a file that was just written, the same for both. */
async function editOf(client: Client, path: string, edit: (path: string) => Promise<string>): Promise<void> {
  await client.write(path, CONTENT);
  await edit(path);
}
