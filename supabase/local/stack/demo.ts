/**
 * The demo project and its key, created once per database so that the first curl works. The data folder records the
 * project's id, so the stack finds it under any name and owner.
 */
import { isWellFormedApiKey } from "../../functions/api/auth/api_key.ts";
import { type Administration, AdministrationError } from "../admin/administration.ts";
import type { Database } from "../database/database.ts";
import { readJsonFile, writeJsonFile } from "./json_file.ts";
import { newKey } from "../admin/new_key.ts";

const DEMO = { project: "demo", tier: "pro", key: "demo key" } as const;

interface StoredDemo {
  readonly projectId: string;
  readonly keyId?: string | undefined;
  readonly apiKey?: string | undefined;
}

export interface Demo {
  readonly projectId: string;
  readonly apiKey: string;
}

/** Creates the project if it is missing, and a key if the stored one is revoked, expires or is not in this database. */
export async function openDemo(administration: Administration, file: string): Promise<Demo> {
  let stored = parseStored(await readJsonFile(file).catch(() => null));
  if (stored === null) {
    // Recorded before the project is created, so that a crash in between leaves no unknown project.
    stored = { projectId: crypto.randomUUID() };
    await writeJsonFile(file, stored);
  }
  if (!await createDemo(administration, stored.projectId)) {
    stored = { projectId: crypto.randomUUID() };
    await writeJsonFile(file, stored);
    await createDemo(administration, stored.projectId);
  }
  const { projectId, keyId, apiKey } = stored;
  if (apiKey !== undefined && keyId !== undefined && await isActive(administration, projectId, keyId)) {
    return { projectId, apiKey };
  }
  const created = await newKey();
  const { id } = await administration.createKey(projectId, DEMO.key, created.stored);
  await writeJsonFile(file, { projectId, keyId: id, apiKey: created.apiKey });
  return { projectId, apiKey: created.apiKey };
}

/**
 * Gives the demo project to the account that signed up first, if it has no owner yet. Returns whether it now has an owner.
 * The operator keeps it if that account has another project of the same name.
 */
export async function giveToFirstAccount(database: Database, projectId: string): Promise<boolean> {
  // One statement: if two run at the same time, the later one finds that the project has an owner.
  const given = await database.query(
    `update filestore.projects p set owner_id = a.id
     from (select u.id from auth.users u order by u.created_at, u.id limit 1) a
     where p.id = $1 and p.owner_id is null and p.deleted_at is null
       and not exists (select from filestore.projects o where o.owner_id = a.id and o.name = p.name)
     returning p.id`,
    [projectId],
  );
  if (given.length > 0) return true;
  const owned = await database.query(
    "select p.id from filestore.projects p where p.id = $1 and p.owner_id is not null",
    [projectId],
  );
  return owned.length > 0;
}

/**
 * Creates the project with this id, under a name that no other project of the operator has. Returns false if it was deleted.
 */
async function createDemo(administration: Administration, id: string): Promise<boolean> {
  for (let name: string = DEMO.project;; name = `${DEMO.project}-${crypto.randomUUID().slice(0, 8)}`) {
    try {
      await administration.createProject(name, DEMO.tier, id);
      return true;
    } catch (error) {
      if (error instanceof AdministrationError && error.code === "PROJECT_DELETED") return false;
      if (!(error instanceof AdministrationError && error.code === "PROJECT_NAME_TAKEN")) throw error;
    }
  }
}

async function isActive(administration: Administration, projectId: string, keyId: string): Promise<boolean> {
  const keys = await administration.listKeys(projectId);
  return keys.some(({ id, revokedAt, expiresAt }) =>
    id === keyId && revokedAt === null && expiresAt === null
  );
}

function parseStored(value: unknown): StoredDemo | null {
  if (typeof value !== "object" || value === null) return null;
  const text = (name: string): string | undefined => {
    const found: unknown = new Map<string, unknown>(Object.entries(value)).get(name);
    return typeof found === "string" ? found : undefined;
  };
  const [projectId, apiKey] = [text("projectId"), text("apiKey")];
  if (projectId === undefined || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(projectId)) return null;
  return {
    projectId,
    keyId: text("keyId"),
    apiKey: apiKey !== undefined && isWellFormedApiKey(apiKey) ? apiKey : undefined,
  };
}
