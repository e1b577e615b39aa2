/** The keys of a project. */
import { z } from "zod";
import { appClient } from "./apps.ts";
import { scope, time, type Wire } from "./values.ts";

export const environment = z.enum(["development", "production"]);
export const scopes = z.array(scope).min(1, "must name at least one scope");

export const key = z.object({
  id: z.uuid(),
  prefix: z.string(),
  name: z.string(),
  environment,
  scopes,
  pathPrefix: z.string().nullable(),
  createdAt: time,
  expiresAt: time.nullable(),
  revokedAt: time.nullable(),
  lastUsedAt: time.nullable(),
  kind: z.enum(["key", "app"]).meta({
    description: "`app`: an app that a person has let in, which has no key.",
  }),
  client: appClient.optional().meta({ description: "Of an app." }),
}).meta({ id: "ApiKey" });
export type Key = Wire<typeof key>;

export const keyList = z.object({ keys: z.array(key) }).meta({ id: "ApiKeyList" });
export type KeyList = Wire<typeof keyList>;

const shown = z.string().meta({ description: "The key itself. It is not shown again." });
export const newKey = key.extend({ key: shown }).meta({ id: "NewApiKey" });
export type NewKey = Wire<typeof newKey>;
export const rotatedKey = key.extend({ key: shown, replaced: key.nullable() }).meta({ id: "RotatedApiKey" });
