/** All routes. The order matters to nobody: no two match the same method and path. */
import { append } from "./append.ts";
import { copy } from "./copy.ts";
import { deleteFile } from "./delete.ts";
import { diff } from "./diff.ts";
import { edit } from "./edit.ts";
import { health } from "./health.ts";
import { list } from "./list.ts";
import { move } from "./move.ts";
import { openapi } from "./openapi.ts";
import { overwrite } from "./overwrite.ts";
import { read } from "./read.ts";
import { restore } from "./restore.ts";
import { search } from "./search.ts";
import { sweep } from "./sweep.ts";
import { createKey, listKeys, regenerateKey, revokeKey, rotateKey } from "./api_keys.ts";
import { activity, createProject, getProject, listProjects, renameProject } from "./projects.ts";
import type { Scope } from "../ports/answer.ts";
import type { Route } from "./route.ts";
import { write } from "./write.ts";

export const ROUTES: readonly Route[] = [
  health,
  write,
  list,
  read,
  deleteFile,
  append,
  overwrite,
  edit,
  restore,
  copy,
  move,
  diff,
  listProjects,
  createProject,
  getProject,
  renameProject,
  activity,
  listKeys,
  createKey,
  rotateKey,
  regenerateKey,
  revokeKey,
  search,
  sweep,
  openapi,
];

/** What a key must be allowed for a route. */
export function scopesOf({ scopes, method }: Route): readonly Scope[] {
  return scopes ?? [method === "GET" ? "read" : "write"];
}

/** Whether a raw path belongs to a route's pattern. */
export function matches(pattern: string, rawPath: string): boolean {
  if (pattern.endsWith("/*")) return rawPath.startsWith(pattern.slice(0, -1));
  if (!pattern.includes(":")) return rawPath === pattern;
  const parts = pattern.split("/");
  const given = rawPath.split("/");
  return parts.length === given.length &&
    parts.every((part, index) => part.startsWith(":") ? given[index] !== "" : part === given[index]);
}

/** The methods that a path takes, for the `Allow` header; empty for an unknown route. */
export function allowedMethods(rawPath: string): string[] {
  const methods = ROUTES.filter((route) => matches(route.pattern, rawPath)).map((route) => route.method);
  return [...new Set(methods.flatMap((method) => method === "GET" ? ["GET", "HEAD"] : [method]))];
}
