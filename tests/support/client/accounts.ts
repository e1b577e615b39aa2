/** Signed-in people: accounts of the local Auth, their access tokens, and their requests to the service. */
import { z } from "zod";
import { accountRecord, type Answer, dataOf, newKeyRecord, projectList, projectRecord } from "./contract.ts";
import type { RequestOptions } from "./api.ts";
import type { Stack } from "../../../supabase/local/stack/stack.ts";
import type { Service } from "../stack/service.ts";

const session = z.looseObject({
  access_token: z.string(),
  refresh_token: z.string(),
  expires_in: z.number(),
});

/** A person at the local Auth, with a session as Auth describes it. */
export interface Login {
  readonly email: string;
  readonly password: string;
  readonly session: z.infer<typeof session>;
}

/** One account, with the project that its requests are about; null: no project in particular. */
export class Account {
  constructor(readonly service: Service, readonly token: string, readonly projectId: string | null = null) {}

  /** The headers that carry its credentials. */
  get headers(): Record<string, string> {
    return {
      authorization: `Bearer ${this.token}`,
      ...this.projectId !== null && { "x-project-id": this.projectId },
    };
  }

  request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const headers = { ...this.headers, ...options.headers };
    return this.service.request(null, method, path, { ...options, headers });
  }

  /** Calls a function of the database directly, as every person who is signed in may. */
  callDatabase(name: string, parameters: object): Promise<Response> {
    const { supabaseUrl, publishableKey } = this.service.stack;
    return fetch(`${supabaseUrl}/rest/v1/rpc/${name}`, {
      method: "POST",
      headers: {
        apikey: publishableKey,
        authorization: `Bearer ${this.token}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(parameters),
    });
  }

  /** The same account, with another project. */
  about(projectId: string | null): Account {
    return new Account(this.service, this.token, projectId);
  }

  async describe() {
    return dataOf(await this.request("GET", "/account"), "get_account", accountRecord);
  }

  async projects() {
    return dataOf(await this.request("GET", "/projects"), "list_projects", projectList).projects;
  }

  async createProject(name: string) {
    const answer = await this.request("POST", "/projects", { body: { name } });
    return dataOf(answer, "create_project", projectRecord);
  }

  async createKey(fields: Record<string, unknown> = {}) {
    const answer = await this.request("POST", "/project/apikeys", { body: fields });
    return dataOf(answer, "create_api_key", newKeyRecord);
  }
}

/** Passwords of the accounts signed up here, with which they sign in again. */
const passwords = new Map<string, string>();

/** Registers with Auth as a visitor does. */
export async function register(
  stack: Pick<Stack, "supabaseUrl" | "publishableKey">,
  email = `${crypto.randomUUID()}@example.org`,
): Promise<Login> {
  const password = crypto.randomUUID();
  passwords.set(email, password);
  return { email, password, session: await askForSession(stack, "signup", { email, password }) };
}

/** Signs up a new account. */
export async function signUp(service: Service): Promise<Account> {
  return new Account(service, (await register(service.stack)).session.access_token);
}

/** Opens another session of an existing account, as another browser would. */
export async function signIn({ service, token }: Account): Promise<Account> {
  const email = String(claimsOf(token)["email"]);
  return await signInWith(service, { email, password: passwords.get(email) ?? "" });
}

/** Opens a session with a password. */
export async function signInWith(
  service: Service,
  credentials: Pick<Login, "email" | "password">,
): Promise<Account> {
  const { access_token } = await askForSession(service.stack, "token?grant_type=password", credentials);
  return new Account(service, access_token);
}

export async function askForSession(
  { supabaseUrl, publishableKey }: Pick<Stack, "supabaseUrl" | "publishableKey">,
  path: string,
  { email, password }: Pick<Login, "email" | "password">,
): Promise<z.infer<typeof session>> {
  const response = await fetch(`${supabaseUrl}/auth/v1/${path}`, {
    method: "POST",
    headers: { "apikey": publishableKey, "content-type": "application/json" },
    body: JSON.stringify({ email, password }),
  });
  return session.parse(await response.json());
}

/** Signs up an account and creates its first project, which has no limits. */
export async function owner(service: Service): Promise<Account & { readonly projectId: string }> {
  const account = await signUp(service);
  const project = await account.createProject("My project");
  await service.setTier(project.id, "enterprise");
  return Object.assign(account.about(project.id), { projectId: project.id });
}

/** A token with these claims (RFC 7519), signed with Auth's secret, with another one, or unsigned. */
export async function forgeToken(
  service: Service,
  claims: Record<string, unknown>,
  { secret, alg = "HS256" }: { readonly secret?: string; readonly alg?: "HS256" | "none" } = {},
): Promise<string> {
  const text = new TextEncoder();
  const part = (value: unknown) => encode(text.encode(JSON.stringify(value)));
  const unsigned = `${part({ alg, typ: "JWT" })}.${part(claims)}`;
  if (alg === "none") return `${unsigned}.`;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const bytes = text.encode(secret ?? service.secrets.jwtSecret);
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
  return `${unsigned}.${
    encode(new Uint8Array(await crypto.subtle.sign(algorithm, key, text.encode(unsigned))))
  }`;
}

/** The claims of a token. */
export function claimsOf(token: string): Record<string, unknown> {
  const [, payload = ""] = token.split(".");
  const bytes = Uint8Array.fromBase64(payload, { alphabet: "base64url" });
  return z.record(z.string(), z.unknown()).parse(JSON.parse(new TextDecoder().decode(bytes)));
}

function encode(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
