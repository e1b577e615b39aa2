/** Apps that sign in, as an app sees the service, and the person who lets one in, as the console calls the service. */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { z } from "zod";
import type { Account } from "./accounts.ts";

export const REDIRECT = "https://app.example/back";
export const STATE = "state +&=%";

const registered = z.looseObject({ client_id: z.string() });
const redirected = z.object({ data: z.object({ redirectTo: z.string() }) });
const tokens = z.looseObject({
  access_token: z.string(),
  refresh_token: z.string(),
  token_type: z.string(),
  expires_in: z.number(),
  scope: z.string(),
});
export type Tokens = z.infer<typeof tokens>;

/** What a person chooses; the rest is what the console offers first. */
export interface Choice {
  readonly approve?: boolean;
  readonly projectId?: string | undefined;
  readonly scopes?: readonly string[];
  readonly pathPrefix?: string;
  readonly expiresAt?: string;
}

export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export async function pkce(): Promise<Pkce> {
  const verifier = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return { verifier, challenge: Buffer.from(hash).toString("base64url") };
}

export function postForm(url: string, fields: Readonly<Record<string, string>>): Promise<Response> {
  return fetch(url, { method: "POST", body: new URLSearchParams(fields), redirect: "manual" });
}

/** The part of the console's address that names the request; fails where the answer does not lead to the console. */
export async function requestIn(response: Response, consoleUrl: string): Promise<string> {
  const text = await response.text();
  const location = response.headers.get("location") ?? "";
  assert(location.startsWith(`${consoleUrl}/authorize?request=`), `${response.status} ${location} ${text}`);
  return new URL(location).searchParams.get("request") ?? "";
}

/** An app that has registered at a service. */
export class App {
  constructor(readonly base: string, readonly id: string, readonly redirectUri = REDIRECT) {}

  static async register(base: string, metadata: Readonly<Record<string, unknown>> = {}): Promise<App> {
    const body = JSON.stringify({ client_name: "Test app", redirect_uris: [REDIRECT], ...metadata });
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${base}/oauth/register`, { method: "POST", headers, body });
    assertEquals(response.status, 201);
    return new App(base, registered.parse(await response.json()).client_id);
  }

  get resource(): string {
    return `${this.base}/connect`;
  }

  /** Sends the person's browser to the service. A field that is undefined is not sent. */
  authorize(challenge: string, fields: Readonly<Record<string, string | undefined>> = {}): Promise<Response> {
    const url = new URL(`${this.base}/oauth/authorize`);
    const all = {
      response_type: "code",
      client_id: this.id,
      redirect_uri: this.redirectUri,
      code_challenge: challenge,
      code_challenge_method: "S256",
      state: STATE,
      resource: this.resource,
      ...fields,
    };
    for (const [name, value] of Object.entries(all)) {
      if (value !== undefined) url.searchParams.append(name, value);
    }
    return fetch(url, { redirect: "manual" });
  }

  exchange(code: string, verifier: string, fields: Readonly<Record<string, string>> = {}): Promise<Response> {
    return postForm(`${this.base}/oauth/token`, {
      grant_type: "authorization_code",
      code,
      code_verifier: verifier,
      client_id: this.id,
      redirect_uri: this.redirectUri,
      ...fields,
    });
  }

  refresh(token: string, fields: Readonly<Record<string, string>> = {}): Promise<Response> {
    return postForm(`${this.base}/oauth/token`, {
      grant_type: "refresh_token",
      refresh_token: token,
      client_id: this.id,
      ...fields,
    });
  }

  /** The request that waits for the person's answer. */
  async ask(account: Account, { challenge }: Pkce, fields = {}): Promise<string> {
    return await requestIn(await this.authorize(challenge, fields), consoleOf(account));
  }

  /** The whole way to a code; the person consents. */
  async code(account: Account, proof: Pkce, choice: Choice = {}): Promise<string> {
    const url = await consent(account, await this.ask(account, proof), choice);
    return url.searchParams.get("code") ?? "";
  }

  /** The whole way to tokens. */
  async connect(account: Account, choice: Choice = {}): Promise<Tokens> {
    const proof = await pkce();
    return await tokensIn(await this.exchange(await this.code(account, proof, choice), proof.verifier));
  }
}

export function consoleOf({ service }: Account): string {
  return `${service.stack.supabaseUrl}/console`;
}

export async function tokensIn(response: Response): Promise<Tokens> {
  assertEquals(response.status, 200, response.status === 200 ? "" : await response.text());
  return tokens.parse(await response.json());
}

/** The error of an answer of OAuth, with its status. */
export async function errorIn(response: Response): Promise<string> {
  const { error }: { error?: unknown } = await response.json();
  return `${response.status} ${error}`;
}

/** Answers a request as the console does, and returns where the person is sent. */
export async function consent(account: Account, request: string, choice: Choice = {}): Promise<URL> {
  const response = await answerRequest(account, request, choice);
  const body: unknown = await response.json();
  assertEquals(response.status, 200, JSON.stringify(body));
  return new URL(redirected.parse(body).data.redirectTo);
}

export function answerRequest(account: Account, request: string, choice: Choice = {}): Promise<Response> {
  const answer = {
    request,
    approve: true,
    projectId: account.projectId,
    scopes: ["read", "write"],
    ...choice,
  };
  return fetch(`${account.service.baseUrl}/oauth/consent`, {
    method: "POST",
    headers: { authorization: `Bearer ${account.token}`, "content-type": "application/json" },
    body: JSON.stringify(answer),
  });
}

/** Status of a call of a tool at `/connect`, by default one that reads. */
export async function statusAt(
  base: string,
  token: string,
  name = "list_files",
  args: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const response = await callAt(base, token, name, args);
  await response.body?.cancel();
  return response.status;
}

export function callAt(
  base: string,
  token: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<Response> {
  return fetch(`${base}/connect`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
  });
}
