/** An app that asks a person to let it in: it registers, sends them to the console, and exchanges the code for a token. */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import type { Service } from "../stack/service.ts";
import { messageOf } from "./mcp.ts";

const registered = z.object({ client_id: z.string() });
const tokens = z.object({ access_token: z.string(), refresh_token: z.string(), scope: z.string() });

export class AskingApp {
  /** RFC 7636: two random values of 122 bits. */
  private readonly verifier = crypto.randomUUID() + crypto.randomUUID();
  readonly state = crypto.randomUUID();

  private constructor(
    private readonly service: Service,
    private readonly clientId: string,
    readonly redirectUri: string,
  ) {}

  static async register(service: Service, name: string, redirectUri: string): Promise<AskingApp> {
    const response = await fetch(`${service.baseUrl}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: name, redirect_uris: [redirectUri] }),
    });
    assertEquals(response.status, 201);
    return new AskingApp(service, registered.parse(await response.json()).client_id, redirectUri);
  }

  /** Returns the address of the console to which the service sends the person. */
  async ask(scope?: string): Promise<string> {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(this.verifier));
    const parameters = new URLSearchParams({
      response_type: "code",
      client_id: this.clientId,
      redirect_uri: this.redirectUri,
      code_challenge: new Uint8Array(digest).toBase64({ alphabet: "base64url", omitPadding: true }),
      code_challenge_method: "S256",
      state: this.state,
      ...scope !== undefined && { scope },
    });
    const address = `${this.service.baseUrl}/oauth/authorize?${parameters}`;
    const response = await fetch(address, { redirect: "manual" });
    await response.body?.cancel();
    const location = response.headers.get("location");
    assert(location !== null, `${response.status}`);
    return location;
  }

  /** Exchanges the code of the address at which the app was called back. */
  async exchange(answer: string) {
    const { searchParams } = new URL(answer);
    assertEquals([searchParams.get("state"), searchParams.get("iss")], [this.state, this.service.baseUrl]);
    const response = await fetch(`${this.service.baseUrl}/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        code: searchParams.get("code") ?? "",
        client_id: this.clientId,
        redirect_uri: this.redirectUri,
        code_verifier: this.verifier,
      }),
    });
    return tokens.parse(await response.json());
  }

  /** Is let in by the person whose access token this is, without the console, and returns its own access token. */
  async letIn(personToken: string, grant: Readonly<Record<string, unknown>>): Promise<string> {
    const request = new URL(await this.ask()).searchParams.get("request");
    const response = await fetch(`${this.service.baseUrl}/oauth/consent`, {
      method: "POST",
      headers: { "authorization": `Bearer ${personToken}`, "content-type": "application/json" },
      body: JSON.stringify({ request, approve: true, scopes: ["read", "write"], ...grant }),
    });
    const { data } = await response.json();
    return (await this.exchange(data.redirectTo)).access_token;
  }

  /** Calls a tool and returns the status. */
  async call(accessToken: string, name: string, args: Record<string, unknown> = {}): Promise<number> {
    const { body, headers } = messageOf("modern", "tools/call", { name, arguments: args });
    const response = await fetch(`${this.service.baseUrl}/connect`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${accessToken}` },
      body: JSON.stringify(body),
    });
    await response.body?.cancel();
    return response.status;
  }
}
