/** The parameters of OAuth's requests: of a query, or of a form. */
import type { BodySource } from "../http/body.ts";
import { ensureUnencoded, mediaTypeOf, requestChunks } from "../http/body.ts";
import { parseQuery, pick, type Query } from "../http/query.ts";
import { ApiError } from "../errors.ts";
import { OAUTH_BODY_BYTES_MAX } from "../limits.ts";
import { refuse } from "./errors.ts";
import { OAUTH_SCOPES } from "./metadata.ts";

const RESOURCES = "resource";

/** An empty parameter is as good as none, and none may come twice (RFC 6749, section 3.1), but for resources. */
export class Parameters {
  constructor(private readonly query: Query) {}

  /** Throws OAuthError `invalid_request` for a repeated or malformed parameter. */
  get(name: string): string | undefined {
    try {
      return pick(this.query, [name])[name] || undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refuse("invalid_request", `The parameter ${name} is repeated or malformed.`);
    }
  }

  /** Throws OAuthError `invalid_request` for an absent parameter. */
  required(name: string): string {
    return this.get(name) ?? refuse("invalid_request", `The parameter ${name} is required.`);
  }

  /** The scopes of keys that the parameter asks for; undefined where it is absent. Throws `invalid_scope`. */
  scopes(): ("read" | "write")[] | undefined {
    const asked = this.get("scope")?.split(" ").filter((name) => name !== "");
    if (asked === undefined) return undefined;
    const known = Object.entries(OAUTH_SCOPES);
    if (asked.length === 0 || !asked.every((name) => known.some(([scope]) => scope === name))) {
      refuse("invalid_scope", `The scopes are ${known.map(([scope]) => scope).join(" and ")}.`);
    }
    return known.filter(([scope]) => asked.includes(scope)).map(([, scope]) => scope);
  }

  /** Tokens are for one resource (RFC 8707), the address of `/connect`. Throws OAuthError `invalid_target`. */
  ensureResource(own: string): void {
    const others = (this.query.get(RESOURCES) ?? []).filter((uri) => uri && URL.parse(uri)?.href !== own);
    if (others.length > 0) refuse("invalid_target", "The one resource is the address of /connect.");
  }
}

/** Reads a form. Throws OAuthError `invalid_request`, and ApiError where the body breaks off. */
export async function readForm(source: BodySource): Promise<Parameters> {
  const { headers } = source.request;
  if (mediaTypeOf(headers) !== "application/x-www-form-urlencoded") {
    refuse("invalid_request", "The body must be a form: application/x-www-form-urlencoded.");
  }
  return new Parameters(parseQuery(await readText(source)));
}

/** The body as text of a bounded length. */
export async function readText(source: BodySource): Promise<string> {
  ensureUnencoded(source.request.headers);
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of requestChunks(source, "INVALID_JSON")) {
    bytes += chunk.length;
    if (bytes > OAUTH_BODY_BYTES_MAX) {
      refuse("invalid_request", `The body has at most ${OAUTH_BODY_BYTES_MAX} bytes.`);
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
