/** MCP as sent over the wire, in both eras of the protocol. */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import type { Api, RequestOptions } from "./api.ts";
import type { Answer } from "./contract.ts";

/**
 * `modern`: revision 2026-07-28, whose messages each name the revision. `legacy`: the revisions of 2025, with a
 * handshake.
 */
export type Era = "modern" | "legacy";
export const ERAS: readonly Era[] = ["modern", "legacy"];

export const MODERN_VERSION = "2026-07-28";
export const LEGACY_VERSION = "2025-06-18";

const text = z.strictObject({ type: z.literal("text"), text: z.string() });
const image = z.strictObject({ type: z.literal("image"), data: z.base64(), mimeType: z.string() });

/** A tool's result: one block of text, for an image also the image, and no structured content. */
const toolResult = z.strictObject({
  content: z.union([z.tuple([text]), z.tuple([text, image])]),
  isError: z.literal(true).optional(),
  // A field that the modern revision adds to every result.
  resultType: z.literal("complete").optional(),
  _meta: z.record(z.string(), z.unknown()).optional(),
});
export type ToolResult = z.infer<typeof toolResult>;

const reply = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.int(), z.string(), z.null()]).optional(),
});
const fault = reply.extend({ error: z.looseObject({ code: z.int(), message: z.string() }) });

const CLIENT = { name: "test", version: "1.0.0" };

/** The message and headers of a request, as a client of the era sends them. */
export function messageOf(
  era: Era,
  method: string,
  params: Record<string, unknown> = {},
  id: number | string = 1,
): { body: Record<string, unknown>; headers: Record<string, string> } {
  const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
  if (era === "legacy") {
    const version: Record<string, string> = method === "initialize"
      ? {}
      : { "mcp-protocol-version": LEGACY_VERSION };
    return { body: { jsonrpc: "2.0", id, method, params }, headers: { ...headers, ...version } };
  }
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name: Record<string, string> = typeof params["name"] === "string"
    ? { "mcp-name": params["name"] }
    : {};
  return {
    body: { jsonrpc: "2.0", id, method, params: { ...params, _meta } },
    headers: { ...headers, "mcp-protocol-version": MODERN_VERSION, "mcp-method": method, ...name },
  };
}

/** An agent that uses one key. */
export class Agent {
  constructor(readonly api: Api, readonly key: string | null, readonly era: Era = "modern") {}

  /** Sends a request that may be refused. */
  rpc(method: string, params?: Record<string, unknown>, options: RequestOptions = {}): Promise<Answer> {
    const { body, headers } = messageOf(this.era, method, params);
    return this.api.request(this.key, "POST", "/mcp", {
      body,
      ...options,
      headers: { ...headers, ...options.headers },
    });
  }

  /** Calls a tool and returns its result, which may be a failure. */
  async result(name: string, args: Record<string, unknown> = {}): Promise<ToolResult> {
    const answer = await this.rpc("tools/call", { name, arguments: args });
    assertEquals(answer.status, 200, answer.text);
    return toolResult.parse(Reflect.get(Object(answer.body), "result"));
  }

  /** Calls a tool, which must succeed, and returns the text of its result. */
  async call(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const { content: [{ text }], isError } = await this.result(name, args);
    if (isError) throw new Error(text);
    return text;
  }

  /** Calls a tool, which must fail, and returns the text of its result. */
  async refused(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const { content: [{ text }], isError } = await this.result(name, args);
    if (!isError) throw new Error(`not refused: ${text}`);
    return text;
  }

  async tools() {
    const answer = await this.rpc("tools/list");
    assertEquals(answer.status, 200, answer.text);
    const tools = Reflect.get(Object(Reflect.get(Object(answer.body), "result")), "tools");
    return z.array(z.looseObject({
      name: z.string(),
      title: z.string(),
      description: z.string(),
      inputSchema: z.looseObject({ properties: z.record(z.string(), z.record(z.string(), z.unknown())) }),
      annotations: z.record(z.string(), z.unknown()),
    })).parse(tools);
  }
}

/** HTTP status and JSON-RPC code of a protocol error. */
export function faultOf({ status, body }: Answer): [number, number] {
  return [status, fault.parse(body).error.code];
}
