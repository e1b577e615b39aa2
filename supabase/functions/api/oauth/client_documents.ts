/** Client ID Metadata Documents: a client's id is the address of a document that describes it. */
import {
  OAUTH_CLIENT_URL_LENGTH_MAX,
  OAUTH_DOCUMENT_DEFAULT_SECONDS,
  OAUTH_DOCUMENT_FAILED_SECONDS,
  OAUTH_DOCUMENT_MILLISECONDS,
  OAUTH_DOCUMENT_SECONDS_MAX,
  OAUTH_DOCUMENTS_REMEMBERED_MAX,
} from "../limits.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { LruCache } from "../runtime/lru_cache.ts";
import type { Outside } from "../outbound/outside.ts";
import { readResponse } from "../outbound/public_request.ts";
import { describe, type Description } from "./client_metadata.ts";

interface Fetched {
  /** Undefined where there is no such document. */
  readonly description?: Description;
  /** How long that may be remembered. */
  readonly seconds: number;
}

const GET = {
  method: "GET",
  headers: { Accept: "application/json", "Accept-Encoding": "identity" },
} as const;

const FAILED: Fetched = { seconds: OAUTH_DOCUMENT_FAILED_SECONDS };

export class ClientDocuments {
  readonly #remembered = new LruCache<string, { readonly fetched: Promise<Fetched>; until: number }>(
    OAUTH_DOCUMENTS_REMEMBERED_MAX,
  );

  constructor(private readonly outside: Outside, private readonly clock: Clock = systemClock) {}

  /** Whether any document can be fetched. */
  get isAvailable(): boolean {
    return this.outside.isAvailable;
  }

  /** What the document says; undefined where `id` is no such address, or no such document is there. */
  async find(id: string): Promise<Description | undefined> {
    const url = this.isAvailable ? this.#addressOf(id) : undefined;
    if (url === undefined) return undefined;
    let entry = this.#remembered.get(id);
    if (entry === undefined || this.clock.now() >= entry.until) {
      entry = { fetched: this.#fetch(url), until: Infinity };
      this.#remembered.set(id, entry);
      entry.until = this.clock.now() + (await entry.fetched).seconds * 1000;
    }
    return (await entry.fetched).description;
  }

  /** Only the one way to write an address, so that nobody has a client's document under a second id. */
  #addressOf(id: string): URL | undefined {
    const url = id.length > OAUTH_CLIENT_URL_LENGTH_MAX ? null : URL.parse(id);
    if (url?.href !== id || id.includes("#") || url.pathname === "/") return undefined;
    if (url.username !== "" || url.password !== "") return undefined;
    return url.protocol === "https:" || url.protocol === "http:" && this.outside.isTrusted(url)
      ? url
      : undefined;
  }

  async #fetch(url: URL): Promise<Fetched> {
    try {
      const response = await this.outside.request(url, GET, OAUTH_DOCUMENT_MILLISECONDS, readResponse);
      return await fetchedIn(response, url.href);
    } catch {
      return FAILED;
    }
  }
}

/** Throws for an answer that is no document of this client. */
async function fetchedIn(response: Response, id: string): Promise<Fetched> {
  const isJson = /^application\/([^/;]+\+)?json\s*(;|$)/i.test(response.headers.get("content-type") ?? "");
  const document: Readonly<Record<string, unknown>> = { ...Object(await response.json()) };
  // A public document has no secret.
  const isOfClient = document["client_id"] === id && !("client_secret" in document);
  if (response.status !== 200 || !isJson || !isOfClient) return FAILED;
  return { description: describe(document), seconds: secondsOf(response.headers) };
}

/** How long an answer may be remembered (RFC 9111 section 5.2.2). */
function secondsOf(headers: Headers): number {
  const directives = (headers.get("cache-control") ?? "").toLowerCase();
  if (/\bno-(store|cache)\b/.test(directives)) return 0;
  const seconds = Number(/\bmax-age="?(\d{1,9})/.exec(directives)?.[1] ?? OAUTH_DOCUMENT_DEFAULT_SECONDS);
  return Math.min(seconds, OAUTH_DOCUMENT_SECONDS_MAX);
}
