/** Each route that needs a key or an account, with what it asks of a key: tables of tests go over it. */
export interface RouteCall {
  readonly name: string;
  readonly method: string;
  /** `{file}` stands for the path of a file with two versions. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly scopes: readonly ("read" | "write" | "admin")[];
  /** The status where nothing forbids it. Default 200. */
  readonly status?: number;
}

const raw = { "content-type": "application/octet-stream" };
const NOBODYS_KEY = "d0000000-0000-4000-8000-000000000000";

export const FILE_ROUTES: readonly RouteCall[] = [
  { name: "list", method: "GET", path: "/files", scopes: ["read"] },
  { name: "list what is deleted", method: "GET", path: "/files?deleted=true", scopes: ["read"] },
  { name: "read", method: "GET", path: "/files/{file}", scopes: ["read"] },
  {
    name: "read bytes",
    method: "GET",
    path: "/files/{file}",
    headers: { accept: "application/octet-stream" },
    scopes: ["read"],
  },
  { name: "record", method: "GET", path: "/files/{file}?metadata", scopes: ["read"] },
  { name: "version list", method: "GET", path: "/files/{file}?versions", scopes: ["read"] },
  { name: "diff", method: "GET", path: "/diff/{file}", scopes: ["read"] },
  {
    name: "write",
    method: "POST",
    path: "/files",
    body: { path: "{file}", content: "x" },
    scopes: ["write"],
  },
  {
    name: "write much",
    method: "POST",
    path: "/files",
    body: { path: "{file}", content: "x".repeat(70_000) },
    scopes: ["write"],
  },
  {
    name: "write bytes",
    method: "POST",
    path: "/files?path={file}",
    body: "bytes",
    headers: raw,
    scopes: ["write"],
  },
  { name: "append", method: "PUT", path: "/files/append/{file}", body: { content: "x" }, scopes: ["write"] },
  {
    name: "append bytes",
    method: "PUT",
    path: "/files/append/{file}?raw",
    body: "bytes",
    headers: raw,
    scopes: ["write"],
  },
  {
    name: "overwrite",
    method: "PUT",
    path: "/files/overwrite/{file}",
    body: { content: "x" },
    scopes: ["write"],
  },
  {
    name: "edit",
    method: "PUT",
    path: "/files/edit/{file}",
    body: { oldString: "one", newString: "x" },
    scopes: ["read", "write"],
  },
  {
    name: "try an edit",
    method: "PUT",
    path: "/files/edit/{file}",
    body: { oldString: "one", newString: "x", dryRun: true },
    scopes: ["read", "write"],
  },
  { name: "restore", method: "PUT", path: "/files/restore/{file}", body: { version: 1 }, scopes: ["write"] },
  {
    name: "copy",
    method: "PUT",
    path: "/files/copy/{file}",
    body: { destination: "{file}.copy" },
    scopes: ["write"],
  },
  {
    name: "move",
    method: "PUT",
    path: "/files/move/{file}",
    body: { destination: "{file}.moved" },
    scopes: ["write"],
  },
  { name: "delete", method: "DELETE", path: "/files/{file}", scopes: ["write"] },
  {
    name: "make a link for reading",
    method: "POST",
    path: "/links",
    body: { path: "{file}", for: "read" },
    scopes: ["write", "read"],
  },
  {
    name: "make a link for writing",
    method: "POST",
    path: "/links",
    body: { path: "{file}", for: "write" },
    scopes: ["write"],
  },
];

export const PROJECT_ROUTES: readonly RouteCall[] = [
  { name: "project", method: "GET", path: "/project", scopes: [] },
  { name: "activity", method: "GET", path: "/project/activity", scopes: ["read"] },
  { name: "rename", method: "PATCH", path: "/project", body: { name: "Renamed" }, scopes: ["admin"] },
  { name: "list keys", method: "GET", path: "/project/apikeys", scopes: ["admin"] },
  { name: "make a key", method: "POST", path: "/project/apikeys", body: {}, scopes: ["admin"] },
  {
    name: "rotate a key",
    method: "POST",
    path: `/project/apikeys/${NOBODYS_KEY}/rotate`,
    scopes: ["admin"],
    status: 404,
  },
  {
    name: "revoke a key",
    method: "DELETE",
    path: `/project/apikeys/${NOBODYS_KEY}`,
    scopes: ["admin"],
    status: 404,
  },
  { name: "regenerate", method: "POST", path: "/project/apikey/regenerate", scopes: ["admin"] },
];

/** The call about this file. */
export function aboutFile({ path, body, headers }: RouteCall, file: string) {
  const filled: unknown = typeof body === "object"
    ? JSON.parse(JSON.stringify(body).replaceAll("{file}", file))
    : body;
  return {
    path: path.replace("{file}", encodeURIComponent(file)),
    options: { body: filled, ...headers && { headers } },
  };
}
