/**
 * Serves the console at `/console/`. If there is no build of the current sources, the first visit builds it in a
 * separate process, so that the stack starts without that time and those packages; meanwhile a page reports the build.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { CONSOLE_BUILD_RETRY_SECONDS, CONSOLE_COMPRESS_BYTES_MIN } from "../limits.ts";
import type { LocalMail } from "../local_mail.ts";
import { messageOf } from "../startup_error.ts";
import { BuildProcess } from "./build_process.ts";
import { CLIENT_FILES, clientFile } from "./client_files.ts";
import { configJson, messagePage, SITE_HEADERS, unknownPage } from "./site.ts";
import { buildDirectory } from "./sources.ts";

const PREFIX = "/console";

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  py: "text/x-python; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/** The policy of the page itself, and the policies that are only valid in a header. */
const HEADERS = {
  ...SITE_HEADERS,
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob: data:; media-src blob:; " +
    "connect-src 'self'; worker-src 'self'; frame-src 'none'; object-src 'none'; base-uri 'none'; " +
    `form-action 'self'; ${SITE_HEADERS["content-security-policy"]}`,
};

interface PageResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export class ConsoleServer {
  private readonly build = new BuildProcess();
  /** The build of the last visit. All files of a page come from one build, and the sources are hashed once per visit. */
  private directory: string | null = null;

  constructor(private readonly publishableKey: string, private readonly mail: LocalMail) {}

  /** Returns whether a path with its query belongs to the console. */
  static owns(url: string): boolean {
    return /^\/console(?:[/?]|$)/.test(url);
  }

  async serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { status, type, body, headers } = await this.respond(incoming);
    const plainBytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    const isCompressed = plainBytes.byteLength >= CONSOLE_COMPRESS_BYTES_MIN &&
      /\bgzip\b/.test(String(incoming.headers["accept-encoding"] ?? ""));
    const bytes = isCompressed ? gzipSync(plainBytes) : plainBytes;
    outgoing.writeHead(status, {
      "content-type": type,
      "content-length": bytes.byteLength,
      "cache-control": "no-cache",
      "vary": "accept-encoding",
      ...HEADERS,
      ...(isCompressed ? { "content-encoding": "gzip" } : {}),
      ...headers,
    });
    outgoing.end(incoming.method === "HEAD" ? undefined : bytes);
  }

  close(): void {
    this.build.cancel();
  }

  private async respond(incoming: IncomingMessage): Promise<PageResponse> {
    const { method = "GET", url = "/" } = incoming;
    if (method !== "GET" && method !== "HEAD") {
      return plainText(405, "Only GET and HEAD are allowed.", { allow: "GET, HEAD" });
    }
    const [path = ""] = url.split("?");
    if (path === PREFIX) return plainText(308, "", { location: `${PREFIX}/${url.slice(path.length)}` });
    const file = path.slice(PREFIX.length + 1);
    // The page for the people whom an app asks to sign in.
    const name = file === "authorize" ? "" : file;
    if (name === "config.json") return this.config(incoming);
    if (name === "local_mail.json") return this.localMail(incoming);
    if (CLIENT_FILES.includes(name)) return await this.client(name);
    if (name === "" || this.directory === null) this.directory = await buildDirectory();
    if (!await isDirectory(this.directory)) return this.unbuilt(name);
    return await readBuildFile(this.directory, name === "" ? "index.html" : name) ??
      (incoming.headers.accept?.includes("text/html") ? NOWHERE : plainText(404, "File not found."));
  }

  /** Uses the address of the request, which may be a forwarded one. */
  private config({ headers }: IncomingMessage): PageResponse {
    const { host = "127.0.0.1" } = headers;
    if (!/^[\w.:[\]-]+$/.test(host)) return plainText(400, "Invalid host.");
    const { publishableKey } = this;
    const body = configJson({
      supabaseUrl: `http://${host}`,
      publishableKey,
      github: false,
      localMail: true,
    });
    return { status: 200, type: contentType("config.json"), body };
  }

  /**
   * A reader of these mails can sign in as their receivers, so only pages of this machine may read them. A host name
   * that another site points at 127.0.0.1 is refused.
   */
  private localMail({ headers }: IncomingMessage): PageResponse {
    if (!/^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(headers.host ?? "")) {
      return plainText(403, "Local mail is for this machine only.");
    }
    const body = JSON.stringify({ mails: this.mail.mails });
    return { status: 200, type: contentType("x.json"), body, headers: { "cache-control": "no-store" } };
  }

  /** Does not wait for the build of the console. */
  private async client(name: string): Promise<PageResponse> {
    try {
      return { status: 200, type: contentType(name), body: await clientFile(name) };
    } catch (error) {
      return plainText(503, messageOf(error), { "retry-after": String(CONSOLE_BUILD_RETRY_SECONDS) });
    }
  }

  private unbuilt(name: string): PageResponse {
    if (name !== "") return plainText(503, "The console is being built.", { "retry-after": "2" });
    const problem = this.build.problem;
    if (problem === null) this.build.start();
    else this.build.clearProblem();
    const text = problem === null
      ? "The console is being built. This page reloads automatically; the first build also downloads its packages."
      : `The console could not be built: ${problem}`;
    return {
      status: 503,
      type: contentType("index.html"),
      body: messagePage(text),
      headers: {
        refresh: String(CONSOLE_BUILD_RETRY_SECONDS),
        "retry-after": String(CONSOLE_BUILD_RETRY_SECONDS),
      },
    };
  }
}

/** File names of a build are plain: any other name returns null, `..` and encoded slashes included. */
async function readBuildFile(directory: string, name: string): Promise<PageResponse | null> {
  if (!/^(?:assets\/)?[\w-][\w.-]*$/.test(name)) return null;
  try {
    const body = await Deno.readFile(join(directory, name));
    const cache: Record<string, string> = name.startsWith("assets/")
      ? { "cache-control": "public, max-age=31536000, immutable" }
      : {};
    return { status: 200, type: contentType(name), body, headers: cache };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.IsADirectory) return null;
    throw error;
  }
}

function plainText(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): PageResponse {
  return { status, type: "text/plain; charset=utf-8", body: text, headers };
}

function contentType(name: string): string {
  return TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
}

/** Answers a visit before the stack has started, with a page that reloads until the console is available. */
export function respondStarting(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const body = new TextEncoder().encode(
    messagePage(
      "Filestore is starting. This page reloads automatically; the first start takes about a minute.",
    ),
  );
  outgoing.writeHead(503, {
    "content-type": contentType("index.html"),
    "content-length": body.byteLength,
    "cache-control": "no-store",
    ...HEADERS,
    refresh: String(CONSOLE_BUILD_RETRY_SECONDS),
    "retry-after": String(CONSOLE_BUILD_RETRY_SECONDS),
  });
  outgoing.end(incoming.method === "HEAD" ? undefined : body);
}

const NOWHERE: PageResponse = {
  status: 404,
  type: contentType("index.html"),
  body: unknownPage(`${PREFIX}/`),
};

async function isDirectory(path: string): Promise<boolean> {
  return await Deno.stat(path).then((info) => info.isDirectory, () => false);
}
