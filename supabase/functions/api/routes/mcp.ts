/** POST /mcp: tools for agents, by the Model Context Protocol. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { ApiError, fail } from "../errors.ts";
import {
  declaredBytes,
  ensureUnencoded,
  isLargeBody,
  mediaTypeOf,
  openBody,
  requestChunks,
} from "../http/body.ts";
import { readJsonBody } from "../http/json_body.ts";
import { PROVENANCE_HEADERS } from "../http/provenance.ts";
import { json } from "../http/respond.ts";
import { MCP_BODY_BYTES_MAX } from "../limits.ts";
import { defineRoute } from "../route.ts";

/** Hosts that only programs on the same machine can reach. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Throws FORBIDDEN_ORIGIN for a browser's page that is neither local nor named in the settings. Programs send no
 * Origin. The `Host` header proves nothing: a page whose name was rebound to this address (DNS rebinding) sends its own
 * name there, too.
 */
function ensureOrigin({ request, mcpAllowedOrigins }: Context): void {
  const origin = request.headers.get("origin");
  if (origin === null) return;
  const url = URL.parse(origin);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.origin === origin.toLowerCase();
  if (isOrigin && (LOOPBACK.test(url.hostname) || mcpAllowedOrigins.includes(url.origin))) return;
  fail("FORBIDDEN_ORIGIN", "Pages of this origin may not call /mcp. See MCP_ALLOWED_ORIGINS.");
}

/** The message as parsed; undefined where it is not JSON. */
async function readMessage(context: Context): Promise<unknown> {
  const { request: { headers }, gate } = context;
  const isLarge = isLargeBody(headers);
  if (isLarge) await gate.ensureCounted();
  ensureUnencoded(headers);
  if (mediaTypeOf(headers) !== "application/json") {
    fail("UNSUPPORTED_MEDIA_TYPE", "The body must be JSON, with Content-Type application/json.");
  }
  const declared = declaredBytes(headers);
  if (declared !== null && declared > MCP_BODY_BYTES_MAX) {
    fail("CONTENT_TOO_LARGE", "The body is too large. Upload large files with create_link.", {
      limitBytes: MCP_BODY_BYTES_MAX,
      sizeBytes: declared,
    });
  }
  const body = isLarge ? await openBody(context, declared ?? MCP_BODY_BYTES_MAX) : undefined;
  try {
    return await readJsonBody(requestChunks(context, "INVALID_JSON"), {
      limitBytes: MCP_BODY_BYTES_MAX,
      ...body && { hold: (bytes) => body.hold(bytes) },
    });
  } catch (error) {
    if (error instanceof ApiError && error.code === "INVALID_JSON") return undefined;
    throw error;
  }
}

const message = z.looseObject({
  jsonrpc: z.literal("2.0"),
  method: z.string().meta({
    description:
      "`initialize`, `server/discover`, `ping`, `tools/list`, `tools/call`; others are -32601. A notification, " +
      "which has no `id`, is answered with 202.",
  }),
}).meta({ id: "McpMessage", description: "A JSON-RPC 2.0 request or notification." });

/** Serves the message in the request's body, for a caller that acts as a key. */
export async function serveMcp(context: Context): Promise<Response> {
  ensureOrigin(context);
  const message = await readMessage(context);
  if (message === undefined) {
    await context.gate.ensureCounted();
    const error = { code: -32700, message: "Parse error: the body is not JSON." };
    return json({ jsonrpc: "2.0", error, id: null }, 400);
  }
  // Loaded on demand, so that no other route's cold start pays for it.
  const { serve } = await import("../mcp/serve.ts");
  return await serve(context, message);
}

export const mcp = defineRoute({
  operation: "mcp",
  scopes: [],
  handle: serveMcp,
  openapi: {
    summary: "Call tools through the Model Context Protocol, for agents",
    description:
      "Streamable HTTP without sessions: one JSON-RPC message in each request, one JSON answer. Protocol revisions " +
      "2026-07-28 and those of 2025. A failed tool returns a result with `isError`; errors of the protocol are JSON-RPC " +
      "errors, some of them with status 400 or 404.",
    headers: ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Origin", ...PROVENANCE_HEADERS],
    body: message,
    answer: "mcpReply",
    isProtocol: true,
    errors: ["FORBIDDEN_ORIGIN"],
    example: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_files", arguments: {} } },
  },
});
