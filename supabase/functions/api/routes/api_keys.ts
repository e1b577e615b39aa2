/** /project/apikeys: the keys of a project. A new key is shown once; only its hash is stored. */
import { z } from "zod";
import { environment, key, keyList, newKey, rotatedKey, scopes } from "../contract/keys.ts";
import type { Context } from "../context.ts";
import { apiKeyPrefix, generateApiKey, hashApiKey } from "../auth/api_key.ts";
import { isBodyAbsent } from "../http/body.ts";
import { checkPath } from "../http/path.ts";
import { ApiError, ERRORS, fail, failField } from "../errors.ts";
import { KEY_GRACE_PERIOD_SECONDS_MAX } from "../limits.ts";
import type { AdministrativeAction } from "../ports/accounts.ts";
import type { RequestData } from "../http/request_data.ts";
import { administer, nameSchema, readAdministrationFields } from "./administration.ts";
import { defineRoute } from "../route.ts";
import { counted } from "../runtime/counted.ts";

/** A directory, with or without slashes at its ends. */
export const pathPrefix = z.string().transform((text, context) => {
  const directory = text.replace(/^\/+|\/+$/g, "");
  try {
    checkPath(directory);
    if (directory === ".branches") failField("pathPrefix", "must name a branch");
    return directory;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    context.addIssue({ code: "custom", message: error.message });
    return z.NEVER;
  }
}).meta({ type: "string", description: "A directory: the key can read and write only below it." });

export const expiry = z.iso.datetime({ offset: true })
  .refine((time) => Date.parse(time) > Date.now(), "must lie in the future");

const creation = z.object({
  name: nameSchema(0).nullish().transform((name) => name ?? ""),
  environment: environment.nullish().transform((name) => name ?? "development"),
  scopes: scopes.nullish().transform((names) => names ?? ["read", "write"]),
  pathPrefix: pathPrefix.nullish().transform((prefix) => prefix ?? null),
  expiresAt: expiry.nullish().transform((time) => time ?? null),
}).refine((fields) => fields.pathPrefix === null || !fields.scopes.includes("admin"), {
  path: ["pathPrefix"],
  message: "must not be combined with the scope admin",
});
const change = z.object({
  name: nameSchema(0).nullish(),
  expiresAt: expiry.nullish(),
  scopes: scopes.nullish().meta({ description: "Some of the scopes that the key has." }),
  pathPrefix: pathPrefix.nullish(),
});
const gracePeriod = z.object({
  gracePeriodSeconds: z.int().min(0).max(KEY_GRACE_PERIOD_SECONDS_MAX).nullish()
    .meta({ description: "How long the old key stays valid; by default it is revoked immediately." }),
});

/** Generates a key and has its hash stored by `action`. */
async function storeNewKey(
  context: Context,
  action: AdministrativeAction,
  parameters: Record<string, unknown>,
) {
  const generated = generateApiKey();
  const hash = { keyHash: await hashApiKey(generated), prefix: apiKeyPrefix(generated) };
  const stored = await administer(context, action, { ...parameters, ...hash });
  return { key: generated, ...Object(stored) };
}

async function readGracePeriod(context: Context): Promise<z.infer<typeof gracePeriod>> {
  return isBodyAbsent(context.request.headers) ? {} : await readAdministrationFields(context, gracePeriod);
}

/** The id of a key in the URL. A malformed id belongs to no key. */
function parseKeyId({ params: { id } }: RequestData): string {
  if (!z.uuid().safeParse(id).success) fail("KEY_NOT_FOUND", ERRORS.KEY_NOT_FOUND.message);
  return id;
}

const OF_KEYS = {
  credentials: "account or key",
  allows: { admin: "list, change, rotate and revoke keys" },
} as const;

export const listKeys = defineRoute({
  operation: "list_api_keys",
  ...OF_KEYS,
  async handle(context) {
    const { keys } = keyList.parse({ keys: await administer(context, "keys", {}) });
    return { data: { keys }, message: `${counted(keys.length, "key")}.` };
  },
  openapi: {
    summary: "List the project's keys, newest first; a request with an API key needs the scope `admin`",
    answer: "keyList",
  },
});

export const createKey = defineRoute({
  operation: "create_api_key",
  ...OF_KEYS,
  allows: { admin: "create keys with any scope" },
  async handle(context) {
    const fields = await readAdministrationFields(context, creation);
    const data = newKey.parse(await storeNewKey(context, "create_key", fields));
    return { data, message: "Created. The key will not be shown again." };
  },
  openapi: {
    summary: "Create a key; a request with an API key needs the scope `admin`",
    body: creation,
    example: { name: "researcher", scopes: ["read", "write"], pathPrefix: "notes" },
    answer: "newKey",
    errors: ["KEY_LIMIT_REACHED"],
  },
});

export const rotateKey = defineRoute({
  operation: "rotate_api_key",
  ...OF_KEYS,
  parse: parseKeyId,
  async handle(context, id) {
    const fields = await readGracePeriod(context);
    const data = rotatedKey.parse(await storeNewKey(context, "rotate_key", { ...fields, id }));
    return { data, message: "Rotated. The new key will not be shown again." };
  },
  openapi: {
    summary: "Replace a key with a new one that has the same rights",
    body: gracePeriod,
    isBodyOptional: true,
    answer: "rotatedKey",
    errors: ["KEY_LIMIT_REACHED", "KEY_NOT_FOUND", "KEY_REVOKED"],
  },
});

export const regenerateKey = defineRoute({
  operation: "regenerate_api_key",
  ...OF_KEYS,
  async handle(context) {
    const fields = await readGracePeriod(context);
    const stored = await storeNewKey(context, "regenerate_key", fields);
    const data = rotatedKey.parse({ replaced: null, ...stored });
    return { data, message: "Regenerated. The new key will not be shown again." };
  },
  openapi: {
    summary: "Replace the newest active key with a new one",
    body: gracePeriod,
    isBodyOptional: true,
    answer: "rotatedKey",
    errors: ["KEY_LIMIT_REACHED"],
  },
});

export const changeKey = defineRoute({
  operation: "update_api_key",
  ...OF_KEYS,
  parse: parseKeyId,
  async handle(context, id) {
    const fields = await readAdministrationFields(context, change);
    const data = key.parse(await administer(context, "change_key", { ...fields, id }));
    return { data, message: "Changed, with immediate effect." };
  },
  openapi: {
    summary: "Change a key's name or expiry, or narrow its rights",
    description:
      "The request can remove scopes and move the path prefix to a directory below it. It cannot add rights.",
    body: change,
    example: { name: "researcher", scopes: ["read"], pathPrefix: "notes/drafts" },
    answer: "key",
    errors: ["KEY_NOT_FOUND", "KEY_REVOKED"],
  },
});

export const revokeKey = defineRoute({
  operation: "revoke_api_key",
  ...OF_KEYS,
  parse: parseKeyId,
  async handle(context, id) {
    const data = key.parse(await administer(context, "revoke_key", { id }));
    return { data, message: "Revoked. It no longer works." };
  },
  openapi: {
    summary: "Revoke a key immediately",
    answer: "key",
    errors: ["KEY_NOT_FOUND"],
  },
});
