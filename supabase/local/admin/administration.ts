/**
 * Manages projects and keys of any Supabase project that has this repository's migrations. It calls the SQL functions
 * `filestore_admin_*`, which require the secret key.
 */
import { createClient } from "@supabase/supabase-js";
import { z } from "zod";
import { type Deletion, deletion } from "../../functions/api/contract/projects.ts";
import { sweep, type SweepSlice } from "../../functions/api/contract/service.ts";
import { ADMINISTRATION_TIMEOUT_MILLISECONDS } from "../limits.ts";
import { messageOf, StartupError } from "../startup_error.ts";
import { StoredObjects } from "./stored_objects.ts";

const project = z.object({
  id: z.string(),
  name: z.string(),
  tier: z.string(),
  /** Null: no limit. */
  requestsPerMinute: z.number().nullable(),
  maxFileBytes: z.number().nullable(),
  maxProjectBytes: z.number().nullable(),
  /** The account that owns the project, and its e-mail address; null: the operator owns it. */
  ownerId: z.string().nullable(),
  owner: z.string().nullable(),
  createdAt: z.string(),
  suspendedAt: z.string().nullable(),
});
export type Project = z.infer<typeof project>;

const key = z.object({
  id: z.string(),
  /** The first characters of the key, enough to identify it. */
  prefix: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  pathPrefix: z.string().nullable(),
  project: z.object({ id: z.string(), name: z.string() }),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  revokedAt: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
  kind: z.enum(["key", "app"]),
});
export type Key = z.infer<typeof key>;

const segmentToVerify = z.object({
  id: z.string(),
  /** The name of its object in the bucket. */
  name: z.string(),
  size: z.number(),
  sha256: z.string(),
});
export type SegmentToVerify = z.infer<typeof segmentToVerify>;

const versionPlace = z.object({ path: z.string(), version: z.number() });
export type VersionPlace = z.infer<typeof versionPlace>;

const verifyPage = z.object({
  versions: z.array(versionPlace.extend({ segments: z.array(z.string()) })),
  /** The segments that those versions list, each once; segments without a row are left out. */
  segments: z.array(segmentToVerify),
  /** The version to continue after; null on the last page. */
  next: versionPlace.nullable(),
});
export type VerifyPage = z.infer<typeof verifyPage>;

const rowsPage = z.object({
  /** Ids of segments, by project. */
  projects: z.record(z.string(), z.array(z.string())),
  /** The segment to continue after; null on the last page. */
  next: z.string().nullable(),
});
export type RowsPage = z.infer<typeof rowsPage>;

const unneededRows = z.object({ unneeded: z.int(), removed: z.int() });
export type UnneededRows = z.infer<typeof unneededRows>;

const progress = z.object({ position: z.int(), sweptThrough: z.string().nullable() });

const unknownProjects = z.object({ ids: z.array(z.string()), through: z.string() });
export type UnknownProjects = z.infer<typeof unknownProjects>;

const settings = z.object({
  /** `anyone`, addresses and domains (`@example.com`). Empty: only the operator; null: the operator has not decided yet. */
  projectMakers: z.array(z.string()).nullable(),
  /** The quota of all projects of an account that have their tier's own quota, in bytes. Null: accounts have no quota. */
  accountBytes: z.number().nullable(),
});
export type Settings = z.infer<typeof settings>;

const refused = z.object({
  refusal: z.object({
    code: z.string(),
    details: z.object({
      message: z.string().optional(),
      issues: z.array(z.object({ path: z.string(), reason: z.string() })).optional(),
    }),
  }),
});

/** What a refusal means to the operator, for refusals without a message of their own. */
const MEANINGS: Readonly<Record<string, string>> = {
  INVALID_LIMIT: "A limit must be a whole number of at least 1.",
  KEY_LIMIT_REACHED: "The project has reached its maximum number of active keys. Revoke one first.",
  KEY_NOT_FOUND: "There is no key with this id.",
  KEY_REVOKED: "The key is revoked or has expired.",
  PROJECT_DELETED: "The project with this id was deleted.",
  PROJECT_NAME_TAKEN: "The owner has another project with this name.",
  PROJECT_NOT_FOUND: "There is no project with this id.",
  UNKNOWN_TIER: "The tiers are free, pro and enterprise.",
};

/** A refusal by one of these functions, with its code, such as PROJECT_NOT_FOUND. */
export class AdministrationError extends StartupError {
  constructor(readonly code: string, message: string) {
    super(message);
  }
}

/** What the database stores for a key, which is never the key itself. */
export interface KeyToStore {
  readonly hash: string;
  readonly prefix: string;
}

/** Changes of a project; absent fields stay. With a tier, absent limits become those of the tier. */
export interface ProjectChanges {
  readonly name?: string;
  readonly owner?: string;
  readonly isSuspended?: boolean;
  readonly tier?: string;
  readonly requestsPerMinute?: number | undefined;
  readonly maxFileBytes?: number | undefined;
  readonly maxProjectBytes?: number | undefined;
}

export interface KeyRights {
  /** ISO 8601; null: never. */
  readonly expiresAt?: string | null;
  readonly scopes?: readonly string[];
  /** A directory without slashes at its ends; null: the whole project. */
  readonly pathPrefix?: string | null;
  /** After this time the project's other keys of the same name expire; null: they stay valid. */
  readonly graceSeconds?: number | null;
}

/** Changes of a key; absent fields stay. */
export type KeyChanges = Partial<Pick<KeyRights, "expiresAt" | "scopes" | "pathPrefix">> & {
  readonly name?: string;
};

export class Administration {
  readonly #supabase;
  readonly #url: string;
  readonly #secretKey: string;

  constructor(supabaseUrl: string, secretKey: string) {
    this.#url = supabaseUrl;
    this.#secretKey = secretKey;
    this.#supabase = createClient(supabaseUrl, secretKey, {
      auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    });
  }

  /** Creates a project. If a project with this id exists, returns it unchanged. */
  createProject(name: string, tier: string, id?: string): Promise<Project> {
    const parameters = { p_name: name, p_tier: tier, p_id: id ?? null };
    return this.#call("filestore_admin_create_project", parameters, project);
  }

  /** Applies the changes, and returns the settings of the whole installation. */
  settings(changes: Partial<Settings> = {}): Promise<Settings> {
    return this.#call("filestore_admin_settings", { p_changes: changes }, settings);
  }

  async listProjects(): Promise<Project[]> {
    const answer = z.object({ projects: z.array(project) });
    return (await this.#call("filestore_admin_list_projects", {}, answer)).projects;
  }

  /** Finds a project by id, or by name among those of `owner` (e-mail address or id; default: projects without an owner). */
  findProject(nameOrId: string, owner?: string): Promise<Project> {
    const parameters = { p_project: nameOrId, p_owner: owner ?? null };
    return this.#call("filestore_admin_find_project", parameters, project);
  }

  /** Sets the tier; given limits replace those of the tier. */
  setTier(
    projectId: string,
    tier: string,
    limits: {
      requestsPerMinute?: number | undefined;
      maxFileBytes?: number | undefined;
      maxProjectBytes?: number | undefined;
    },
  ): Promise<Project> {
    return this.updateProject(projectId, { tier, ...limits });
  }

  /** Applies the changes. `owner` is an account's e-mail address or id; that account sees the project in the console. */
  updateProject(projectId: string, changes: ProjectChanges): Promise<Project> {
    return this.#call("filestore_admin_update_project", { p_id: projectId, p_changes: changes }, project);
  }

  /** Deletes a project for good, with all of its content. `confirm` must be its name. */
  deleteProject(projectId: string, confirm: string): Promise<Deletion> {
    return this.#administer(projectId, "delete", { confirm }, deletion);
  }

  /** Throws `AdministrationError`, such as PROJECT_NOT_FOUND. */
  createKey(
    projectId: string,
    name: string,
    { hash, prefix }: KeyToStore,
    { expiresAt = null, scopes = ["read", "write"], pathPrefix = null, graceSeconds = null }: KeyRights = {},
  ): Promise<Key> {
    return this.#administer(projectId, "create_key", {
      ...{ name, keyHash: hash, prefix, environment: "development", expiresAt, scopes, pathPrefix },
      ...graceSeconds !== null && { namesakesExpireInSeconds: graceSeconds },
    }, key);
  }

  async listKeys(projectId: string | null): Promise<Key[]> {
    return (await this.#call(
      "filestore_admin_list_keys",
      { p_project_id: projectId },
      z.object({ keys: z.array(key) }),
    )).keys;
  }

  /** Applies the changes, which can only narrow scopes and prefix. Throws `AdministrationError`. */
  changeKey(id: string, changes: KeyChanges): Promise<Key> {
    return this.#administer(null, "change_key", { id, ...changes }, key);
  }

  revokeKey(id: string): Promise<Key> {
    return this.#administer(null, "revoke_key", { id }, key);
  }

  /** Revokes all apps of a project, and returns them. */
  async disconnectApps(projectId: string): Promise<Key[]> {
    const answer = z.object({ apps: z.array(key.omit({ project: true })), project: key.shape.project });
    const { apps, project } = await this.#administer(projectId, "disconnect", {}, answer);
    return apps.map((app) => ({ ...app, project }));
  }

  /** Returns the new key. The old one is revoked immediately, or expires after the grace period. */
  rotateKey(id: string, { hash, prefix }: KeyToStore, graceSeconds = 0): Promise<Key> {
    return this.#administer(null, "rotate_key", {
      ...{ id, keyHash: hash, prefix, gracePeriodSeconds: graceSeconds },
    }, key);
  }

  /** A page of a project's versions with their segments, after a place in the order of paths and numbers. */
  versionsToVerify(projectId: string, after: VersionPlace | null): Promise<VerifyPage> {
    return this.#call("filestore_verify_versions", {
      p_project_id: projectId,
      p_after_path: after?.path ?? null,
      p_after_version: after?.version ?? 0,
    }, verifyPage);
  }

  /**
   * The last day (`yyyy-mm-dd`) that a project's sweep has finished and does not visit again; null if there is no such day.
   */
  async sweptThrough(projectId: string): Promise<string | null> {
    return (await this.#call("filestore_verify_progress", { p_project_id: projectId }, progress))
      .sweptThrough;
  }

  /** The segments among `ids`, all of swept days, that have no row and can never get one, because no version needs them. */
  unreferenced(projectId: string, ids: readonly string[]): Promise<readonly string[]> {
    const parameters = { p_project_id: projectId, p_ids: ids };
    return this.#call("filestore_sweep_unreferenced", parameters, z.array(z.string()));
  }

  /** A page of segments of past days, after an id, to search for in versions: of all projects, or of one. */
  segmentsToVerify(after: string | null, projectId: string | null): Promise<RowsPage> {
    return this.#call("filestore_verify_segments", { p_after: after, p_project_id: projectId }, rowsPage);
  }

  /** A position of the change feed up to which all versions are visible. */
  async versionsEnd(projectId: string): Promise<number> {
    return (await this.#call("filestore_verify_progress", { p_project_id: projectId }, progress)).position;
  }

  /**
   * Counts the unneeded segments among `ids`, none of which a version up to `position` lists. With `repairs`, marks them for
   * the sweep.
   */
  unneededSegments(
    projectId: string,
    ids: readonly string[],
    position: number,
    repairs: boolean,
  ): Promise<UnneededRows> {
    return this.#call("filestore_verify_unneeded", {
      p_project_id: projectId,
      p_ids: ids,
      p_position: position,
      p_repairs: repairs,
    }, unneededRows);
  }

  /** The ids among `ids` that belong to no project, and the last day (`yyyy-mm-dd`) for which no upload can still arrive. */
  unknownProjects(ids: readonly string[]): Promise<UnknownProjects> {
    return this.#call("filestore_verify_unknown", { p_ids: ids }, unknownProjects);
  }

  /** The objects that hold the bytes. */
  get objects(): StoredObjects {
    return new StoredObjects(this.#url, this.#secretKey);
  }

  /** Runs one slice of the sweep in the deployed function; `begun` is the time of the first slice. */
  async sweep(begun: Date): Promise<SweepSlice> {
    const response = await fetch(`${this.#url}/functions/v1/api/sweep?begun=${begun.toISOString()}`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#secretKey}` },
      signal: AbortSignal.timeout(ADMINISTRATION_TIMEOUT_MILLISECONDS),
    }).catch((error: unknown) => {
      throw new StartupError(`${this.#url} cannot be reached (${messageOf(error)}).`);
    });
    const answer = z.object({ data: sweep }).safeParse(await response.json().catch(() => null));
    if (!answer.success) {
      throw new StartupError(`The sweep of ${this.#url} failed (status ${response.status}).`);
    }
    return answer.data.data;
  }

  /** Without a project, the key that `id` names determines it. */
  #administer<T>(
    projectId: string | null,
    action: string,
    parameters: Record<string, unknown>,
    shape: z.ZodType<T>,
  ): Promise<T> {
    const request = { p_project_id: projectId, p_action: action, p_parameters: parameters };
    return this.#call("filestore_admin_administer", request, shape);
  }

  async #call<T>(name: string, parameters: Record<string, unknown>, shape: z.ZodType<T>): Promise<T> {
    const { data, error, status } = await this.#supabase.rpc(name, parameters)
      .abortSignal(AbortSignal.timeout(ADMINISTRATION_TIMEOUT_MILLISECONDS));
    if (error) throw new StartupError(`${this.#url} ${reasonOf(status, error)}.`);
    const refusal = refused.safeParse(data);
    if (refusal.success) throw refusalOf(refusal.data);
    const answer = shape.safeParse(data);
    if (answer.success) return answer.data;
    throw new StartupError(
      `${this.#url} returned an unknown result for ${name}; are its migrations up to date?`,
    );
  }
}

function refusalOf({ refusal: { code, details } }: z.infer<typeof refused>): AdministrationError {
  const issues = details.issues?.map(({ path, reason }) => `${path} ${reason}.`).join(" ");
  return new AdministrationError(code, details.message ?? issues ?? MEANINGS[code] ?? code);
}

function reasonOf(status: number, error: { code: string; message: string }): string {
  if (status === 0) return `cannot be reached (${error.message.split("\n")[0]})`;
  if (status === 401 || error.code === "42501") return "does not accept this secret key";
  if (error.code === "PGRST202") {
    return "lacks this repository's migrations; push them with `supabase db push --remote`";
  }
  return `failed (${error.message})`;
}
