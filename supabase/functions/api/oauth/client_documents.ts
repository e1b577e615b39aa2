/** Client ID Metadata Documents: a client's id is the address of a document that describes it. */
import {
  OAUTH_CLIENT_URL_LENGTH_MAX,
  OAUTH_DOCUMENT_BYTES_MAX,
  OAUTH_DOCUMENT_DEFAULT_SECONDS,
  OAUTH_DOCUMENT_FAILED_SECONDS,
  OAUTH_DOCUMENT_HEAD_BYTES_MAX,
  OAUTH_DOCUMENT_MILLISECONDS,
  OAUTH_DOCUMENT_SECONDS_MAX,
  OAUTH_DOCUMENTS_REMEMBERED_MAX,
} from "../limits.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { Deadline, LATE } from "../runtime/deadline.ts";
import { LruCache } from "../runtime/lru_cache.ts";
import { describe, type Description } from "./client_metadata.ts";
import { dial, type Dialler, get, type PlainResponse, runtimeDialler } from "./public_get.ts";

/** `until`: when the document is fetched again, by the clock. */
interface Remembered {
  readonly found: Promise<Description | undefined>;
  until: number;
}

export class ClientDocuments {
  readonly #remembered = new LruCache<string, Remembered>(OAUTH_DOCUMENTS_REMEMBERED_MAX);

  /** `trustedHosts`: `host:port` of hosts that may be private, and be called without TLS. */
  constructor(
    private readonly trustedHosts: readonly string[] = [],
    private readonly dialler: Dialler = runtimeDialler,
    private readonly clock: Clock = systemClock,
  ) {}

  /** Whether any host can be called: a runtime may be unable to, or forbid it. */
  get isAvailable(): boolean {
    return this.trustedHosts.length > 0 || this.dialler !== runtimeDialler || mayConnect();
  }

  /** What the document says; undefined where `id` is no such address, or no such document is there. */
  async find(id: string): Promise<Description | undefined> {
    const url = this.isAvailable ? this.#addressOf(id) : undefined;
    if (url === undefined) return undefined;
    const known = this.#remembered.get(id);
    if (known && this.clock.now() < known.until) return await known.found;
    const fetched = this.#fetch(url);
    const entry: Remembered = { found: fetched.then((it) => it?.description), until: Infinity };
    this.#remembered.set(id, entry);
    const seconds = (await fetched)?.seconds ?? OAUTH_DOCUMENT_FAILED_SECONDS;
    entry.until = this.clock.now() + seconds * 1000;
    return await entry.found;
  }

  /** Only the one way to write an address, so that nobody has a client's document under a second id. */
  #addressOf(id: string): URL | undefined {
    const url = id.length > OAUTH_CLIENT_URL_LENGTH_MAX ? null : URL.parse(id);
    if (url?.href !== id || id.includes("#") || url.pathname === "/") return undefined;
    if (url.username !== "" || url.password !== "") return undefined;
    return url.protocol === "https:" || url.protocol === "http:" && this.#isTrusted(url) ? url : undefined;
  }

  #isTrusted({ hostname, port, protocol }: URL): boolean {
    return this.trustedHosts.includes(`${hostname}:${port || (protocol === "http:" ? 80 : 443)}`);
  }

  async #fetch(url: URL): Promise<{ description: Description; seconds: number } | undefined> {
    let isOver = false;
    const open = new Set<Deno.Conn>();
    const add = (connection: Deno.Conn) => isOver ? close(connection) : open.add(connection);
    const fetching = async () => {
      const connection = await dial(this.dialler, url, this.#isTrusted(url), add);
      return await get(connection, url, OAUTH_DOCUMENT_HEAD_BYTES_MAX + OAUTH_DOCUMENT_BYTES_MAX);
    };
    try {
      const response = await new Deadline(OAUTH_DOCUMENT_MILLISECONDS, this.clock).within(
        Infinity,
        fetching(),
      );
      const description = response === LATE ? undefined : descriptionIn(response, url);
      return response !== LATE && description
        ? { description, seconds: secondsOf(response.headers) }
        : undefined;
    } catch {
      return undefined;
    } finally {
      isOver = true;
      open.forEach(close);
    }
  }
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch { /* TLS has taken it over */ }
}

function mayConnect(): boolean {
  try {
    return typeof Deno.resolveDns === "function" && typeof Deno.startTls === "function" &&
      Deno.permissions.querySync({ name: "net" }).state === "granted";
  } catch {
    // A runtime without permissions forbids nothing.
    return true;
  }
}

function descriptionIn({ status, headers, body }: PlainResponse, { href }: URL): Description | undefined {
  const isJson = /^application\/([^/;]+\+)?json\s*(;|$)/i.test(headers.get("content-type") ?? "");
  if (status !== 200 || !isJson || body.length > OAUTH_DOCUMENT_BYTES_MAX) return undefined;
  const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  const document: Readonly<Record<string, unknown>> = { ...Object(value) };
  // A public document has no secret.
  return document["client_id"] === href && !("client_secret" in document) ? describe(document) : undefined;
}

/** How long an answer may be remembered (RFC 9111 section 5.2.2). */
function secondsOf(headers: Headers): number {
  const directives = (headers.get("cache-control") ?? "").toLowerCase();
  if (/\bno-(store|cache)\b/.test(directives)) return 0;
  const seconds = Number(/\bmax-age="?(\d{1,9})/.exec(directives)?.[1] ?? OAUTH_DOCUMENT_DEFAULT_SECONDS);
  return Math.min(seconds, OAUTH_DOCUMENT_SECONDS_MAX);
}
