/**
 * All routes: the one place with their methods and paths. A route's module is loaded with the first request to it, so
 * that a cold start pays for that route alone. The order does not matter: no two match the same method and path.
 */
import { matches } from "../http/request_data.ts";
import type { Address, Definition, Route } from "../route.ts";
import { lazy } from "../runtime/lazy.ts";

interface Entry extends Address {
  readonly load: () => Promise<Route>;
}

function at(method: Address["method"], pattern: string, load: () => Promise<Definition>): Entry {
  return { method, pattern, load: lazy(async () => ({ method, pattern, ...await load() })) };
}

export const ENTRIES: readonly Entry[] = [
  at("GET", "/health", async () => (await import("./operator.ts")).getHealth),
  at("POST", "/files", async () => (await import("./write.ts")).write),
  at("GET", "/files", async () => (await import("./list.ts")).list),
  at("GET", "/files/*", async () => (await import("./read.ts")).read),
  at("DELETE", "/files/*", async () => (await import("./delete_redact.ts")).deleteFile),
  at("POST", "/files/redact/*", async () => (await import("./delete_redact.ts")).redact),
  at("PUT", "/files/append/*", async () => (await import("./append.ts")).append),
  at("PUT", "/files/overwrite/*", async () => (await import("./append.ts")).overwrite),
  at("PUT", "/files/edit/*", async () => (await import("./edit.ts")).edit),
  at("PUT", "/files/restore/*", async () => (await import("./copy_move_restore.ts")).restore),
  at("PUT", "/files/copy/*", async () => (await import("./copy_move_restore.ts")).copy),
  at("PUT", "/files/move/*", async () => (await import("./copy_move_restore.ts")).move),
  at("GET", "/diff/*", async () => (await import("./diff.ts")).diff),
  at("GET", "/export", async () => (await import("./export.ts")).exportFiles),
  at("POST", "/folders/copy", async () => (await import("./folders.ts")).copyFolder),
  at("POST", "/folders/move", async () => (await import("./folders.ts")).moveFolder),
  at("DELETE", "/folders/*", async () => (await import("./folders.ts")).deleteFolder),
  at("POST", "/branches", async () => (await import("./branches.ts")).createBranch),
  at("GET", "/branches", async () => (await import("./branches.ts")).listBranches),
  at("GET", "/branches/:name", async () => (await import("./branches.ts")).getBranch),
  at("PATCH", "/branches/:name", async () => (await import("./branches.ts")).changeBranch),
  at("POST", "/branches/:name/merge", async () => (await import("./merges.ts")).mergeBranch),
  at("POST", "/branches/:name/update", async () => (await import("./merges.ts")).updateBranch),
  at("POST", "/runs/:runId/undo", async () => (await import("./runs.ts")).undoRun),
  at("POST", "/restore", async () => (await import("./runs.ts")).restoreFolder),
  at("POST", "/batch", async () => (await import("./batch.ts")).batch),
  at("GET", "/changes", async () => (await import("./changes.ts")).changes),
  at("GET", "/runs", async () => (await import("./runs.ts")).listRuns),
  at("GET", "/runs/:runId", async () => (await import("./runs.ts")).getRun),
  at("GET", "/projects", async () => (await import("./projects.ts")).listProjects),
  at("POST", "/projects", async () => (await import("./projects.ts")).createProject),
  at("GET", "/project", async () => (await import("./projects.ts")).getProject),
  at("PATCH", "/project", async () => (await import("./projects.ts")).renameProject),
  at("DELETE", "/project", async () => (await import("./projects.ts")).deleteProject),
  at("GET", "/project/activity", async () => (await import("./projects.ts")).listActivity),
  at("GET", "/project/usage", async () => (await import("./projects.ts")).getUsage),
  at("GET", "/account", async () => (await import("./account.ts")).getAccount),
  at("DELETE", "/account", async () => (await import("./account.ts")).deleteAccount),
  at("GET", "/project/apikeys", async () => (await import("./api_keys.ts")).listKeys),
  at("POST", "/project/apikeys", async () => (await import("./api_keys.ts")).createKey),
  at("POST", "/project/apikeys/:id/rotate", async () => (await import("./api_keys.ts")).rotateKey),
  at("POST", "/project/apikey/regenerate", async () => (await import("./api_keys.ts")).regenerateKey),
  at("PATCH", "/project/apikeys/:id", async () => (await import("./api_keys.ts")).changeKey),
  at("DELETE", "/project/apikeys/:id", async () => (await import("./api_keys.ts")).revokeKey),
  at("GET", "/project/webhooks", async () => (await import("./webhooks.ts")).listWebhooks),
  at("POST", "/project/webhooks", async () => (await import("./webhooks.ts")).createWebhook),
  at("PATCH", "/project/webhooks/:id", async () => (await import("./webhooks.ts")).changeWebhook),
  at("DELETE", "/project/webhooks/:id", async () => (await import("./webhooks.ts")).deleteWebhook),
  at("POST", "/project/webhooks/:id/test", async () => (await import("./webhooks.ts")).testWebhook),
  at("POST", "/project/webhooks/:id/replay", async () => (await import("./webhooks.ts")).replayWebhook),
  at("GET", "/project/webhooks/:id/deliveries", async () => (await import("./webhooks.ts")).listDeliveries),
  at("GET", "/project/members", async () => (await import("./members.ts")).listMembers),
  at("POST", "/project/members", async () => (await import("./members.ts")).inviteMember),
  at("PATCH", "/project/members/:id", async () => (await import("./members.ts")).changeMember),
  at("DELETE", "/project/members/:id", async () => (await import("./members.ts")).removeMember),
  at("POST", "/project/transfer", async () => (await import("./members.ts")).transferProject),
  at("POST", "/invitations/:id/accept", async () => (await import("./members.ts")).acceptInvitation),
  at("POST", "/invitations/:id/decline", async () => (await import("./members.ts")).declineInvitation),
  at("POST", "/links", async () => (await import("./links.ts")).createLink),
  at("GET", "/links", async () => (await import("./links.ts")).listLinks),
  at("DELETE", "/links/:id", async () => (await import("./links.ts")).revokeLink),
  at("GET", "/l/:token", async () => (await import("./links.ts")).readLink),
  at("PUT", "/l/:token", async () => (await import("./links.ts")).writeLink),
  at("POST", "/memory", async () => (await import("./memory.ts")).memory),
  at("GET", "/search", async () => (await import("./search.ts")).search),
  at("POST", "/mcp", async () => (await import("./mcp.ts")).mcp),
  at("POST", "/connect", async () => (await import("./connect.ts")).connect),
  at("GET", "/connect/oauth-protected-resource", async () => (await import("./oauth.ts")).getResource),
  at(
    "GET",
    "/.well-known/openid-configuration",
    async () => (await import("./oauth.ts")).getOpenidConfiguration,
  ),
  at("GET", "/.well-known/oauth-authorization-server", async () => (await import("./oauth.ts")).getServer),
  at("GET", "/oauth/jwks", async () => (await import("./oauth.ts")).getKeySet),
  at("POST", "/oauth/register", async () => (await import("./oauth.ts")).register),
  at("GET", "/oauth/authorize", async () => (await import("./oauth.ts")).authorize),
  at("POST", "/oauth/token", async () => (await import("./oauth.ts")).token),
  at("POST", "/oauth/revoke", async () => (await import("./oauth.ts")).revoke),
  at("GET", "/oauth/requests/:request", async () => (await import("./consent.ts")).getRequest),
  at("POST", "/oauth/consent", async () => (await import("./consent.ts")).answerRequest),
  at("POST", "/sweep", async () => (await import("./operator.ts")).postSweep),
  at("GET", "/openapi.json", async () => (await import("./openapi.ts")).openapiRoute(allRoutes)),
  at("GET", "/llms.txt", async () => (await import("./openapi.ts")).llmsRoute(allRoutes)),
];

export function allRoutes(): Promise<Route[]> {
  return Promise.all(ENTRIES.map(({ load }) => load()));
}

/**
 * The entry of a request; undefined for an unknown path or method. Not by Hono's router: it compiles its matcher in the
 * first request, which takes 4 ms of a cold start, and its `/files/*` also matches `/files`.
 */
export function entryOf(givenMethod: string, rawPath: string): Entry | undefined {
  return ENTRIES.find(({ method, pattern }) => method === givenMethod && matches(pattern, rawPath));
}

/** The methods of a path, for the `Allow` header; empty for an unknown route. */
export function allowedMethods(rawPath: string): string[] {
  const methods = ENTRIES.filter(({ pattern }) => matches(pattern, rawPath)).map(({ method }) => method);
  return [...new Set(methods.flatMap((method) => method === "GET" ? ["GET", "HEAD"] : [method]))];
}
