/** Every operation, called for one project in every way that could reach the rows of another. */
import type postgres from "postgres";
import { objectName, type Project } from "../support/postgres/postgres_filestore.ts";
import { sqlNumber } from "../support/postgres/sql_number.ts";

const SEARCH_SHARED_BYTES_MIN = sqlNumber("01_limits.sql", "search_shared_bytes_min");

/** The difference between two filled projects: both have the same paths, and the other one has more. */
export interface Contents {
  readonly segmentSize: number;
  readonly versions: number;
  readonly isOther: boolean;
}

export const OWN: Contents = { segmentSize: 10, versions: 2, isOther: false };
export const OTHER: Contents = { segmentSize: 1000, versions: 4, isOther: true };

const FINGERPRINT = "ab".repeat(32);
/** The ids of the two projects, fixed so that a call can name the other's. */
export const OWN_IDS = ids("0a");
export const OTHER_IDS = ids("0b");

function ids(start: string) {
  const id = (kind: string) => `${start}000000-0000-4000-8${kind}00-000000000000`;
  return { projectId: id("1"), keyId: id("2"), accountId: id("3") };
}

/** A fixed id, so that a call can name a segment of the other project. */
export function segmentId(contents: Contents, number: number): string {
  return `${contents.isOther ? "0b" : "0a"}000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}

export function commitId(contents: Contents, number: number): string {
  return segmentId(contents, number).replace("-4000-", "-4001-");
}

/** The hashes of the link tokens of both projects, abbreviated. */
const OWN_LINKS = { read: "0f", write: "10" };
const OTHER_LINKS = { read: "0c", write: "0d" };

/** The id of the link whose token's hash begins with this. */
function linkId(token: string): string {
  return `${token}000000-0000-4000-8000-000000000000`;
}

function runOf(path: string): string {
  if (path === "notes/a.txt") return "nightly";
  return path.startsWith("only") ? "secret" : "daily";
}

/** Writes the contents through the operations, as `service_role`. */
export async function fill(sql: postgres.Sql, project: Project, contents: Contents): Promise<void> {
  let number = 0;
  const commit = async (kind: string, path: string, withSegment = true, extra: object = {}) => {
    number++;
    const id = segmentId(contents, number);
    const segment = { ...segmentOf(id, contents.segmentSize), name: objectName(project.id, id) };
    const body = {
      path,
      commitId: commitId(contents, number),
      segments: withSegment ? [segment] : [],
      ...kind === "write" ? { mimeType: "text/plain" } : {},
      provenance: { runId: runOf(path), actor: contents.isOther ? "b" : "a" },
      ...extra,
    };
    const requestId = contents.isOther ? crypto.randomUUID() : null;
    const [row] = await sql<{ answer: { refusal?: object } }[]>`
      select public.filestore_commit(${project.keyHash}, ${requestId}::uuid, ${kind}, ${
      JSON.stringify(body)
    }::text::jsonb) as answer`;
    if (row?.answer.refusal) throw new Error(`${kind} ${path}: ${JSON.stringify(row.answer.refusal)}`);
  };
  await commit("write", "notes/a.txt");
  for (let i = 1; i < contents.versions; i++) await commit("append", "notes/a.txt");
  await commit("write", "notes/deep/b.txt", true, { provenance: { runId: "of both" } });
  await commit("write", "gone.txt");
  await commit("delete", "gone.txt", false);
  const branch = { name: "both", directory: "notes", expiresIn: 3600, commitId: commitId(contents, 850) };
  await sql`select public.filestore_create_branch(${project.keyHash}, null, ${
    JSON.stringify(branch)
  }::text::jsonb)`;
  await commit("write", ".branches/both/a.txt");
  const webhook = { ...WEBHOOK, id: segmentId(contents, 915), events: ["change", "branch.ready"] };
  await sql`select public.filestore_administer(${project.keyHash}, null, 'create_webhook', ${
    JSON.stringify(webhook)
  }::text::jsonb)`;
  if (!contents.isOther) return await makeLinks(sql, project, "notes/a.txt", OWN_LINKS);
  await commit("write", "only/secret.txt", true, { provenance: { runId: "of the other", actor: "other" } });
  await commit("append", "only/secret.txt", true, { provenance: { runId: "of both" } });
  await commit("write", "only-gone.txt");
  await commit("delete", "only-gone.txt", false);
  const idempotency = { key: "again", fingerprint: FINGERPRINT };
  await commit("write", "only/once.txt", true, { idempotency });
  const other = { ...branch, name: "secret", directory: "only", commitId: commitId(contents, 851) };
  await sql`select public.filestore_create_branch(${project.keyHash}, null, ${
    JSON.stringify(other)
  }::text::jsonb)`;
  await makeLinks(sql, project, "only/secret.txt", OTHER_LINKS);
}

async function makeLinks(
  sql: postgres.Sql,
  project: Project,
  path: string,
  tokens: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [kind, token] of Object.entries(tokens)) {
    const made = { id: linkId(token), tokenHash: token.repeat(32), for: kind, path, expiresIn: 3600 };
    await sql`select public.filestore_create_link(${project.keyHash}, null, ${
      JSON.stringify(made)
    }::text::jsonb)`;
  }
}

/** Does the work of an indexing run: every file's text is indexed, and the last one has a row in the queue. */
export async function index(sql: postgres.Sql, project: Project, contents: Contents): Promise<void> {
  const [row] = await sql<{ lease: { leaseId: string; files: postgres.JSONValue[] } }[]>`
    select public.filestore_search_lease(1, 100, 1000000, 10, 60) as lease`;
  if (!row) throw new Error("nothing was leased");
  const texts = row.lease.files.map((file, place) => ({
    ...Object(file),
    // Every second text is long enough to be stored once for several files.
    content: (contents.isOther ? "common and secret words" : "common words") +
      " plain".repeat(place % 2 * SEARCH_SHARED_BYTES_MIN),
    skipped: null,
    chunks: [[1, 0, 6]],
  }));
  await sql`select public.filestore_search_store(${row.lease.leaseId}, ${
    JSON.stringify(texts)
  }::text::jsonb)`;
  const commitBody = {
    path: "notes/deep/b.txt",
    commitId: commitId(contents, 800),
    segments: [{
      ...segmentOf(segmentId(contents, 800), contents.segmentSize),
      name: objectName(project.id, segmentId(contents, 800)),
    }],
  };
  await sql`select public.filestore_commit(${project.keyHash}, null, 'append', ${
    JSON.stringify(commitBody)
  }::text::jsonb)`;
}

function segmentOf(id: string, size: number) {
  const name = objectName("00000000-0000-4000-8000-000000000000", id);
  return { id, name, size, sha256: "00".repeat(32), newlines: 0, endsWithNewline: false, isText: true };
}

export interface Call {
  readonly operation: string;
  readonly what: string;
  /** An SQL expression; `$1` is the hash of the calling project's key. */
  readonly sql: string;
  readonly caller: "service_role" | "authenticated";
}

function call(operation: string, what: string, parameters: string): Call {
  return { operation, what, sql: `public.${operation}($1, ${parameters})`, caller: "service_role" };
}

function purgeOf(path: string): string {
  return `null, 'purge', '${JSON.stringify({ path, commitId: "0e000000-0000-4000-8000-000000000000" })}'`;
}

/** A call by the account that owns the calling project. */
function account(operation: string, what: string, parameters: string): Call {
  return { operation, what, sql: `public.${operation}(${parameters})`, caller: "authenticated" };
}

function administer(what: string, action: string, parameters: object): Call[] {
  const given = `'${action}', '${JSON.stringify(parameters)}'`;
  return [
    call("filestore_administer", what, `null, ${given}`),
    account("filestore_account_administer", `${what}, of the own project`, `null, ${given}`),
    account(
      "filestore_account_administer",
      `${what}, of the other's project`,
      `'${OTHER_IDS.projectId}', ${given}`,
    ),
  ];
}

function record(what: string, parameters: string): Call {
  return call("filestore_content", `the record of ${what}`, `${parameters}, p_with_segments => false`);
}

function list(what: string, query: object): Call {
  const whole = {
    directory: "",
    recursive: false,
    limit: 100,
    offset: 0,
    sortBy: "path",
    sortOrder: "asc",
    ...query,
  };
  return call("filestore_list", what, `null, '${JSON.stringify(whole)}'`);
}

function changes(what: string, query: object): Call {
  return call("filestore_changes", what, `null, '${JSON.stringify({ limit: 100, ...query })}'`);
}

function search(what: string, query: object): Call {
  const whole = {
    kind: "scan",
    clauses: [],
    caseSensitive: true,
    directory: "",
    files: 100,
    skip: 0,
    bytes: 1000000,
  };
  return call("filestore_search", what, `null, '${JSON.stringify({ ...whole, ...query })}'`);
}

function commit(what: string, kind: string, change: { path: string; [key: string]: unknown }): Call {
  const body = {
    commitId: commitId(OWN, 900),
    ...kind === "write" ? { mimeType: "text/css" } : {},
    ...change,
  };
  return call("filestore_commit", what, `null, '${kind}', '${JSON.stringify(body)}'`);
}

function batch(what: string, operations: readonly object[]): Call {
  const body = { commitId: commitId(OWN, 900), operations };
  return call("filestore_commit_many", what, `null, 1, 'batch', '${JSON.stringify(body)}'`);
}

/** An operation on many files: the commit, and the plan if the operation has one. */
function many(what: string, kind: string, fields: object): Call[] {
  const body = JSON.stringify({ commitId: commitId(OWN, 900), dryRun: false, onConflict: "skip", ...fields });
  const isBack = kind === "undo" || kind === "restore_folder" || kind.endsWith("_branch");
  return [
    call("filestore_commit_many", what, `null, 1, '${kind}', '${body}'`),
    ...isBack ? [call("filestore_plan", what, `null, '${kind}', '${body}'`)] : [],
  ];
}

function compact(what: string, path: string, run: readonly string[], size: number): Call {
  const compacted = JSON.stringify([segmentOf(segmentId(OWN, 901), size)]);
  return call("filestore_compact", what, `null, '${path}', '{${run.join(",")}}', '${compacted}'`);
}

function createBranch(what: string, name: string, directory: string): Call {
  const given = { name, directory, expiresIn: 3600, commitId: commitId(OWN, 853) };
  return call("filestore_create_branch", what, `null, '${JSON.stringify(given)}'`);
}

/** A call with a link's token. It is the same for every project, since such a call takes no key. */
function useLink(operation: string, token: string, parameter: string): Call {
  return {
    operation,
    what: "an own link",
    sql: `public.${operation}(coalesce('${token.repeat(32)}', $1), null, '${parameter}')`,
    caller: "service_role",
  };
}

function makeLink(what: string, kind: string, path: string): Call {
  const made = { id: linkId("0e"), tokenHash: "0e".repeat(32), for: kind, path, expiresIn: 60 };
  return call("filestore_create_link", what, `null, '${JSON.stringify(made)}'`);
}

const APP = {
  name: "app",
  scopes: ["read"],
  clientHash: "06".repeat(32),
  clientName: "app",
  clientHost: "app.example.com",
  redirectUri: "https://app.example.com/",
  challenge: "c".repeat(43),
};

const WEBHOOK = { url: "https://hooks.example.com/", secret: "encrypted" };
const OTHER_WEBHOOK = segmentId(OTHER, 915);

const added = [segmentOf(segmentId(OWN, 902), 7)];

/**
 * Operations of apps, which find a row by the hash of a secret alone, and that of an invitation, which finds it by a
 * confirmed address: without that, no guard is needed to find none.
 */
export const BY_SECRET: readonly string[] = [
  "filestore_account_answer_invitation",
  "filestore_account_request",
  "filestore_app_exchange",
  "filestore_app_refresh",
  "filestore_app_revoke",
];

export const calls: readonly Call[] = [
  call("filestore_authorize", "a path that the other has", "null, 'only/secret.txt'"),
  call("filestore_authorize", "a path that both have", "null, 'notes/a.txt'"),
  call("filestore_authorize", "the state of the limit", "null"),
  call("filestore_authorize", "a counted request", "gen_random_uuid()"),
  ...["project", "keys", "activity"].flatMap((action) => administer(action, action, { limit: 100 })),
  ...administer("a preview of a rule", "rename", { dryRun: true, retention: { keepVersions: 1 } }),
  ...administer("usage", "usage", {}),
  ...administer("usage of the other's key", "usage", { keyId: OTHER_IDS.keyId }),
  ...administer("rename", "rename", { name: "renamed" }),
  ...administer("make a key", "create_key", {
    environment: "production",
    scopes: ["read"],
    keyHash: "01".repeat(32),
    prefix: "oa_new",
  }),
  ...administer("revoke the other's key", "revoke_key", { id: OTHER_IDS.keyId }),
  ...administer("change the other's key", "change_key", { id: OTHER_IDS.keyId, name: "changed" }),
  ...administer("rotate the other's key", "rotate_key", {
    id: OTHER_IDS.keyId,
    keyHash: "02".repeat(32),
    prefix: "oa_new",
  }),
  ...administer("regenerate", "regenerate_key", { keyHash: "03".repeat(32), prefix: "oa_new" }),
  ...administer("webhooks", "webhooks", {}),
  ...administer("make a webhook", "create_webhook", { ...WEBHOOK, id: segmentId(OWN, 914) }),
  ...administer("change the other's webhook", "change_webhook", { id: OTHER_WEBHOOK, state: "paused" }),
  ...administer("test the other's webhook", "test_webhook", { id: OTHER_WEBHOOK }),
  ...administer("replay the other's webhook", "replay_webhook", { id: OTHER_WEBHOOK, after: "0".repeat(32) }),
  ...administer("deliveries of the other's webhook", "webhook_deliveries", { id: OTHER_WEBHOOK }),
  ...administer("delete the other's webhook", "delete_webhook", { id: OTHER_WEBHOOK }),
  ...administer("delete", "delete", { confirm: "own", deletionId: segmentId(OWN, 911) }),
  account("filestore_account_delete", "an account", `'${OWN_IDS.accountId}', '${segmentId(OWN, 912)}'`),
  account("filestore_account_describe", "the account", ""),
  account("filestore_account_projects", "the account's projects", ""),
  account(
    "filestore_account_create_project",
    "a name that the other has",
    `'other', '${segmentId(OWN, 910)}'`,
  ),
  ...["own", "other"].map((whose) =>
    account(
      "filestore_account_administer",
      `a session in the ${whose} project`,
      `'${(whose === "own" ? OWN_IDS : OTHER_IDS).projectId}', 'session', '{"tokenHash": "${
        "04".repeat(32)
      }"}'`,
    )
  ),
  ...["members", "invite", "change_member", "remove_member", "transfer"].flatMap((action) =>
    [OWN_IDS, OTHER_IDS].map(({ projectId, accountId }) =>
      account(
        "filestore_account_members",
        `${action}, of the owner of ${projectId}`,
        `'${projectId}', '${action}', '{"id": "${accountId}", "email": "a@example.org", "role": "admin"}'`,
      )
    )
  ),
  account(
    "filestore_account_answer_invitation",
    "an invitation of the other",
    `'${OTHER_IDS.accountId}', true`,
  ),
  account("filestore_account_request", "a request that nobody answered", `'${segmentId(OWN, 913)}'`),
  ...["own", "other"].map((whose) =>
    account(
      "filestore_account_consent",
      `an app in the ${whose} project`,
      `'${segmentId(OWN, 913)}', '${"05".repeat(32)}', '${
        (whose === "own" ? OWN_IDS : OTHER_IDS).projectId
      }', '${JSON.stringify(APP)}'`,
    )
  ),
  call("filestore_app_exchange", "a key as the code", `'${"06".repeat(32)}', 'https://a/', 'c', '07', '08'`),
  call("filestore_app_refresh", "a key as the token", `'${"06".repeat(32)}', '{read}', '07', '08'`),
  call("filestore_app_revoke", "a key as the token", `'${"06".repeat(32)}'`),
  record("a path that both have", "null, 'notes/a.txt'"),
  record("a path that the other has", "null, 'only/secret.txt'"),
  record("a version that the other has", "null, 'notes/a.txt', 4"),
  record("what both had", "null, 'notes/a.txt', p_at => '2026-01-01'"),
  record("what the other had", "null, 'only/secret.txt', p_at => '2026-01-01'"),
  record("a path that the other deleted", "null, 'only-gone.txt'"),
  call("filestore_content", "a path that both have", "null, 'notes/a.txt'"),
  call("filestore_content", "a path that the other has", "null, 'only/secret.txt'"),
  call("filestore_content", "a version that the other has", "null, 'notes/a.txt', 3"),
  call("filestore_content", "a version that both have", "null, 'notes/a.txt', 1"),
  call(
    "filestore_content",
    "an idempotency key that the other used",
    `null, 'notes/a.txt', null, '{"key": "again", "fingerprint": "${FINGERPRINT}"}'`,
  ),
  call("filestore_versions", "a path that both have", "null, 'notes/a.txt', 100, 0"),
  call("filestore_versions", "a path that the other has", "null, 'only/secret.txt', 100, 0"),
  call("filestore_diff", "a path that both have", "null, 'notes/a.txt'"),
  call("filestore_diff", "a path that the other has", "null, 'only/secret.txt'"),
  call("filestore_diff", "versions that the other has", "null, 'notes/a.txt', 3, 4"),
  call(
    "filestore_diff",
    "with a path that the other has",
    "null, 'notes/a.txt', p_to_path => 'only/secret.txt'",
  ),
  call(
    "filestore_diff",
    "of a path that the other has",
    "null, 'only/secret.txt', p_to_path => 'notes/a.txt'",
  ),
  call("filestore_diff", "of versions that the other has", "null, 'notes/a.txt', 4, 3, 'notes/a.txt'"),
  changes("all", {}),
  changes("the last ones", { newestFirst: true, limit: 2 }),
  changes("a cursor alone", { after: "now" }),
  changes("of a path that both have", { path: "notes/a.txt" }),
  changes("of a path that the other has", { path: "only/secret.txt" }),
  changes("below a directory that the other has", { directory: "only" }),
  changes("of a run that both have", { run: "nightly" }),
  changes("of a run that the other has", { run: "secret" }),
  changes("of the other's key", { keyId: OTHER_IDS.keyId }),
  call("filestore_export", "all", "null, ''"),
  call("filestore_export", "as it was", "null, '', '2026-01-01'"),
  call("filestore_export", "a directory that the other has", "null, 'only'"),
  call("filestore_runs", "all", "null, 100, null"),
  call("filestore_run", "one that both have", "null, 'nightly', 100, null"),
  call("filestore_run", "one that the other has", "null, 'secret', 100, null"),
  call("filestore_branches", "all", "null, null, 100, null"),
  ...["both", "secret"].flatMap((name) => [
    call("filestore_branch", name, `null, '${name}', 100, null`),
    call(
      "filestore_change_branch",
      name,
      `null, '${name}', '{"commitId": "${commitId(OWN, 852)}", "state": "closed"}'`,
    ),
    call("filestore_remove_branch_files", name, `null, '${name}'`),
    createBranch("a name that is taken here or there", name, "notes"),
    ...["merge_branch", "update_branch"].flatMap((kind) =>
      many(`${kind} ${name}`, kind, { branch: name, onConflict: "branch", keep: false })
    ),
  ]),
  createBranch("a folder that the other has", "new", "only"),
  record("what is in a branch of both", "null, '.branches/both/a.txt'"),
  record("what is in a branch of the other", "null, '.branches/secret/secret.txt'"),
  list("a branch of both", { directory: ".branches/both", recursive: true }),
  list("the root", {}),
  list("everything", { recursive: true }),
  list("a directory that both have", { directory: "notes" }),
  list("a directory that the other has", { directory: "only" }),
  list("by size", { recursive: true, sortBy: "size", sortOrder: "desc", limit: 1 }),
  list("with a filter", { recursive: true, minSize: 500 }),
  list("behind a cursor", { recursive: true, after: "gone.txt" }),
  list("as it was", { recursive: true, at: "2026-01-01" }),
  list("directories as they were", { at: "2026-01-01" }),
  list("deleted files", { deleted: true, recursive: true }),
  list("directories of deleted files", { deleted: true }),
  search("every text", {}),
  search("a text that both have", { clauses: [["common"]] }),
  search("a text that the other has", { clauses: [["secret"]] }),
  search("without case", { clauses: [["COMMON"]], caseSensitive: false }),
  search("a directory that the other has", { directory: "only" }),
  search("behind a path", { after: "notes/a.txt" }),
  search("a glob", { glob: "^only/[^/]*$" }),
  search("words that both have", { kind: "rank", words: "common" }),
  search("words that the other has", { kind: "rank", words: "secret" }),
  search("words, one file only", { kind: "rank", words: "common", files: 1 }),
  commit("write a path that both have", "write", { path: "notes/a.txt", segments: added }),
  commit("write a path that the other has", "write", { path: "only/secret.txt", segments: added }),
  commit("write over a deleted path", "write", { path: "gone.txt", segments: added }),
  commit("write with a commit id of the other", "write", {
    path: "notes/a.txt",
    segments: added,
    commitId: commitId(OTHER, 1),
  }),
  commit("write up to the own quota", "write", {
    path: "big.txt",
    segments: [segmentOf(segmentId(OWN, 903), 450)],
  }),
  commit("create a path that the other has", "write", {
    path: "only/secret.txt",
    segments: [],
    ifNoneMatch: ["*"],
  }),
  commit("write with an idempotency key that the other used", "write", {
    path: "notes/a.txt",
    segments: added,
    idempotency: { key: "again", fingerprint: "cd".repeat(32) },
  }),
  commit("overwrite a path that the other has", "overwrite", { path: "only/secret.txt", segments: added }),
  commit("append to a path that both have", "append", { path: "notes/a.txt", segments: added }),
  commit("append to a path that the other has", "append", { path: "only/secret.txt", segments: added }),
  commit("edit a path that both have", "edit", {
    path: "notes/a.txt",
    segments: added,
    baseVersion: 2,
    segmentIds: [segmentId(OWN, 1), segmentId(OWN, 902)],
  }),
  commit("edit with a segment of the other", "edit", {
    path: "notes/a.txt",
    segments: [],
    baseVersion: 2,
    segmentIds: [segmentId(OTHER, 1)],
  }),
  commit("delete a path that the other has", "delete", { path: "only/secret.txt" }),
  commit("delete a path that both have", "delete", { path: "notes/a.txt" }),
  commit("restore a version that the other has", "restore", { path: "notes/a.txt", version: 4 }),
  commit("restore a path that the other deleted", "restore", { path: "only-gone.txt", version: 1 }),
  commit("copy from a path that the other has", "copy", { path: "only/secret.txt", destination: "mine.txt" }),
  commit("copy onto a path that the other has", "copy", {
    path: "notes/a.txt",
    destination: "only/secret.txt",
  }),
  commit("move onto a path that the other has", "move", {
    path: "notes/a.txt",
    destination: "only/secret.txt",
  }),
  commit("move a path that the other has", "move", {
    path: "only/secret.txt",
    destination: "mine.txt",
  }),
  batch("paths that the other has", [
    { kind: "write", path: "only/secret.txt", segments: added, mimeType: "text/css" },
    { kind: "append", path: "notes/a.txt", segments: [] },
    { kind: "copy", path: "notes/a.txt", destination: "only/copy.txt" },
  ]),
  batch("a source that the other has", [
    { kind: "delete", path: "notes/a.txt" },
    { kind: "move", path: "only/secret.txt", destination: "mine.txt" },
  ]),
  ...many("copy a folder that both have", "copy_folder", { path: "notes", destination: "copy" }),
  ...many("copy a folder that the other has", "copy_folder", { path: "only", destination: "copy" }),
  ...many("copy onto a folder that the other has", "copy_folder", { path: "notes", destination: "only" }),
  ...many("move a folder that both have", "move_folder", { path: "notes", destination: "moved" }),
  ...many("move a folder that the other has", "move_folder", { path: "only", destination: "moved" }),
  ...many("delete a folder that both have", "delete_folder", { path: "notes" }),
  ...many("delete a folder that the other has", "delete_folder", { path: "only" }),
  ...many("undo a run that both have", "undo", { run: "of both" }),
  ...many("undo a run that the other has", "undo", { run: "of the other" }),
  ...many("undo what the other's key did in a run that both have", "undo", {
    run: "of both",
    keys: [OTHER_IDS.keyId],
  }),
  ...many("restore the root", "restore_folder", { directory: "", at: "2026-01-01" }),
  ...many("restore a folder that the other has", "restore_folder", { directory: "only", at: "2026-01-01" }),
  makeLink("read a path that the other has", "read", "only/secret.txt"),
  makeLink("read a path that both have", "read", "notes/a.txt"),
  makeLink("write a path that the other has", "write", "only/secret.txt"),
  call("filestore_commit", "purge a path that both have", purgeOf("notes/a.txt")),
  call("filestore_commit", "purge a path that the other has", purgeOf("only/secret.txt")),
  call("filestore_redact", "versions of a path that both have", `null, 'notes/a.txt', '{1}', null`),
  call("filestore_redact", "versions of a path that the other has", `null, 'only/secret.txt', '{1}', null`),
  call("filestore_list_links", "all", "null"),
  call("filestore_revoke_link", "one of the other", `null, '${linkId(OTHER_LINKS.read)}'`),
  useLink("filestore_link", OWN_LINKS.read, "read"),
  useLink("filestore_link", OWN_LINKS.write, "write"),
  useLink(
    "filestore_link_commit",
    OWN_LINKS.write,
    JSON.stringify({
      commitId: commitId(OTHER, 1),
      segments: [],
      mimeType: "text/css",
    }),
  ),
  // The edge function names the project, whoever its caller is.
  {
    operation: "filestore_webhook_step",
    what: "the other's webhook, as one of the own project",
    sql:
      `case when $1 <> '' then public.filestore_webhook_step('${OWN_IDS.projectId}', '${OTHER_WEBHOOK}', null) end`,
    caller: "service_role",
  },
  compact("a run of both", "notes/a.txt", [segmentId(OWN, 1), segmentId(OWN, 2)], 20),
  compact("a run of the other", "notes/a.txt", [segmentId(OTHER, 1), segmentId(OTHER, 2)], 2000),
  compact("a path that the other has", "only/secret.txt", [segmentId(OTHER, 8), segmentId(OTHER, 9)], 2000),
];
