/** Apps that sign in: what they discover, registration, the request for consent, tokens (RFC 6749, 7009, 7591, 8414). */
import { z } from "zod";
import { generateAppToken, hashAppToken, hashClientId, isAppToken } from "../auth/app_token.ts";
import type { Context } from "../context.ts";
import type { AnswerName, ResponseHeader } from "../openapi_properties.ts";
import { ApiError } from "../errors.ts";
import { drainBody } from "../http/body.ts";
import { json } from "../http/respond.ts";
import { serverUrl } from "../http/server_url.ts";
import {
  addresseeOf,
  answerAddress,
  pendingRequest,
  signRequest,
  stateToReturn,
} from "../oauth/authorization.ts";
import { registration } from "../oauth/client.ts";
import { OAuthError, refuse } from "../oauth/errors.ts";
import { OAUTH_SCOPES, resourceMetadata, serverMetadata } from "../oauth/metadata.ts";
import { Parameters, readForm, readText } from "../oauth/parameters.ts";
import { challengeOf } from "../oauth/pkce.ts";
import { parseQuery, type Query } from "../http/query.ts";
import { splitUrl } from "../http/request_data.ts";
import { defineRoute, type Definition } from "../route.ts";

/** Documents name the host of their request, so a shared cache must not serve them to others. */
const CACHE_CONTROL = "private, max-age=300";

export function addressesOf({ request, oauth }: Pick<Context, "request" | "oauth">) {
  const base = serverUrl(request);
  return { base, issuer: oauth?.issuer ?? base, resource: `${base}/connect` };
}

const scope = z.string().meta({
  description: `Of ${Object.keys(OAUTH_SCOPES).join(" and ")}; by default both.`,
});

interface Described {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly form?: z.ZodType;
  readonly answer: AnswerName;
  readonly successStatus?: 201 | 302;
  readonly responseHeaders?: readonly ResponseHeader[];
}

/** A route whose errors are those of OAuth, not in the envelope. */
function oauthRoute(openapi: Described, handle: (context: Context) => Promise<Response>): Definition {
  return defineRoute({
    operation: null,
    credentials: "none",
    ofOAuth: {},
    async handle(context) {
      try {
        return await handle(context);
      } catch (error) {
        await drainBody(context.request);
        return refusal(error);
      }
    },
    openapi: { ...openapi, speaksOAuth: true },
  });
}

/** The answer to an error. Throws what is a defect. */
function refusal(error: unknown): Response {
  if (error instanceof OAuthError) {
    const response = json(error, error.status);
    if (error.status === 401) response.headers.set("WWW-Authenticate", "Bearer");
    return response;
  }
  if (!(error instanceof ApiError) || error.status === 500) throw error;
  const isLater = error.status === 429 || error.status === 503;
  const { message, headers = {} } = error;
  const response = json(
    { error: isLater ? "temporarily_unavailable" : "invalid_request", error_description: message },
    isLater ? error.status : 400,
  );
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}

function document(openapi: Described, read: (context: Context) => Promise<unknown>): Definition {
  return oauthRoute(openapi, async (context) => {
    const response = json(await read(context));
    response.headers.set("Cache-Control", CACHE_CONTROL);
    return response;
  });
}

async function server(context: Context) {
  const { documents } = await context.oauthServer();
  return serverMetadata(addressesOf(context), documents.isAvailable);
}

export const getResource = document({
  id: "getProtectedResource",
  summary: "Tell an app where to get tokens for /connect",
  answer: "resourceMetadata",
}, (context) => {
  const addresses = addressesOf(context);
  return Promise.resolve(resourceMetadata(addresses, addresses.resource));
});

export const getOpenidConfiguration = document({
  id: "getOpenidConfiguration",
  summary: "Describe the authorization server to an app",
  answer: "serverMetadata",
}, server);

export const getServer = document({
  id: "getAuthorizationServer",
  summary: "Describe the authorization server to an app that looks here",
  answer: "serverMetadata",
}, server);

export const getKeySet = document({
  id: "getJsonWebKeySet",
  summary: "List the keys that sign identity tokens: none",
  description: "There are no identity tokens. Some clients refuse a server that names no list of keys.",
  answer: "keySet",
}, () => Promise.resolve({ keys: [] }));

export const register = oauthRoute({
  id: "registerClient",
  summary: "Register an app (RFC 7591)",
  description: "The client id contains both, signed; nothing is stored. Other metadata is ignored.",
  body: z.looseObject({ redirect_uris: z.array(z.string()).min(1), client_name: z.string().optional() }),
  answer: "registeredClient",
  successStatus: 201,
}, async (context) => {
  const { gate, now } = context;
  const server = await context.oauthServer();
  server.count("register", gate, now());
  const text = await readText(context);
  return json(await registration(server.records, parsed(text), now()), 201);
});

/** Text that is not JSON is no object either. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Not cached, and the address with the answer is not told to the page that it leads to. */
function redirect(address: string): Response {
  return new Response(null, {
    status: 302,
    headers: { "Location": address, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" },
  });
}

export const authorize = oauthRoute({
  id: "authorizeApp",
  summary: "Send a person to the console, to answer an app's request for access",
  description:
    "Parameters as in RFC 6749, 7636 (`S256` alone) and 8707. The console's page shows who asks for what. An unknown " +
    "client or redirect URI is 400, and never a redirect; other errors are sent to the redirect URI, with `iss`.",
  query: z.object({
    response_type: z.literal("code"),
    client_id: z.string(),
    redirect_uri: z.string(),
    code_challenge: z.string(),
    code_challenge_method: z.literal("S256"),
    state: z.string().optional(),
    scope: scope.optional(),
    resource: z.string().optional(),
  }),
  answer: "noAnswer",
  successStatus: 302,
  responseHeaders: ["Location", "Referrer-Policy"],
}, async (context) => {
  const { request, gate, now, oauth } = context;
  const server = await context.oauthServer();
  server.count("authorize", gate, now());
  const query: Query = parseQuery(splitUrl(request.url).rawQuery);
  const parameters = new Parameters(query);
  const addressee = await addresseeOf(parameters, (id) => server.findClient(id)).catch(inBrowser);
  const addresses = addressesOf(context);
  try {
    const pending = pendingRequest(addressee, parameters, addresses, now());
    const signed = await signRequest(server.records, pending);
    return redirect(`${oauth?.consoleUrl}/authorize?request=${signed}`);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const state = stateToReturn(parameters);
    return redirect(
      answerAddress(addressee.redirectUri, { ...error.toJSON(), state, iss: addresses.issuer }),
    );
  }
});

/** A browser would ask for a password at 401. */
function inBrowser(error: unknown): never {
  if (error instanceof OAuthError) refuse(error.error, error.error_description);
  throw error;
}

/** The client's id, with which each of its secrets is used. A registered one must be ours; a document is not fetched. */
async function clientHashOf(context: Context, parameters: Parameters): Promise<string> {
  const id = parameters.required("client_id");
  const server = await context.oauthServer();
  if (URL.parse(id) === null) await server.findClient(id);
  return await hashClientId(id);
}

export const token = oauthRoute({
  id: "issueTokens",
  summary: "Exchange a code or a refresh token for new tokens",
  description:
    "A form, as in RFC 6749: `grant_type` `authorization_code` with `code`, `redirect_uri`, `client_id` and " +
    "`code_verifier`, or `refresh_token` with `refresh_token` and `client_id`. Each refresh token is used once.",
  form: z.looseObject({
    grant_type: z.enum(["authorization_code", "refresh_token"]),
    client_id: z.string(),
    code: z.string().optional(),
    redirect_uri: z.string().optional(),
    code_verifier: z.string().optional(),
    refresh_token: z.string().optional(),
    scope: scope.optional(),
    resource: z.string().optional(),
  }),
  answer: "appTokens",
}, async (context) => {
  const { gate, metadata, now } = context;
  (await context.oauthServer()).count("token", gate, now());
  const parameters = await readForm(context);
  const type = parameters.required("grant_type");
  if (type !== "authorization_code" && type !== "refresh_token") {
    refuse("unsupported_grant_type", "The grant_type is authorization_code or refresh_token.");
  }
  const clientHash = await clientHashOf(context, parameters);
  parameters.ensureResource(addressesOf(context).resource);
  const [access, refresh] = [generateAppToken("access"), generateAppToken("refresh")];
  const hashes = { accessHash: await hashAppToken(access), refreshHash: await hashAppToken(refresh) };
  const scopes = parameters.scopes();
  const secret = parameters.required(type === "refresh_token" ? "refresh_token" : "code");
  const found = type === "refresh_token"
    ? await metadata.refreshApp({ tokenHash: await hashAppToken(secret), clientHash, scopes, ...hashes })
    : await metadata.exchangeCode({
      codeHash: await hashAppToken(secret),
      clientHash,
      redirectUri: parameters.required("redirect_uri"),
      challenge: await challengeOf(parameters.required("code_verifier")),
      ...hashes,
    });
  if ("error" in found) refuse(found.error, "It is unknown, used, expired or another client's.");
  const granted = Object.entries(OAUTH_SCOPES).filter(([, scope]) => found.scopes.includes(scope));
  return json({
    access_token: access,
    token_type: "Bearer",
    expires_in: found.expiresIn,
    refresh_token: refresh,
    scope: granted.map(([name]) => name).join(" "),
  });
});

export const revoke = oauthRoute({
  id: "revokeToken",
  summary: "End an app's access, with one of its tokens (RFC 7009)",
  description: "`token` is an access or a refresh token. An unknown token is 200, too.",
  form: z.looseObject({ token: z.string(), client_id: z.string() }),
  answer: "noAnswer",
}, async (context) => {
  const { gate, metadata, now } = context;
  (await context.oauthServer()).count("token", gate, now());
  const parameters = await readForm(context);
  const secret = parameters.required("token");
  const clientHash = await clientHashOf(context, parameters);
  if (isAppToken(secret, "access") || isAppToken(secret, "refresh")) {
    await metadata.revokeApp(await hashAppToken(secret), clientHash);
  }
  return json({});
});
