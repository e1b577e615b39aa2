/** One JSON-RPC message of an MCP client, served by the official server package. Loaded when `/mcp` is first called. */
import {
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Context } from "../context.ts";
import { ApiError } from "../errors.ts";
import { jsonText } from "../http/respond.ts";
import { VERSION } from "../version.ts";
import { PROTOCOL_VERSIONS } from "./protocol_versions.ts";
import { failureText, ToolRefusal } from "./failures.ts";
import { TOOLS } from "./tools/mod.ts";
import { actorOf, isRunId, parseProvenance } from "../http/provenance.ts";
import type { Provenance } from "../ports/answer.ts";

/** Errors that are answered by HTTP status even during a tool's call, since they do not concern the tool. */
const OF_TRANSPORT: readonly string[] = [
  "INVALID_API_KEY",
  "INVALID_SESSION",
  "RATE_LIMIT_EXCEEDED",
  "INTERNAL_ERROR",
];

/**
 * Serves a message that is parsed but not validated. Counts every message as one request of the window. Throws ApiError
 * where the key or the window refuses the caller.
 */
export async function serve(context: Context, message: unknown): Promise<Response> {
  const { gate } = context;
  // A tool's own first call to the database authorizes and counts the request.
  if (field(message, "method") !== "tools/call") await gate.ensureCounted();
  const exchange = new Exchange(context);
  const response = refuse(message) ?? await exchange.respond(message);
  if (exchange.failure !== undefined) throw exchange.failure;
  // If the back end was just out of reach, the request does not wait for it again.
  if (!exchange.isUnavailable) await gate.ensureCounted();
  const { status, body } = response;
  if (body === null) return new Response(null, { status, headers: { "Cache-Control": "no-store" } });
  return jsonText(await response.text(), status);
}

/** Refuses messages that the package would serve and this service does not. */
function refuse(message: unknown): Response | null {
  if (Array.isArray(message)) {
    return protocolError(400, -32600, "Invalid Request: send one message at a time.");
  }
  // The service announces nothing, and a stream would keep an isolate alive.
  if (field(message, "method") === "subscriptions/listen") {
    return protocolError(404, ProtocolErrorCode.MethodNotFound, "Method not found", message);
  }
  return null;
}

function protocolError(
  status: number,
  code: number,
  text: string,
  message?: unknown,
  data?: unknown,
): Response {
  const given = field(message, "id");
  const id = typeof given === "string" || typeof given === "number" ? given : null;
  const error = { code, message: text, ...data !== undefined && { data } };
  return Response.json({ jsonrpc: "2.0", error, id }, { status });
}

/** Creates the server of a request. */
const servers = new WeakMap<Request, () => Server>();

/** Serves revision 2026-07-28. One handler for all requests: creating it takes longer than a request. */
const modern = createMcpHandler(({ requestInfo }) => {
  const server = requestInfo && servers.get(requestInfo);
  if (!server) throw new Error("the request is not one of ours");
  return server();
}, { legacy: "reject" });

class Exchange {
  /** An error of a tool's call that must be answered by HTTP status, not as the tool's result. */
  failure: unknown;
  /** Whether the result says that the back end is out of reach. */
  isUnavailable = false;

  constructor(private readonly context: Context) {}

  async respond(message: unknown): Promise<Response> {
    const { url, headers } = this.context.request;
    const sent = new Headers(headers);
    // Clients that send no Accept header get JSON.
    sent.set("accept", "application/json, text/event-stream");
    sent.set("content-type", "application/json");
    // The same request without its body, which was read.
    const request = new Request(url, { method: "POST", headers: sent });
    if (await isLegacyRequest(request, message)) return await this.respondLegacy(request, message);
    servers.set(request, () => this.server(message));
    return await modern.fetch(request, { parsedBody: message });
  }

  /** Answers a client of a 2025 revision: each message by itself, with JSON instead of a stream. */
  private async respondLegacy(request: Request, parsedBody: unknown): Promise<Response> {
    const version = request.headers.get("mcp-protocol-version");
    if (version !== null && !PROTOCOL_VERSIONS.includes(version)) {
      const data = { supported: PROTOCOL_VERSIONS, requested: version };
      return protocolError(400, -32022, `Unsupported protocol version: ${version}`, parsedBody, data);
    }
    const server = this.server(parsedBody);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody });
    } finally {
      await server.close();
    }
  }

  private server(message: unknown): Server {
    const server = new Server({ name: "filestore", title: "Versioned files", version: VERSION }, {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS + instructionsInBranch(this.context.gate.grant?.pathPrefix ?? null),
    });
    server.setRequestHandler("tools/list", () => ({ tools: this.tools() }));
    server.setRequestHandler("tools/call", ({ params }) => this.call(params.name, params.arguments, message));
    return server;
  }

  private tools() {
    const { scopes = [], pathPrefix = null } = this.context.gate.grant ?? {};
    const allowed = TOOLS.filter((tool) =>
      tool.scopes.every((scope) => scopes.includes(scope)) && tool.mayUse?.(pathPrefix) !== false
    );
    return allowed.map(({ name, title, description, inputSchema, effect }) => ({
      ...{ name, title, description, inputSchema },
      // Clients describe a tool to people by these, and ask for consent.
      annotations: {
        title,
        readOnlyHint: effect === "reads",
        destructiveHint: effect === "replaces",
        idempotentHint: effect === "reads",
        openWorldHint: false,
      },
    }));
  }

  private async call(name: string, given: unknown, message: unknown): Promise<CallToolResult> {
    const tool = TOOLS.find((tool) => tool.name === name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
    try {
      const { gate, request: { headers } } = this.context;
      if (tool.effect !== "reads") gate.provenance = provenanceOf(headers, message);
      const { pathPrefix } = await gate.require(tool.scopes);
      if (tool.mayUse?.(pathPrefix) === false) {
        throw new ToolRefusal(
          "FORBIDDEN_SCOPE",
          `This tool is not for a key that is confined to ${pathPrefix}.`,
        );
      }
      const { text, image } = await tool.call(this.context, given);
      return { content: [{ type: "text", text }, ...image ? [{ type: "image" as const, ...image }] : []] };
    } catch (error) {
      const isResult = error instanceof ToolRefusal ||
        (error instanceof ApiError && !OF_TRANSPORT.includes(error.code));
      this.isUnavailable = error instanceof ApiError && error.status === 503;
      if (isResult) return { content: [{ type: "text", text: failureText(error) }], isError: true };
      this.failure = error;
      throw error;
    }
  }
}

/** The description of the server that a client gives its model once: at most 600 characters. */
const INSTRUCTIONS =
  "Versioned files that people and other agents use, too. Every change adds a numbered version; old ones stay " +
  "readable and can be restored. Search with list_files, grep_files (exact text) or search_files (a subject); then " +
  "read_file, which shows the version. Change a part with edit_file, add to the end with append_file. write_file " +
  "replaces a whole file and needs the version you read as expected_version. If the file changed meanwhile, the " +
  "result shows how: redo your change on that. A failure begins with a CODE and says what to do next.";

/** What an agent whose key is confined to a branch needs to know; "" for other keys. */
function instructionsInBranch(pathPrefix: string | null): string {
  const [, name, below] = /^\.branches\/([^/]+)(.*)$/s.exec(pathPrefix ?? "") ?? [];
  if (name === undefined) return "";
  const end = below === "" ? " When you are done, call finish_branch." : "";
  return ` You work in the branch ${name}, a copy: all paths begin with ${pathPrefix}/. Nothing counts until a person ` +
    `merges it.${end}`;
}

/**
 * From the request's headers; without them, the run is the trace (W3C Trace Context) of `_meta`, and the actor the
 * client's name and version, cut and cleaned. Throws VALIDATION_ERROR for invalid headers.
 */
function provenanceOf(headers: Headers, message: unknown): Provenance {
  const meta = field(field(message, "params"), "_meta");
  const client = field(meta, "io.modelcontextprotocol/clientInfo");
  const trace = /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(text(field(meta, "traceparent")))?.[1];
  const isTrace = trace !== undefined && isRunId(trace) && !/^0+$/.test(trace);
  const sent = parseProvenance(headers);
  return {
    runId: sent?.runId ?? (isTrace ? trace : undefined),
    actor: sent?.actor ?? actorOf(text(field(client, "name")), text(field(client, "version"))),
    note: sent?.note,
  };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
