/** Calls of the account routes: projects and their keys. */
import type { Key, KeyList, NewKey } from "../../../functions/api/contract/keys.ts";
import type {
  Account,
  Deletion,
  Project,
  ProjectList,
  Retention,
} from "../../../functions/api/contract/projects.ts";
import { call } from "./client.ts";

export type { Account, Key, NewKey, Project, Retention };

/** Lists the projects, oldest first, and the invitations that wait for an answer. */
export function listProjects(): Promise<ProjectList> {
  return call({ path: "/projects" });
}

export function createProject(name: string): Promise<Project> {
  return call({ method: "POST", path: "/projects", body: { name } });
}

export function readProject(projectId: string, signal?: AbortSignal): Promise<Project> {
  return call({ path: "/project", projectId, signal });
}

export function renameProject(projectId: string, name: string): Promise<Project> {
  return call({ method: "PATCH", path: "/project", projectId, body: { name } });
}

/** Returns what the operator allows the signed-in person. */
export function readAccount(signal?: AbortSignal): Promise<Account> {
  return call({ path: "/account", signal });
}

/** Deletes the project for good, with all of its content. `confirm` is the project's name. */
export async function deleteProject(projectId: string, confirm: string): Promise<void> {
  await call<Deletion>({ method: "DELETE", path: "/project", projectId, query: { confirm } });
}

/** Deletes the account for good, with all of its projects. `confirm` is the account's e-mail address. */
export async function deleteAccount(confirm: string): Promise<void> {
  await call<Deletion>({ method: "DELETE", path: "/account", query: { confirm } });
}

/** Newest first, including revoked and expired keys. */
export async function listKeys(projectId: string, signal?: AbortSignal): Promise<readonly Key[]> {
  return (await call<KeyList>({ path: "/project/apikeys", projectId, signal })).keys;
}

interface NewKeySettings {
  readonly name: string | undefined;
  readonly environment: string;
  readonly scopes: readonly string[];
  readonly pathPrefix?: string | undefined;
  readonly expiresAt?: string | undefined;
}

export function createKey(projectId: string, settings: NewKeySettings): Promise<NewKey> {
  return call({ method: "POST", path: "/project/apikeys", projectId, body: settings });
}

/** The old key remains valid for `gracePeriodSeconds`. */
export function rotateKey(projectId: string, keyId: string, gracePeriodSeconds: number): Promise<NewKey> {
  const path = `/project/apikeys/${encodeURIComponent(keyId)}/rotate`;
  return call({ method: "POST", path, projectId, body: { gracePeriodSeconds } });
}

/** A change can only narrow the scopes and the prefix. */
export function changeKey(
  projectId: string,
  keyId: string,
  changes: Omit<NewKeySettings, "environment">,
): Promise<Key> {
  const path = `/project/apikeys/${encodeURIComponent(keyId)}`;
  return call({ method: "PATCH", path, projectId, body: changes });
}

export function revokeKey(projectId: string, keyId: string): Promise<Key> {
  const path = `/project/apikeys/${encodeURIComponent(keyId)}`;
  return call({ method: "DELETE", path, projectId });
}
