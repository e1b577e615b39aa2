/** Keys of the local Supabase: created once, stored in the data folder, readable by their owner only. */
import { readJsonFile, writeJsonFile } from "./json_file.ts";
import { StartupError } from "../startup_error.ts";

const URL_SAFE = { alphabet: "base64url", omitPadding: true } as const;

export interface Secrets {
  /** `sb_publishable_…`: for clients, with the role `anon`. */
  readonly publishableKey: string;
  /** `sb_secret_…`: for servers, bypasses row-level security. */
  readonly secretKey: string;
  /** Signs the session tokens of Auth. */
  readonly jwtSecret: string;
  /** Legacy keys, which the platform still injects: JWTs signed with `jwtSecret`. */
  readonly anonKey: string;
  readonly serviceRoleKey: string;
}

/** Reads the keys, or creates them if there is no file. Throws `StartupError`. */
export async function loadSecrets(file: string): Promise<Secrets> {
  const stored = await readJsonFile(file);
  if (isSecrets(stored)) return stored;
  if (stored !== null) {
    throw new StartupError(`The file ${file} is damaged; restore it, or remove it to create new keys.`);
  }
  const jwtSecret = randomText(48);
  const secrets: Secrets = {
    publishableKey: `sb_publishable_${randomText(24)}`,
    secretKey: `sb_secret_${randomText(24)}`,
    jwtSecret,
    anonKey: await legacyKey("anon", jwtSecret),
    serviceRoleKey: await legacyKey("service_role", jwtSecret),
  };
  await writeJsonFile(file, secrets);
  return secrets;
}

function isSecrets(value: unknown): value is Secrets {
  const names: readonly (keyof Secrets)[] = [
    "publishableKey",
    "secretKey",
    "jwtSecret",
    "anonKey",
    "serviceRoleKey",
  ];
  if (typeof value !== "object" || value === null) return false;
  const entries = new Map<string, unknown>(Object.entries(value));
  return names.every((name) => typeof entries.get(name) === "string" && entries.get(name) !== "");
}

function randomText(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toBase64(URL_SAFE);
}

/** Returns a JWT like those of `supabase start` (RFC 7519, HS256), valid for ten years. */
async function legacyKey(role: "anon" | "service_role", jwtSecret: string): Promise<string> {
  const text = new TextEncoder();
  const part = (value: unknown): string => text.encode(JSON.stringify(value)).toBase64(URL_SAFE);
  const expires = Math.floor(Date.now() / 1000) + 10 * 365 * 86_400;
  const unsigned = `${part({ alg: "HS256", typ: "JWT" })}.${
    part({ iss: "supabase-local", role, exp: expires })
  }`;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", text.encode(jwtSecret), algorithm, false, ["sign"]);
  const signature = await crypto.subtle.sign(algorithm, key, text.encode(unsigned));
  return `${unsigned}.${new Uint8Array(signature).toBase64(URL_SAFE)}`;
}
