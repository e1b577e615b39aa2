/** An app that signs in, as it sends its requests, and the person who lets it in. */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import type { Api, RequestOptions } from "./api.ts";
import type { Account } from "./accounts.ts";
import { Agent, type Era } from "./mcp.ts";
import { type Answer, dataOf } from "./contract.ts";
import { appRedirect, appRequest } from "../../../supabase/functions/api/contract/apps.ts";
import type { Service } from "../stack/service.ts";

export const REDIRECT_URI = "https://app.example.com/callback";

const registered = z.looseObject({ client_id: z.string() });
const tokens = z.strictObject({
  access_token: z.string(),
  token_type: z.literal("Bearer"),
  expires_in: z.int(),
  refresh_token: z.string(),
  scope: z.string(),
});
export type Tokens = z.infer<typeof tokens>;

/** The body of a refusal (RFC 6749, section 5.2). */
export const oauthFault = z.strictObject({ error: z.string(), error_description: z.string() });

export function form(fields: Readonly<Record<string, string>>): RequestOptions {
  return {
    body: new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  };
}

/** Status and error of a refusal. */
export function faultOf({ status, body }: Answer): [number, string] {
  return [status, oauthFault.parse(body).error];
}

export async function challengeOf(verifier: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return new Uint8Array(hash).toBase64({ alphabet: "base64url", omitPadding: true });
}

export class App {
  readonly verifier = crypto.randomUUID() + crypto.randomUUID();

  private constructor(readonly service: Service, readonly clientId: string) {}

  static async register(service: Service, metadata: Record<string, unknown> = {}): Promise<App> {
    const body = { client_name: "Test app", redirect_uris: [REDIRECT_URI], ...metadata };
    const answer = await service.request(null, "POST", "/oauth/register", { body });
    assertEquals(answer.status, 201, answer.text);
    return new App(service, registered.parse(answer.body).client_id);
  }

  /** GET /oauth/authorize; a parameter that is undefined is left out. */
  async authorize(others: Readonly<Record<string, string | undefined>> = {}): Promise<Answer> {
    const parameters = {
      response_type: "code",
      client_id: this.clientId,
      redirect_uri: REDIRECT_URI,
      state: "as it was",
      code_challenge: await challengeOf(this.verifier),
      code_challenge_method: "S256",
      ...others,
    };
    const given = Object.entries(parameters).filter((entry): entry is [string, string] =>
      entry[1] !== undefined
    );
    return await this.service.request(null, "GET", `/oauth/authorize?${new URLSearchParams(given)}`);
  }

  /** The signed request with which the person comes to the console. */
  async request(others: Readonly<Record<string, string | undefined>> = {}): Promise<string> {
    const answer = await this.authorize(others);
    assertEquals(answer.status, 302, answer.text);
    return new URL(answer.headers.get("location") ?? "").searchParams.get("request") ?? "";
  }

  /** The code that a person's consent gives the app. */
  async code(person: Account, consent: Record<string, unknown> = {}): Promise<string> {
    const answer = await answerRequest(person, await this.request(), consent);
    return redirectOf(answer).searchParams.get("code") ?? "";
  }

  exchange(code: string, others: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.token({
      grant_type: "authorization_code",
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: this.verifier,
      ...others,
    });
  }

  refresh(refreshToken: string, others: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.token({ grant_type: "refresh_token", refresh_token: refreshToken, ...others });
  }

  token(fields: Readonly<Record<string, string>>): Promise<Answer> {
    return this.service.request(null, "POST", "/oauth/token", form({ client_id: this.clientId, ...fields }));
  }

  revoke(token: string, others: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const fields = { token, client_id: this.clientId, ...others };
    return this.service.request(null, "POST", "/oauth/revoke", form(fields));
  }

  /** Signs in: the person consents, and the app gets its tokens. */
  async connect(person: Account, consent: Record<string, unknown> = {}): Promise<Tokens> {
    return tokensOf(await this.exchange(await this.code(person, consent)));
  }
}

export function tokensOf(answer: Answer): Tokens {
  assertEquals(answer.status, 200, answer.text);
  return tokens.parse(answer.body);
}

/** POST /oauth/consent; by default approves for the person's project, with both scopes. */
export function answerRequest(
  person: Account,
  request: string,
  consent: Record<string, unknown> = {},
): Promise<Answer> {
  const body = { request, approve: true, projectId: person.projectId, scopes: ["read", "write"], ...consent };
  return person.request("POST", "/oauth/consent", { body });
}

export function redirectOf(answer: Answer): URL {
  return new URL(dataOf(answer, "answer_app_request", appRedirect).redirectTo);
}

export async function readRequest(person: Account, request: string) {
  return dataOf(await person.request("GET", `/oauth/requests/${request}`), "get_app_request", appRequest);
}

/** MCP at /connect, with an app's token. */
export function connected(service: Service, accessToken: string, era?: Era): Agent {
  const authorization = `Bearer ${accessToken}`;
  const api: Api = {
    request: (_key, method, _path, options) =>
      service.request(null, method, "/connect", {
        ...options,
        headers: { ...options?.headers, authorization },
      }),
  };
  return new Agent(api, null, era);
}
