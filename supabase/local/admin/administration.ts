/**
 * Manages projects and keys of any Supabase project that has this repository's migrations. It calls the SQL functions
 * `filestore_admin_*`, which require the secret key.
 */
import { createClient } from "@supabase/supabase-js";
import { z } from "zod";
import { ADMINISTRATION_TIMEOUT_MILLISECONDS } from "../limits.ts";
import { messageOf, StartupError } from "../startup_error.ts";

const project = z.object({
  id: z.string(),
  name: z.string(),
  tier: z.string(),
  /** Null: no limit. */
  requestsPerMinute: z.number().nullable(),
  maxFileBytes: z.number().nullable(),
  maxProjectBytes: z.number().nullable(),
  createdAt: z.string(),
});
export type Project = z.infer<typeof project>;

const key = z.object({
  id: z.string(),
  /** The first characters of the key, enough to identify it. */
  prefix: z.string(),
  name: z.string(),
  project: z.object({ id: z.string(), name: z.string() }),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  revokedAt: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
});
export type Key = z.infer<typeof key>;

const sweepSlice = z.object({
  seen: z.number(),
  removed: z.number(),
  indexed: z.number(),
  isDone: z.boolean(),
});
export type SweepSlice = z.infer<typeof sweepSlice>;

const problem = z.object({ error: z.string(), message: z.string() });

/** A refusal by one of these functions, with its code, such as PROJECT_NOT_FOUND. */
export class AdministrationError extends StartupError {
  constructor(readonly code: string, message: string) {
    super(message);
  }
}

/** What is stored of a key: never the key itself. */
export interface KeyToStore {
  readonly hash: string;
  readonly prefix: string;
}

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

  createProject(name: string, tier: string): Promise<Project> {
    return this.#call("filestore_admin_create_project", { p_name: name, p_tier: tier }, project);
  }

  async listProjects(): Promise<Project[]> {
    const answer = z.object({ projects: z.array(project) });
    return (await this.#call("filestore_admin_list_projects", {}, answer)).projects;
  }

  /** Limits that are given replace those of the tier. */
  setTier(
    nameOrId: string,
    tier: string,
    limits: {
      requestsPerMinute?: number | undefined;
      maxFileBytes?: number | undefined;
      maxProjectBytes?: number | undefined;
    },
  ): Promise<Project> {
    return this.#call("filestore_admin_set_tier", {
      p_project: nameOrId,
      p_tier: tier,
      p_requests_per_minute: limits.requestsPerMinute ?? null,
      p_max_file_bytes: limits.maxFileBytes ?? null,
      p_max_project_bytes: limits.maxProjectBytes ?? null,
    }, project);
  }

  /** Assigns a project to the account with this e-mail address or id: the owner sees it in the console. */
  setOwner(nameOrId: string, account: string): Promise<Project> {
    return this.#call("filestore_admin_set_owner", { p_project: nameOrId, p_account: account }, project);
  }

  createKey(
    project: string,
    name: string,
    { hash, prefix }: KeyToStore,
    expiresAt: string | null,
  ): Promise<Key> {
    return this.#call("filestore_admin_create_key", {
      p_project: project,
      p_name: name,
      p_key_hash: hash,
      p_prefix: prefix,
      p_expires_at: expiresAt,
    }, key);
  }

  async listKeys(project: string | null): Promise<Key[]> {
    return (await this.#call(
      "filestore_admin_list_keys",
      { p_project: project },
      z.object({ keys: z.array(key) }),
    )).keys;
  }

  revokeKey(id: string): Promise<Key> {
    return this.#call("filestore_admin_revoke_key", { p_id: id }, key);
  }

  /** Revokes the old key immediately and returns the new one. */
  rotateKey(id: string, { hash, prefix }: KeyToStore): Promise<Key> {
    return this.#call("filestore_admin_rotate_key", { p_id: id, p_key_hash: hash, p_prefix: prefix }, key);
  }

  /** Runs one slice of the sweep in the deployed function. */
  async sweep(): Promise<SweepSlice> {
    const response = await fetch(`${this.#url}/functions/v1/api/sweep`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#secretKey}` },
      signal: AbortSignal.timeout(ADMINISTRATION_TIMEOUT_MILLISECONDS),
    }).catch((error: unknown) => {
      throw new StartupError(`${this.#url} cannot be reached (${messageOf(error)}).`);
    });
    const answer = z.object({ data: sweepSlice }).safeParse(await response.json().catch(() => null));
    if (!answer.success) {
      throw new StartupError(`The sweep of ${this.#url} failed (status ${response.status}).`);
    }
    return answer.data.data;
  }

  async #call<T>(name: string, parameters: Record<string, unknown>, shape: z.ZodType<T>): Promise<T> {
    const { data, error, status } = await this.#supabase.rpc(name, parameters)
      .abortSignal(AbortSignal.timeout(ADMINISTRATION_TIMEOUT_MILLISECONDS));
    if (error) throw new StartupError(`${this.#url} ${reasonOf(status, error)}.`);
    const refusal = problem.safeParse(data);
    if (refusal.success) throw new AdministrationError(refusal.data.error, refusal.data.message);
    const answer = shape.safeParse(data);
    if (answer.success) return answer.data;
    throw new StartupError(
      `${this.#url} returned an unknown result for ${name}; are its migrations up to date?`,
    );
  }
}

function reasonOf(status: number, error: { code: string; message: string }): string {
  if (status === 0) return `cannot be reached (${error.message.split("\n")[0]})`;
  if (status === 401 || error.code === "42501") return "does not accept this secret key";
  if (error.code === "PGRST202") {
    return "lacks this repository's migrations; push them with `supabase db push --remote`";
  }
  return `failed (${error.message})`;
}
