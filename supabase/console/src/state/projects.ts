/** The projects of the account, and the open project. */
import { computed, signal } from "@preact/signals";
import { isCode } from "../api/failure.ts";
import type { Invitation } from "../api/members.ts";
import { createProject, listProjects, type Project, readAccount, readProject } from "../api/projects.ts";
import { directoryOf } from "../format.ts";
import { place } from "./router.ts";

const LAST_PROJECT = "filestore.project";

/** Undefined until the projects are loaded. */
export const projects = signal<readonly Project[] | undefined>(undefined);

/** Invitations to projects of others. */
export const invitations = signal<readonly Invitation[]>([]);

/** The id in the address, whether or not the project exists. */
export const projectId = computed(() => "projectId" in place.value ? place.value.projectId : undefined);

export const project = computed(() => projects.value?.find(({ id }) => id === projectId.value));

/** Changing files, or administering the project: its keys, members, webhooks and settings. */
export type Right = "write" | "admin";

/** Whether the role of the signed-in person in the open project has this right. */
export function may(right: Right): boolean {
  const role = project.value?.role;
  return role !== "viewer" && (right === "write" || role !== "editor");
}

/** Loads the projects. If the person has none and may create some, creates the first; another tab may be faster. */
export async function loadProjects(): Promise<void> {
  let listed = await listProjects();
  if (listed.projects.length === 0 && (await readAccount()).mayCreateProjects) {
    await createProject("My project").catch((error) =>
      isCode(error, "PROJECT_NAME_TAKEN") || Promise.reject(error)
    );
    listed = await listProjects();
  }
  projects.value = listed.projects;
  invitations.value = listed.invitations;
}

export function forgetProject(id: string): void {
  projects.value = projects.value?.filter((known) => known.id !== id);
}

/** Replaces or adds a project. */
export function updateProject(next: Project): void {
  const known = projects.value ?? [];
  projects.value = known.some(({ id }) => id === next.id)
    ? known.map((one) => one.id === next.id ? next : one)
    : [...known, next];
}

export async function refreshProject(id: string, signal?: AbortSignal): Promise<void> {
  updateProject(await readProject(id, signal));
}

/** Returns the project to open if the address names no project. */
export function preferredProject(): Project | undefined {
  const last = localStorage.getItem(LAST_PROJECT);
  return projects.value?.find(({ id }) => id === last) ?? projects.value?.[0];
}

export function rememberProject(id: string): void {
  localStorage.setItem(LAST_PROJECT, id);
}

export function clearProjects(): void {
  projects.value = undefined;
  invitations.value = [];
}

/** Returns the folder on screen, or the folder of the file on screen. */
export function currentDirectory(): string {
  const here = place.value;
  if (here.name === "files") return here.directory;
  return here.name === "file" ? directoryOf(here.path) : "";
}
