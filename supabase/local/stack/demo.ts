/** The demo project and its key, so that the first curl works: created once per database, stored in the data folder. */
import { isWellFormedApiKey } from "../../functions/api/auth/api_key.ts";
import { type Administration, AdministrationError } from "../admin/administration.ts";
import { readJsonFile, writeJsonFile } from "./json_file.ts";
import { newKey } from "../admin/new_key.ts";

const DEMO = { project: "demo", tier: "pro", key: "printed by deno task start" } as const;

/** Returns the key of the demo project, and creates a new one if the stored key is missing, revoked or unknown to this database. */
export async function demoKey(administration: Administration, file: string): Promise<string> {
  await ensureProject(administration);
  const stored = parseStoredKey(await readJsonFile(file));
  if (stored !== null && await isActive(administration, stored)) return stored.apiKey;
  const { apiKey, stored: toStore } = await newKey();
  const { id } = await administration.createKey(DEMO.project, DEMO.key, toStore, null);
  await writeJsonFile(file, { id, apiKey });
  return apiKey;
}

async function ensureProject(administration: Administration): Promise<void> {
  try {
    await administration.createProject(DEMO.project, DEMO.tier);
  } catch (error) {
    if (!(error instanceof AdministrationError && error.code === "NAME_TAKEN")) throw error;
  }
}

async function isActive(administration: Administration, stored: { id: string }): Promise<boolean> {
  const keys = await administration.listKeys(DEMO.project);
  return keys.some(({ id, revokedAt, expiresAt }) =>
    id === stored.id && revokedAt === null && expiresAt === null
  );
}

function parseStoredKey(value: unknown): { id: string; apiKey: string } | null {
  if (typeof value !== "object" || value === null) return null;
  if (!("id" in value) || typeof value.id !== "string") return null;
  if (!("apiKey" in value) || typeof value.apiKey !== "string" || !isWellFormedApiKey(value.apiKey)) {
    return null;
  }
  return { id: value.id, apiKey: value.apiKey };
}
