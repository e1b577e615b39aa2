/** The pages of the API in the order of its index, and the routes that each describes. */

export interface ApiPage {
  /** The file in `docs/api/`, without the extension. */
  readonly file: string;
  readonly title: string;
  /** Whether its routes are listed among the most important ones. */
  readonly isFirst: boolean;
  /** Addresses such as `PUT /files/append/{path}`. Each route of the service is on one page. */
  readonly routes: readonly string[];
}

function page(file: string, title: string, ...routes: readonly string[]): ApiPage {
  return { file, title, isFirst: false, routes };
}

const FIRST = [
  page("write", "Write", "POST /files", "PUT /files/overwrite/{path}"),
  page("read", "Read", "GET /files/{path}"),
  page("list", "List", "GET /files"),
  page("append", "Append", "PUT /files/append/{path}"),
  page("edit", "Edit", "PUT /files/edit/{path}"),
  page(
    "versions",
    "Versions: compare, delete, restore",
    "GET /diff/{path}",
    "DELETE /files/{path}",
    "PUT /files/restore/{path}",
  ),
  page("search", "Search", "GET /search"),
].map((first) => ({ ...first, isFirst: true }));

export const API_PAGES: readonly ApiPage[] = [
  ...FIRST,
  page("copy_move", "Copy and move", "PUT /files/copy/{path}", "PUT /files/move/{path}"),
  page("folders", "Folders", "POST /folders/copy", "POST /folders/move", "DELETE /folders/{path}"),
  page("batch", "Several files as one commit", "POST /batch"),
  page("past", "As it was", "POST /restore"),
  page("runs", "Runs and undo", "GET /runs", "GET /runs/{runId}", "POST /runs/{runId}/undo"),
  page(
    "branches",
    "Branches",
    "POST /branches",
    "GET /branches",
    "GET /branches/{name}",
    "PATCH /branches/{name}",
    "POST /branches/{name}/merge",
    "POST /branches/{name}/update",
  ),
  page("changes", "Change feed", "GET /changes"),
  page("export", "Export", "GET /export"),
  page(
    "links",
    "Links",
    "POST /links",
    "GET /links",
    "DELETE /links/{id}",
    "GET /l/{token}",
    "PUT /l/{token}",
  ),
  page(
    "webhooks",
    "Webhooks",
    "GET /project/webhooks",
    "POST /project/webhooks",
    "PATCH /project/webhooks/{id}",
    "DELETE /project/webhooks/{id}",
    "POST /project/webhooks/{id}/test",
    "POST /project/webhooks/{id}/replay",
    "GET /project/webhooks/{id}/deliveries",
  ),
  page("erasure", "Erasure: purge, redaction, retention", "POST /files/redact/{path}"),
  page("mcp", "MCP", "POST /mcp"),
  page(
    "oauth",
    "Apps that sign in",
    "POST /connect",
    "GET /connect/oauth-protected-resource",
    "GET /.well-known/openid-configuration",
    "GET /.well-known/oauth-authorization-server",
    "GET /oauth/jwks",
    "POST /oauth/register",
    "GET /oauth/authorize",
    "GET /oauth/requests/{request}",
    "POST /oauth/consent",
    "POST /oauth/token",
    "POST /oauth/revoke",
  ),
  page("memory", "Memory tool", "POST /memory"),
  page(
    "projects",
    "Accounts and projects",
    "GET /projects",
    "POST /projects",
    "GET /project",
    "PATCH /project",
    "DELETE /project",
    "GET /project/activity",
    "GET /account",
    "DELETE /account",
  ),
  page(
    "keys",
    "Keys",
    "GET /project/apikeys",
    "POST /project/apikeys",
    "POST /project/apikeys/{id}/rotate",
    "POST /project/apikey/regenerate",
    "PATCH /project/apikeys/{id}",
    "DELETE /project/apikeys/{id}",
  ),
  page(
    "members",
    "Members",
    "GET /project/members",
    "POST /project/members",
    "PATCH /project/members/{id}",
    "DELETE /project/members/{id}",
    "POST /invitations/{id}/accept",
    "POST /invitations/{id}/decline",
    "POST /project/transfer",
  ),
  page("usage", "Usage", "GET /project/usage"),
  page("openapi", "OpenAPI", "GET /openapi.json", "GET /llms.txt"),
  page("health", "Health and sweep", "GET /health", "POST /sweep"),
];
