/** Compares a tool of /mcp with the same request over HTTP; the tool must not cost much more. */
import { generateAppToken, hashAppToken } from "../../supabase/functions/api/auth/app_token.ts";
import { claimsOf, register } from "../support/client/accounts.ts";
import { BareInFunction } from "./baselines.ts";
import type { Bench } from "./bench.ts";
import { Client } from "./client.ts";
import { KILOBYTE, lines } from "./contents.ts";
import { interleave, type Times } from "./measure.ts";
import { atMost } from "./report.ts";

const CONTENT = lines(KILOBYTE);
/** Largest allowed ratio of a tool's call to the same request over HTTP. */
const TOOL_MAX = 1.15;
/** Largest allowed ratio of an app's call to the same call with a key. */
const CONNECT_MAX = 1.05;

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

/** A person's project with a key, and with an app that has the same rights; returns a call of each. */
async function keyAndApp(stack: Bench["stack"]) {
  const { id, key } = await stack.project();
  const owner = claimsOf((await register(stack)).session.access_token)["sub"];
  await stack.sql("update filestore.projects set owner_id = $2::uuid where id = $1", [id, owner]);
  const token = generateAppToken("access");
  await stack.sql(
    `with app as (
      insert into filestore.api_keys (
        project_id, kind, prefix, key_hash, account_id, client_hash, client_name, client_host, scopes)
      select $1, 'app', '', h, $2, h, '', '', '{read,write}' from sha256(convert_to($3, 'UTF8')) h returning key_hash)
    insert into filestore.app_tokens (token_hash, project_id, key_hash, kind, created_at, expires_at)
    select decode($4, 'hex'), $1, key_hash, 'access', now(), now() + interval '1 day' from app`,
    [id, owner, token, await hashAppToken(token)],
  );
  const client = new Client(stack.baseUrl, key);
  await client.write("read.txt", CONTENT);
  const [message, headers] = [messageOf("read_file", { path: "read.txt" }), headersOf("read_file")];
  return {
    atMcp: () => client.send("POST", "/mcp", message, headers),
    atConnect: () =>
      client.send("POST", "/connect", message, { ...headers, authorization: `Bearer ${token}` }),
  };
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
  const { atMcp, atConnect } = await keyAndApp(stack);
  const times = await interleave({
    atMcp,
    atConnect,
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
  report.times(
    "read_file at /connect",
    times.atConnect,
    "read_file at /mcp",
    times.atMcp,
    atMost(CONNECT_MAX),
  );
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
