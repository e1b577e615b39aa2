/** The request of an app for a person's consent (RFC 6749 section 4.1.1, RFC 7636, RFC 8707, RFC 9207). */
import { OAUTH_REQUEST_SECONDS, OAUTH_STATE_LENGTH_MAX } from "../limits.ts";
import { atRedirect, type Client, type ShownClient } from "./client.ts";
import { OAuthError, refuse } from "./errors.ts";
import type { Parameters } from "./parameters.ts";
import { isChallenge } from "./pkce.ts";
import type { SignedRecords } from "./signed.ts";

/** A checked request, which travels through the person's browser as a signed record. */
export interface PendingRequest {
  /** UUID by which the database knows whether it was answered. */
  readonly id: string;
  readonly client: ShownClient;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly scopes: readonly ("read" | "write")[];
  readonly challenge: string;
  readonly resource: string;
  /** The server as the app knows it: the console may call the service at another address. */
  readonly issuer: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Where an app gets its answer: only where its client is known, and has this redirect URI. */
export type Addressee = Pick<PendingRequest, "client" | "redirectUri">;

const KIND = "request";
/** VSCHAR of RFC 6749: a state comes back as it was. */
const STATE = /^[\x20-\x7e]+$/;

/** Throws OAuthError for a request that must not be redirected: its client or its redirect URI is not known. */
export async function addresseeOf(
  parameters: Parameters,
  findClient: (id: string) => Promise<Client>,
): Promise<Addressee> {
  const id = parameters.required("client_id");
  const redirectUri = parameters.required("redirect_uri");
  const client = atRedirect(await findClient(id), redirectUri);
  if (client === undefined) refuse("invalid_request", "The client has no such redirect_uri.");
  return { client, redirectUri };
}

/** Checks the rest. Throws OAuthErrors that are sent to the redirect URI. `resource`: the address of `/connect`. */
export function pendingRequest(
  addressee: Addressee,
  parameters: Parameters,
  { resource, issuer }: Pick<PendingRequest, "resource" | "issuer">,
  now: number,
): PendingRequest {
  const state = stateOf(parameters);
  if (parameters.required("response_type") !== "code") {
    refuse("unsupported_response_type", "The response_type must be code.");
  }
  if ((parameters.get("response_mode") ?? "query") !== "query") {
    refuse("invalid_request", "The response_mode must be query.");
  }
  const challenge = parameters.get("code_challenge");
  if (!isChallenge(challenge, parameters.get("code_challenge_method"))) {
    refuse("invalid_request", "A code_challenge with the code_challenge_method S256 is required.");
  }
  parameters.ensureResource(resource);
  const scopes = parameters.scopes() ?? ["read", "write"];
  const expiresAt = now + OAUTH_REQUEST_SECONDS * 1000;
  return { id: crypto.randomUUID(), ...addressee, state, scopes, challenge, resource, issuer, expiresAt };
}

function stateOf(parameters: Parameters): string | undefined {
  const state = parameters.get("state");
  if (state !== undefined && (state.length > OAUTH_STATE_LENGTH_MAX || !STATE.test(state))) {
    refuse("invalid_request", `The state has at most ${OAUTH_STATE_LENGTH_MAX} printable ASCII characters.`);
  }
  return state;
}

/** The state that an error sends back: even of a request that is refused, if it can be told. */
export function stateToReturn(parameters: Parameters): string | undefined {
  try {
    return stateOf(parameters);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return undefined;
  }
}

export function signRequest(records: SignedRecords, request: PendingRequest): Promise<string> {
  return records.sign(KIND, request);
}

/** The request; undefined where it is not one of ours, or its time is over. */
export async function readRequest(
  records: SignedRecords,
  text: string,
  now: number,
): Promise<PendingRequest | undefined> {
  const record = await records.read(KIND, text);
  // What the service signed has the shape that it signed.
  return isRequest(record) && now < record.expiresAt ? record : undefined;
}

function isRequest(record: unknown): record is PendingRequest {
  return typeof record === "object" && record !== null && "expiresAt" in record;
}

/** The redirect URI with the answer. It has no fragment; its own query stays. */
export function answerAddress(
  redirectUri: string,
  answer: Readonly<Record<string, string | undefined>>,
): string {
  const given = Object.entries(answer).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const separator = redirectUri.includes("?") ? "&" : "?";
  return redirectUri + separator + new URLSearchParams(given).toString();
}
