/** Each route that needs a key or an account, with what it asks of a key: tables of tests go over it. */
export interface RouteCall {
  readonly name: string;
  readonly method: string;
  /** `{file}` stands for the path of a file with two versions, and of a folder with `in.txt`. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly scopes: readonly ("read" | "write" | "admin")[];
  /** The status where nothing forbids it. Default 200. */
  readonly status?: number;
}

const raw = { "content-type": "application/octet-stream" };
/** A run that has written the file `{file}/in.txt`. */
export const RUN = "every-route";
const NOBODYS_KEY = "d0000000-0000-4000-8000-000000000000";

export const FILE_ROUTES: readonly RouteCall[] = [
  { name: "list", method: "GET", path: "/files", scopes: ["read"] },
  { name: "list what is deleted", method: "GET", path: "/files?deleted=true", scopes: ["read"] },
  { name: "list as it was", method: "GET", path: "/files?at=2026-01-01", scopes: ["read"] },
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
    name: "diff of two files",
    method: "GET",
    path: "/diff/{file}?toPath=other.txt",
    scopes: ["read"],
    status: 404,
  },
  { name: "export a folder", method: "GET", path: "/export?directory={file}", scopes: ["read"] },
  { name: "changes", method: "GET", path: "/changes", scopes: ["read"] },
  { name: "runs", method: "GET", path: "/runs", scopes: ["read"] },
  { name: "a run", method: "GET", path: "/runs/nobodys", scopes: ["read"], status: 404 },
  {
    name: "write",
    method: "POST",
    path: "/files",
    body: { path: "{file}", content: "x" },
    scopes: ["write"],
  },
  {
    name: "batch",
    method: "POST",
    path: "/batch",
    body: { operations: [{ op: "write", path: "{file}", content: "x" }] },
    scopes: ["write"],
  },
  {
    name: "batch with an edit",
    method: "POST",
    path: "/batch",
    body: { operations: [{ op: "edit", path: "{file}", oldString: "one", newString: "1" }] },
    scopes: ["write", "read"],
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
  { name: "purge", method: "DELETE", path: "/files/{file}?purge", scopes: ["admin"] },
  {
    name: "redact",
    method: "POST",
    path: "/files/redact/{file}",
    body: { versions: [1], note: "erased" },
    scopes: ["admin"],
  },
  {
    name: "copy a folder",
    method: "POST",
    path: "/folders/copy",
    body: { path: "{file}", destination: "{file}.copies" },
    scopes: ["write"],
  },
  {
    name: "move a folder",
    method: "POST",
    path: "/folders/move",
    body: { path: "{file}", destination: "{file}.moves" },
    scopes: ["write"],
  },
  { name: "delete a folder", method: "DELETE", path: "/folders/{file}", scopes: ["write"] },
  {
    name: "restore a folder",
    method: "POST",
    path: "/restore",
    body: { directory: "{file}", at: "2026-01-01", dryRun: false },
    scopes: ["write"],
  },
  {
    name: "undo a run",
    method: "POST",
    path: `/runs/${RUN}/undo`,
    body: { dryRun: false, onConflict: "overwrite" },
    scopes: ["write"],
  },
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
  { name: "usage", method: "GET", path: "/project/usage", scopes: [] },
  { name: "rename", method: "PATCH", path: "/project", body: { name: "Renamed" }, scopes: ["admin"] },
  { name: "delete", method: "DELETE", path: "/project?confirm=another", scopes: ["admin"], status: 400 },
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
    name: "change a key",
    method: "PATCH",
    path: `/project/apikeys/${NOBODYS_KEY}`,
    body: {},
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
