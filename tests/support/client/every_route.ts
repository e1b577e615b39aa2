/** Each route that needs a key or an account, with the scope it needs. Tests iterate over this table. */
export interface RouteCall {
  readonly name: string;
  readonly method: string;
  /**
   * `{file}` is replaced by the path of a file with two versions, or of a folder that contains `in.txt`; in a body,
   * `{new}` by a name that was never used.
   */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly scopes: readonly ("read" | "write" | "admin")[];
  /** Whether a person must be the project's owner. */
  readonly isForOwner?: true;
  /** The status if nothing forbids the request. Default 200. */
  readonly status?: number;
}

const raw = { "content-type": "application/octet-stream" };
/** A run that has written the file `{file}/in.txt`. */
export const RUN = "every-route";
const NOBODYS_WEBHOOK = "/project/webhooks/d0000000-0000-4000-8000-000000000000";
const NOBODYS_KEY = "d0000000-0000-4000-8000-000000000000";

/** `what` is method and path. */
function call(
  name: string,
  what: string,
  scopes: RouteCall["scopes"],
  body?: unknown,
  more: Pick<RouteCall, "headers" | "status" | "isForOwner"> = {},
): RouteCall {
  const [method = "", path = ""] = what.split(" ");
  return { name, method, path, scopes, ...body !== undefined && { body }, ...more };
}

export const FILE_ROUTES: readonly RouteCall[] = [
  call("list", "GET /files", ["read"]),
  call("list what is deleted", "GET /files?deleted=true", ["read"]),
  call("list as it was", "GET /files?at=2026-01-01", ["read"]),
  call("read", "GET /files/{file}", ["read"]),
  call("read bytes", "GET /files/{file}", ["read"], undefined, {
    headers: { accept: "application/octet-stream" },
  }),
  call("record", "GET /files/{file}?metadata", ["read"]),
  call("version list", "GET /files/{file}?versions", ["read"]),
  call("diff", "GET /diff/{file}", ["read"]),
  call("diff of two files", "GET /diff/{file}?toPath=other.txt", ["read"], undefined, { status: 404 }),
  call("export a folder", "GET /export?directory={file}", ["read"]),
  call("changes", "GET /changes", ["read"]),
  call("runs", "GET /runs", ["read"]),
  call("a run", "GET /runs/nobodys", ["read"], undefined, { status: 404 }),
  call("write", "POST /files", ["write"], { path: "{file}", content: "x" }),
  call("batch", "POST /batch", ["write"], { operations: [{ op: "write", path: "{file}", content: "x" }] }),
  call("batch with an edit", "POST /batch", ["write", "read"], {
    operations: [{ op: "edit", path: "{file}", oldString: "one", newString: "1" }],
  }),
  call("write much", "POST /files", ["write"], { path: "{file}", content: "x".repeat(70_000) }),
  call("write bytes", "POST /files?path={file}", ["write"], "bytes", { headers: raw }),
  call("append", "PUT /files/append/{file}", ["write"], { content: "x" }),
  call("append bytes", "PUT /files/append/{file}?raw", ["write"], "bytes", { headers: raw }),
  call("overwrite", "PUT /files/overwrite/{file}", ["write"], { content: "x" }),
  call("edit", "PUT /files/edit/{file}", ["read", "write"], { oldString: "one", newString: "x" }),
  call("try an edit", "PUT /files/edit/{file}", ["read", "write"], {
    oldString: "one",
    newString: "x",
    dryRun: true,
  }),
  call("restore", "PUT /files/restore/{file}", ["write"], { version: 1 }),
  call("copy", "PUT /files/copy/{file}", ["write"], { destination: "{file}.copy" }),
  call("move", "PUT /files/move/{file}", ["write"], { destination: "{file}.moved" }),
  call("delete", "DELETE /files/{file}", ["write"]),
  call("purge", "DELETE /files/{file}?purge", ["admin"]),
  call("redact", "POST /files/redact/{file}", ["admin"], { versions: [1], note: "erased" }),
  call("copy a folder", "POST /folders/copy", ["write"], { path: "{file}", destination: "{file}.copies" }),
  call("move a folder", "POST /folders/move", ["write"], { path: "{file}", destination: "{file}.moves" }),
  call("delete a folder", "DELETE /folders/{file}", ["write"]),
  call("restore a folder", "POST /restore", ["write"], {
    directory: "{file}",
    at: "2026-01-01",
    dryRun: false,
  }),
  call("undo a run", `POST /runs/${RUN}/undo`, ["write"], { dryRun: false, onConflict: "overwrite" }),
  call("branch off a folder", "POST /branches", ["write"], { name: "{new}", directory: "{file}" }),
  call("branches", "GET /branches", ["read"]),
  call("a branch", "GET /branches/nobodys", ["read"], undefined, { status: 404 }),
  call("change a branch", "PATCH /branches/nobodys", ["write"], { title: "x" }, { status: 404 }),
  call("merge a branch", "POST /branches/nobodys/merge", ["write"], undefined, { status: 404 }),
  call("update a branch", "POST /branches/nobodys/update", ["write"], undefined, { status: 404 }),
  call("make a link for reading", "POST /links", ["write", "read"], { path: "{file}", for: "read" }),
  call("make a link for writing", "POST /links", ["write"], { path: "{file}", for: "write" }),
];

export const PROJECT_ROUTES: readonly RouteCall[] = [
  call("project", "GET /project", []),
  call("activity", "GET /project/activity", ["read"]),
  call("usage", "GET /project/usage", []),
  call("rename", "PATCH /project", ["admin"], { name: "Renamed" }),
  call("delete", "DELETE /project?confirm=another", ["admin"], undefined, {
    status: 400,
    isForOwner: true,
  }),
  call("list keys", "GET /project/apikeys", ["admin"]),
  call("make a key", "POST /project/apikeys", ["admin"], {}),
  call("rotate a key", `POST /project/apikeys/${NOBODYS_KEY}/rotate`, ["admin"], undefined, { status: 404 }),
  call("change a key", `PATCH /project/apikeys/${NOBODYS_KEY}`, ["admin"], {}, { status: 404 }),
  call("revoke a key", `DELETE /project/apikeys/${NOBODYS_KEY}`, ["admin"], undefined, { status: 404 }),
  call("regenerate", "POST /project/apikey/regenerate", ["admin"]),
  call("webhooks", "GET /project/webhooks", ["admin"]),
  call("make a webhook", "POST /project/webhooks", ["admin"], { url: "https://198.51.100.1/" }, {
    status: 400,
  }),
  call("change a webhook", `PATCH ${NOBODYS_WEBHOOK}`, ["admin"], {}, { status: 404 }),
  call("delete a webhook", `DELETE ${NOBODYS_WEBHOOK}`, ["admin"], undefined, { status: 404 }),
  call("test a webhook", `POST ${NOBODYS_WEBHOOK}/test`, ["admin"], undefined, { status: 404 }),
  call("replay a webhook", `POST ${NOBODYS_WEBHOOK}/replay`, ["admin"], { after: "0".repeat(32) }, {
    status: 404,
  }),
  call("deliveries", `GET ${NOBODYS_WEBHOOK}/deliveries`, ["admin"], undefined, { status: 404 }),
];

/** With a person's token alone; the scopes are those of the person's role. */
export const MEMBER_ROUTES: readonly RouteCall[] = [
  call("members", "GET /project/members", []),
  call("invite", "POST /project/members", ["admin"], { email: "{new}@example.org", role: "viewer" }),
  call("change a member", `PATCH /project/members/${NOBODYS_KEY}`, ["admin"], { role: "admin" }, {
    status: 404,
  }),
  call("remove a member", `DELETE /project/members/${NOBODYS_KEY}`, ["admin"], undefined, { status: 404 }),
  call("transfer", "POST /project/transfer", ["admin"], { memberId: NOBODYS_KEY }, {
    status: 404,
    isForOwner: true,
  }),
];

/** The call with `{file}` replaced by this path. */
export function aboutFile({ path, body, headers }: RouteCall, file: string) {
  const filled: unknown = typeof body === "object"
    ? JSON.parse(JSON.stringify(body).replaceAll("{file}", file).replaceAll("{new}", crypto.randomUUID()))
    : body;
  return {
    path: path.replace("{file}", encodeURIComponent(file)),
    options: { body: filled, ...headers && { headers } },
  };
}
