/** All routes. Their order does not matter: no two match the same method and path. */
import { deleteAccount, getAccount } from "./account.ts";
import { append, overwrite } from "./append.ts";
import { batch } from "./batch.ts";
import { changes } from "./changes.ts";
import { copy, move, restore } from "./copy_move_restore.ts";
import { deleteFile, redact } from "./delete_redact.ts";
import { diff } from "./diff.ts";
import { edit } from "./edit.ts";
import { copyFolder, deleteFolder, moveFolder } from "./folders.ts";
import { exportFiles } from "./export.ts";
import { list } from "./list.ts";
import { createLink, listLinks, readLink, revokeLink, writeLink } from "./links.ts";
import { mcp } from "./mcp.ts";
import { memory } from "./memory.ts";
import { documentRoutes } from "./openapi.ts";
import { getHealth, postSweep } from "./operator.ts";
import { read } from "./read.ts";
import { getRun, listRuns, restoreFolder, undoRun } from "./runs.ts";
import { search } from "./search.ts";
import { changeKey, createKey, listKeys, regenerateKey, revokeKey, rotateKey } from "./api_keys.ts";
import {
  createProject,
  deleteProject,
  getProject,
  getUsage,
  listActivity,
  listProjects,
  renameProject,
} from "./projects.ts";
import { matches } from "../http/request_data.ts";
import type { Route } from "../route.ts";
import { write } from "./write.ts";

export const ROUTES: readonly Route[] = [
  getHealth,
  write,
  list,
  read,
  deleteFile,
  redact,
  append,
  overwrite,
  edit,
  restore,
  copy,
  move,
  diff,
  exportFiles,
  copyFolder,
  moveFolder,
  deleteFolder,
  undoRun,
  restoreFolder,
  batch,
  changes,
  listRuns,
  getRun,
  listProjects,
  createProject,
  getProject,
  renameProject,
  deleteProject,
  listActivity,
  getUsage,
  getAccount,
  deleteAccount,
  listKeys,
  createKey,
  rotateKey,
  regenerateKey,
  changeKey,
  revokeKey,
  createLink,
  listLinks,
  revokeLink,
  readLink,
  writeLink,
  memory,
  search,
  mcp,
  postSweep,
  ...documentRoutes(() => ROUTES),
];

/** The methods of a path, for the `Allow` header; empty for an unknown route. */
export function allowedMethods(rawPath: string): string[] {
  const methods = ROUTES.filter((route) => matches(route.pattern, rawPath)).map((route) => route.method);
  return [...new Set(methods.flatMap((method) => method === "GET" ? ["GET", "HEAD"] : [method]))];
}
