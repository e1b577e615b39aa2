/**
 * Serves the console at `/console/`. It is built in a process of its own when somebody first visits and there is no
 * build of these sources, so that a start needs neither the time nor the packages; meanwhile the page says so.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { CONSOLE_BUILD_RETRY_SECONDS, CONSOLE_COMPRESS_BYTES_MIN } from "../limits.ts";
import { BuildProcess } from "./build_process.ts";
import { configJson } from "./site.ts";
import { buildDirectory } from "./sources.ts";

const PREFIX = "/console";

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** The page's own policy, and what only a header can say. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; " +
  "connect-src 'self'; worker-src 'self'; frame-src 'none'; object-src 'none'; base-uri 'none'; " +
  "form-action 'self'; frame-ancestors 'none'";

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export class ConsoleServer {
  private readonly build = new BuildProcess();
  /** Of the last visit: the files of a page belong to one build, and sources are hashed once a visit. */
  private directory: string | null = null;

  constructor(private readonly publishableKey: string) {}

  /** Whether the path, with its query, is the console's. */
  static owns(url: string): boolean {
    return /^\/console(?:[/?]|$)/.test(url);
  }

  async serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { status, type, body, headers } = await this.answer(incoming);
    const plainBytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    const isCompressed = plainBytes.byteLength >= CONSOLE_COMPRESS_BYTES_MIN &&
      /\bgzip\b/.test(String(incoming.headers["accept-encoding"] ?? ""));
    const bytes = isCompressed ? gzipSync(plainBytes) : plainBytes;
    outgoing.writeHead(status, {
      "content-type": type,
      "content-length": bytes.byteLength,
      "cache-control": "no-cache",
      "content-security-policy": POLICY,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "vary": "accept-encoding",
      ...(isCompressed ? { "content-encoding": "gzip" } : {}),
      ...headers,
    });
    outgoing.end(incoming.method === "HEAD" ? undefined : bytes);
  }

  close(): void {
    this.build.cancel();
  }

  private async answer(incoming: IncomingMessage): Promise<Answer> {
    const { method = "GET", url = "/" } = incoming;
    if (method !== "GET" && method !== "HEAD") return plain(405, "Only GET.", { allow: "GET, HEAD" });
    const [path = ""] = url.split("?");
    if (path === PREFIX) return plain(308, "", { location: `${PREFIX}/${url.slice(path.length)}` });
    const name = path.slice(PREFIX.length + 1);
    if (name === "config.json") return this.config(incoming);
    if (name === "" || this.directory === null) this.directory = await buildDirectory();
    if (!await isDirectory(this.directory)) return this.unbuilt(name);
    return await fileOf(this.directory, name === "" ? "index.html" : name) ??
      plain(404, "There is no such file.");
  }

  /** The address is the one that the browser came to: it may be a forwarded one. */
  private config({ headers }: IncomingMessage): Answer {
    const { host = "127.0.0.1" } = headers;
    if (!/^[\w.:[\]-]+$/.test(host)) return plain(400, "Bad host.");
    const { publishableKey } = this;
    const body = configJson({ supabaseUrl: `http://${host}`, publishableKey, github: false });
    return { status: 200, type: typeOf("config.json"), body };
  }

  private unbuilt(name: string): Answer {
    if (name !== "") return plain(503, "The console is being built.", { "retry-after": "2" });
    const problem = this.build.problem;
    if (problem === null) this.build.start();
    else this.build.forget();
    const text = problem === null
      ? "The console is being built. This page goes on by itself; the first time takes a minute."
      : `The console could not be built: ${problem}`;
    return {
      status: 503,
      type: typeOf("index.html"),
      body: page(text),
      headers: {
        refresh: String(CONSOLE_BUILD_RETRY_SECONDS),
        "retry-after": String(CONSOLE_BUILD_RETRY_SECONDS),
      },
    };
  }
}

/** Names of a build are plain: whatever else is asked for is not there, `..` and encoded slashes included. */
async function fileOf(directory: string, name: string): Promise<Answer | null> {
  if (!/^(?:assets\/)?[\w-][\w.-]*$/.test(name)) return null;
  try {
    const body = await Deno.readFile(join(directory, name));
    const cache: Record<string, string> = name.startsWith("assets/")
      ? { "cache-control": "public, max-age=31536000, immutable" }
      : {};
    return { status: 200, type: typeOf(name), body, headers: cache };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.IsADirectory) return null;
    throw error;
  }
}

function plain(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, type: "text/plain; charset=utf-8", body: text, headers };
}

function typeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
}

function page(text: string): string {
  const escaped = text.replace(/[&<]/g, (character) => character === "&" ? "&amp;" : "&lt;");
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Filestore</title>` +
    `<meta name="color-scheme" content="light dark"></head><body><main><p role="status">${escaped}</p></main></body></html>`;
}

async function isDirectory(path: string): Promise<boolean> {
  return await Deno.stat(path).then((info) => info.isDirectory, () => false);
}
