/** What a signed-in person answers to the request of an app: GET /oauth/requests/{request}, POST /oauth/consent. */
import { z } from "zod";
import { generateAppToken, hashAppToken, hashClientId } from "../auth/app_token.ts";
import { appRedirect, appRequest } from "../contract/apps.ts";
import { scopes } from "../contract/keys.ts";
import type { Context } from "../context.ts";
import { ERRORS, fail, failField } from "../errors.ts";
import { OAUTH_RECORD_LENGTH_MAX } from "../limits.ts";
import { answerAddress, type PendingRequest, readRequest } from "../oauth/authorization.ts";
import { defineRoute } from "../route.ts";
import { readAdministrationFields } from "./administration.ts";
import { expiry, pathPrefix } from "./api_keys.ts";

async function openRequest(context: Context, text: string): Promise<PendingRequest> {
  const { records } = await context.oauthServer();
  return await readRequest(records, text, context.now()) ??
    fail("REQUEST_NOT_FOUND", ERRORS.REQUEST_NOT_FOUND.message);
}

export const getRequest = defineRoute({
  operation: "get_app_request",
  credentials: "account",
  ofOAuth: {},
  parse: ({ params: { id } }) => id,
  async handle(context, text) {
    const { gate, accounts } = context;
    const { id, client, scopes, resource, expiresAt } = await openRequest(context, text);
    gate.unwrapAccount(await accounts.appRequest(gate.accessToken, id));
    const data = appRequest.parse({
      client,
      scopes,
      resource,
      expiresAt: new Date(expiresAt).toISOString(),
    });
    return { data, message: "The request waits for an answer." };
  },
  openapi: {
    summary: "Show a signed-in person who asks for what",
    answer: "appRequest",
    errors: ["REQUEST_NOT_FOUND"],
  },
});

const consent = z.object({
  request: z.string().max(OAUTH_RECORD_LENGTH_MAX),
  approve: z.boolean(),
  projectId: z.uuid().nullish().meta({ description: "Required to approve." }),
  scopes: scopes.nullish().meta({ description: "Required to approve: among those that the app asks for." }),
  pathPrefix: pathPrefix.nullish(),
  expiresAt: expiry.nullish().meta({
    description: "When the app's access ends; by default when it is revoked.",
  }),
});
type Consent = z.infer<typeof consent>;

/** What the person allows. Throws VALIDATION_ERROR for more than was asked. */
async function newApp({ client, redirectUri, challenge, scopes: asked }: PendingRequest, given: Consent) {
  const projectId = given.projectId ?? failField("projectId", "is required");
  const allowed = asked.filter((scope) => given.scopes?.includes(scope));
  if (allowed.length === 0 || !given.scopes?.every((scope) => asked.some((one) => one === scope))) {
    failField("scopes", `must be among ${asked.join(" and ")}`);
  }
  const app = {
    name: client.name || client.host || "App on a device",
    scopes: allowed,
    pathPrefix: given.pathPrefix ?? null,
    expiresAt: given.expiresAt ?? null,
    clientHash: await hashClientId(client.id),
    clientName: client.name,
    clientHost: client.host,
    redirectUri,
    challenge,
  };
  return { projectId, app };
}

export const answerRequest = defineRoute({
  operation: "answer_app_request",
  credentials: "account",
  ofOAuth: {},
  async handle(context) {
    const { gate, accounts } = context;
    const given = await readAdministrationFields(context, consent);
    const pending = await openRequest(context, given.request);
    const { id: requestId, redirectUri, state, issuer } = pending;
    const code = generateAppToken("code");
    const answer = given.approve ? await newApp(pending, given) : { projectId: null, app: null };
    const codeHash = await hashAppToken(code);
    gate.unwrapAccount(await accounts.answerApp(gate.accessToken, { requestId, codeHash, ...answer }));
    const result = given.approve ? { code } : { error: "access_denied" };
    const data = appRedirect.parse({
      redirectTo: answerAddress(redirectUri, { ...result, state, iss: issuer }),
    });
    return { data, message: given.approve ? "The app may continue." : "The app is refused." };
  },
  openapi: {
    summary: "Let an app into a project, or refuse it, as the signed-in person",
    description:
      "Each request is answered once. Allows at most what the app asks for, and never the scope `admin`.",
    body: consent,
    example: {
      request: "…",
      approve: true,
      projectId: "3f0e1c9a-0000-4000-8000-000000000000",
      scopes: ["read"],
    },
    answer: "appRedirect",
    errors: ["REQUEST_NOT_FOUND", "FORBIDDEN_SCOPE", "KEY_LIMIT_REACHED"],
  },
});
