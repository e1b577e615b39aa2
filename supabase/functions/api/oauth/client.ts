/** Clients: apps that describe themselves, by registration (RFC 7591) or by a document. Nobody vouches for what they say. */
import type { ClientDocuments } from "./client_documents.ts";
import { describe, type Description, isListOfTexts } from "./client_metadata.ts";
import { OAuthError, refuse } from "./errors.ts";
import { hostOf, matchesRedirect } from "./redirect_uri.ts";
import type { SignedRecords } from "./signed.ts";

export interface Client extends Description {
  readonly id: string;
}

/** A client as a person sees it. */
export interface ShownClient extends Pick<Client, "id" | "name"> {
  /** The host that gets the code: all of a client that cannot be pretended. "" for an app on the person's device. */
  readonly host: string;
}

const REGISTERED = "client";

/** `now`: milliseconds since the epoch. Returns the answer of a registration (RFC 7591 section 3.2.1). Throws OAuthError. */
export async function registration(records: SignedRecords, body: unknown, now: number) {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    refuse("invalid_client_metadata", "The body must be a JSON object.");
  }
  const { name, redirectUris } = describe({ ...body });
  const issuedAt = Math.floor(now / 1000);
  return {
    client_id: await records.sign(REGISTERED, { name, redirectUris, issuedAt }),
    client_id_issued_at: issuedAt,
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

/** The client with this id. Throws OAuthError `invalid_client` where there is none. */
export async function findClient(
  records: SignedRecords,
  documents: ClientDocuments,
  id: string,
): Promise<Client> {
  const url = URL.parse(id);
  if (url === null) {
    const record: unknown = await records.read(REGISTERED, id);
    const { name, redirectUris }: { name?: unknown; redirectUris?: unknown } = { ...Object(record) };
    if (typeof name === "string" && isListOfTexts(redirectUris)) return { id, name, redirectUris };
  } else {
    const description = await documents.find(id);
    if (description) return { id, ...description };
  }
  throw new OAuthError(
    "invalid_client",
    "There is no client with this client_id, or its document is not to be had.",
    401,
  );
}

/** The client that gets its code at this URI; undefined where the client has no such redirect URI. */
export function atRedirect(client: Client, redirectUri: string): ShownClient | undefined {
  if (!client.redirectUris.some((registered) => matchesRedirect(registered, redirectUri))) return undefined;
  return { id: client.id, name: client.name, host: hostOf(redirectUri) };
}
