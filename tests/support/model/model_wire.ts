/** Sends the model's operations over HTTP, and checks the answers against those that the model expects. */
import { assertEquals, assertGreaterOrEqual, assertMatch } from "@std/assert";
import { applyPatch } from "diff";
import { z } from "zod";
import type { Api, RequestOptions } from "../client/api.ts";
import { type Answer, assertRefused, newLink, statusOf, TIMESTAMP } from "../client/contract.ts";
import { encodePath } from "../client/files.ts";
import { kept } from "./model.ts";
import type { BranchRecord, BranchRequest } from "./model_branches.ts";
import type {
  BackWritten,
  Batch,
  BatchWritten,
  FolderWritten,
  Many,
  Preview,
  Purge,
  Purged,
  Redact,
  Redacted,
  Refused,
  Write,
  Written,
} from "./model.ts";
import {
  type Bytes,
  type Compared,
  type Data,
  type Diff,
  type List,
  type Metadata,
  type NotModified,
  type Read,
  recordOf,
  tagOf,
  type Versions,
} from "./model_reads.ts";

/** A request with every choice fixed. */
export type Request =
  | BranchRequest
  | Batch
  | Many
  | Purge
  | Redact
  | Write
  | Read
  | Metadata
  | Versions
  | Diff
  | List;
export type Expected =
  | Refused
  | Written
  | BatchWritten
  | FolderWritten
  | BackWritten
  | BranchRecord
  | Purged
  | Redacted
  | Preview
  | Data
  | Bytes
  | NotModified
  | Compared;

type Loose<Fields> = { readonly [name in keyof Fields]: Fields[name] | undefined };

/** Method, path and the rest of a request. Fields that are undefined are not sent. */
type Sent = readonly [
  string,
  string,
  {
    readonly headers?: Loose<Record<string, string>>;
    readonly query?: Loose<NonNullable<RequestOptions["query"]>>;
    readonly body?: unknown;
  }?,
];

const OPERATION_NAMES: Readonly<Record<Request["kind"], string>> = {
  batch: "batch",
  write: "write_file",
  append: "write_file",
  overwrite: "write_file",
  edit: "write_file",
  delete: "delete_file",
  purge: "purge_file",
  redact: "redact_versions",
  restore: "restore_file",
  copy: "copy_file",
  move: "move_file",
  read: "read_file",
  metadata: "get_file_metadata",
  versions: "get_file_versions",
  diff: "diff_file",
  list: "list_files",
  copy_folder: "copy_folder",
  move_folder: "move_folder",
  delete_folder: "delete_folder",
  undo_run: "undo_run",
  restore_folder: "restore_folder",
  create_branch: "create_branch",
  get_branch: "get_branch",
  close_branch: "change_branch",
  merge_branch: "merge_branch",
  update_branch: "update_branch",
};

export async function send(api: Api, key: string, request: Request): Promise<Answer> {
  const [method, path, { headers = {}, query = {}, body } = {}] = sentOf(request);
  const options = { headers: given(headers), query: given(query), body };
  if (!isByLink(request)) return await api.request(key, method, path, options);
  const { path: file, type: contentType, ifVersion } = request;
  const link = { path: file, for: "write", contentType, ifVersion };
  const { data } = z.object({ data: newLink }).parse(
    (await api.request(key, "POST", "/links", { body: link })).body,
  );
  const { "content-type": _, ...others } = options.headers;
  return await api.request(null, "PUT", data.url.slice(data.url.indexOf("/l/")), { headers: others, body });
}

function given<Value>(fields: Readonly<Record<string, Value | undefined>>): Record<string, Value> {
  const all = Object.entries(fields);
  return Object.fromEntries(all.flatMap(([name, value]) => value === undefined ? [] : [[name, value]]));
}

/**
 * Some raw writes use a link, which must act like any other write. Each link is for one write, so such writes have no
 * key.
 */
function isByLink(request: Request): request is Write & { kind: "write" } {
  if (request.kind !== "write" || request.form !== "raw" || request.key !== undefined) return false;
  return request.bytes.length % 2 === 0;
}

const file = (path: string) => `/files/${encodePath(path)}`;

function sentOf(request: Request): Sent {
  switch (request.kind) {
    case "read": {
      const { path, version, encoding, lines, as, range, ifRange, ifNoneMatch } = request;
      const headers = {
        accept: as === "raw" ? "application/octet-stream" : undefined,
        range: range && `bytes=${range.first ?? ""}-${range.last ?? ""}`,
        "if-range": ifRange,
        "if-none-match": ifNoneMatch,
      };
      return ["GET", file(path), { query: { version, encoding, lines: linesText(lines) }, headers }];
    }
    case "metadata": {
      const { path, version, ifNoneMatch } = request;
      return ["GET", file(path), {
        query: { metadata: "", version },
        headers: { "if-none-match": ifNoneMatch },
      }];
    }
    case "versions": {
      const { kind: _, path, ...page } = request;
      return ["GET", file(path), { query: { versions: "", ...page } }];
    }
    case "diff":
      return ["GET", `/diff/${encodePath(request.path)}`, { query: { from: request.from, to: request.to } }];
    case "list": {
      const { kind: _, ...query } = request;
      return ["GET", "/files", { query }];
    }
    case "batch": {
      const operations = request.operations.map(batchOperation);
      return ["POST", "/batch", { headers: saidWith(request), body: { operations } }];
    }
    case "purge":
      return ["DELETE", `${file(request.path)}?purge`];
    case "redact":
      return ["POST", `/files/redact/${encodePath(request.path)}`, { body: { versions: request.versions } }];
    case "copy_folder":
    case "move_folder":
    case "delete_folder":
    case "undo_run":
    case "restore_folder":
      return manySent(request);
    case "create_branch": {
      const { name, directory } = request;
      return ["POST", "/branches", { body: { name, directory } }];
    }
    case "get_branch":
      return ["GET", `/branches/${request.name}`];
    case "close_branch":
      return ["PATCH", `/branches/${request.name}`, { body: { state: "closed" } }];
    case "merge_branch":
    case "update_branch": {
      const { kind, name, run, onConflict, dryRun, keep } = request;
      const path = `/branches/${name}/${kind.replace("_branch", "")}`;
      return ["POST", path, { headers: { "x-run-id": run }, body: { onConflict, dryRun, keep } }];
    }
    default:
      return writeSent(request);
  }
}

function saidWith({ run, key }: Batch | Many | Write) {
  return { "idempotency-key": key, "x-run-id": run };
}

function manySent(change: Many): Sent {
  const headers = saidWith(change);
  switch (change.kind) {
    case "delete_folder":
      return ["DELETE", `/folders/${encodePath(change.path)}`, { headers }];
    case "copy_folder":
    case "move_folder": {
      const { kind, path, destination, overwrite, moment } = change;
      const query = { at: moment?.at };
      const body = { path, destination, overwrite };
      return ["POST", `/folders/${kind.replace("_folder", "")}`, { headers, query, body }];
    }
    case "undo_run": {
      const { undoes, onConflict, dryRun } = change;
      return ["POST", `/runs/${undoes}/undo`, { headers, body: { onConflict, dryRun } }];
    }
    case "restore_folder": {
      const { directory, moment, dryRun } = change;
      return ["POST", "/restore", { headers, body: { directory, at: moment.at, dryRun } }];
    }
  }
}

function batchOperation({ kind: op, ifMatch: _, ifNoneMatch: __, run: ___, key: ____, ...write }: Write) {
  if ("bytes" in write) {
    const { bytes, form, type, ...rest } = write;
    return { op, ...rest, ...jsonContent(bytes, form), ...(type !== undefined && { contentType: type }) };
  }
  if (!("edits" in write)) return { op, ...write };
  const { edits, dryRun: _dry, ...rest } = write;
  return { op, ...rest, ...(edits.length === 1 ? edits[0] : { edits }) };
}

/** JSON has no form for raw bytes. */
function jsonContent(bytes: Uint8Array, form: "text" | "base64" | "raw") {
  return form === "text"
    ? { content: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) }
    : { content: bytes.toBase64(), isBase64: true };
}

function writeSent(write: Write): Sent {
  const headers = {
    "if-match": write.ifMatch,
    "if-none-match": write.ifNoneMatch,
    ...saidWith(write),
  };
  const { ifVersion } = write;
  const put = (fields: object): Sent => [
    "PUT",
    `/files/${write.kind}/${encodePath(write.path)}`,
    { headers, body: { ...fields, ifVersion } },
  ];
  switch (write.kind) {
    case "write":
    case "append":
    case "overwrite":
      return contentSent(write, headers);
    case "edit": {
      const { edits, dryRun } = write;
      return put({ ...edits.length === 1 ? edits[0] : { edits }, dryRun });
    }
    case "delete":
      return ["DELETE", file(write.path), { headers, query: { ifVersion } }];
    case "restore":
      return put({ version: write.version });
    case "copy":
    case "move":
      return put({ destination: write.destination, overwrite: write.overwrite });
  }
}

function contentSent(
  write: Write & { kind: "write" | "append" | "overwrite" },
  headers: Loose<Record<string, string>>,
): Sent {
  const { kind, path, bytes, form, ifVersion } = write;
  const [method, route] = kind === "write"
    ? ["POST", "/files"]
    : ["PUT", `/files/${kind}/${encodePath(path)}`];
  const contentType = kind === "write" ? write.type : undefined;
  const fields = { ...kind === "write" && { path, contentType }, ifVersion };
  if (form !== "raw") return [method, route, { headers, body: { ...fields, ...jsonContent(bytes, form) } }];
  // Half of the raw appends are marked by a parameter, the others by their type; a type of a write is either.
  const isMarked = kind !== "write" && bytes.length % 2 === 0;
  const inHeader = kind === "write" ? contentType?.startsWith("text/") === false : !isMarked;
  const type = inHeader ? contentType ?? "application/octet-stream" : undefined;
  const query = { ...fields, ...inHeader && { contentType: undefined }, ...isMarked && { raw: "" } };
  return [method, route, { headers: { ...headers, "content-type": type }, query, body: bytes }];
}

function linesText(lines: Read["lines"]): string | undefined {
  if (!lines) return undefined;
  return "last" in lines ? `-${lines.last}` : `${lines.from}-${lines.to ?? ""}`;
}

/** Throws if the answer is not the expected one. New times and ids are stored in the model. */
export function check(request: Request, expected: Expected, answer: Answer): void {
  if ("refused" in expected) return checkRefused(expected, answer);
  if ("notModified" in expected) {
    assertEquals([answer.status, answer.headers.get("etag")], [304, expected.notModified]);
    return;
  }
  if ("bytes" in expected) return checkBytes(expected, answer);
  assertEquals(answer.status, 200, answer.text.slice(0, 500));
  const { data, operation } = success.parse(answer.body);
  assertEquals(operation, isByLink(request) ? "write_link" : OPERATION_NAMES[request.kind]);
  if ("version" in expected) return checkWritten(expected, answer, data);
  if ("branch" in expected) return assertEquals(data, { ...data, ...expected.branch });
  if ("purged" in expected) {
    const { purged, copies } = expected;
    const { bytes: _, ...rest } = data;
    const counts = { versions: kept(purged).length, pendingVersions: 0 };
    return assertEquals(rest, { path: purged.path, ...counts, ...copies.length > 0 && { copies } });
  }
  if ("redacted" in expected) return checkRedacted(expected, data);
  if ("batch" in expected) return checkBatch(expected, answer, data);
  if ("folder" in expected || "back" in expected) return checkMany(expected, answer, data);
  if ("data" in expected) {
    assertEquals(request.kind === "versions" ? withoutCursors(data) : data, expected.data);
    assertEquals(answer.headers.get("etag"), expected.etag ?? null);
    return;
  }
  const { diff, additions, deletions, ...rest } = diffed.parse(data);
  checkDiff({ diff, additions, deletions }, expected);
  if ("from" in expected) return assertEquals(rest, { from: expected.from, to: expected.to });
  const file = expected.previewOf;
  const latest = file.versions.at(-1);
  if (!latest) throw new Error("there is no version to be edited");
  assertEquals(rest, {
    ...recordOf(file, latest),
    replacements: expected.replacements,
    dryRun: true,
  });
}

const success = z.object({ data: z.record(z.string(), z.unknown()), operation: z.string() });
const diffed = z.looseObject({ diff: z.string(), additions: z.int(), deletions: z.int() });
const made = z.looseObject({ id: z.uuid(), createdAt: z.string(), updatedAt: z.string() });

function checkRefused(expected: Refused, answer: Answer): void {
  const { refused, status = statusOf(refused), details = {} } = expected;
  if (status === statusOf(refused)) {
    const given = assertRefused(answer, refused);
    assertEquals({ ...given, ...details }, given);
    return;
  }
  assertEquals(answer.status, status, answer.text.slice(0, 500));
  const { error } = z.object({ error: z.object({ code: z.string() }) }).parse(answer.body);
  assertEquals(error.code, refused);
}

function checkBytes({ bytes, status, headers }: Bytes, answer: Answer): void {
  assertEquals(answer.status, status, answer.text.slice(0, 500));
  assertEquals(answer.bytes, new Uint8Array(bytes));
  assertEquals(answer.headers.get("content-length"), String(bytes.length));
  assertEquals(answer.headers.has("content-range"), "content-range" in headers);
  for (const [name, value] of Object.entries(headers)) assertEquals(answer.headers.get(name), value);
}

/** The answer need not list all remaining copies, but each one that it lists must be readable. */
function checkRedacted({ redacted, isReadable }: Redacted, data: Record<string, unknown>): void {
  assertEquals(data["versions"], redacted);
  const remaining = z.array(z.object({ path: z.string(), version: z.int() })).parse(data["remaining"]);
  assertEquals(remaining.filter(({ path, version }) => !isReadable(path, version)), []);
}

/** The check of the feed covers cursors. The time of a redaction only needs to be a timestamp. */
function withoutCursors({ versions, ...data }: Record<string, unknown>) {
  const listed = z.array(z.looseObject({ cursor: z.string().regex(/^[0-9a-f]{32}$/) })).parse(versions);
  return {
    ...data,
    versions: listed.map(({ cursor: _, redactedAt, ...version }) => {
      if (redactedAt === undefined) return version;
      assertMatch(String(redactedAt), TIMESTAMP);
      return { ...version, redacted: true };
    }),
  };
}

function checkBatch(
  { batch, isReplayed }: BatchWritten,
  answer: Answer,
  data: Record<string, unknown>,
): void {
  assertEquals(answer.headers.get("idempotency-replayed"), isReplayed ? "true" : null);
  const { results } = z.object({ results: z.array(z.record(z.string(), z.unknown())) }).parse(data);
  assertEquals(results.length, batch.length);
  for (const [index, written] of batch.entries()) checkRecord(written, results[index] ?? {});
}

function checkMany(
  expected: FolderWritten | BackWritten,
  answer: Answer,
  data: Record<string, unknown>,
): void {
  assertEquals(answer.headers.get("idempotency-replayed"), expected.isReplayed ? "true" : null);
  if ("folder" in expected) {
    const { folder: files, trimmed } = expected;
    return assertEquals(data, { count: files.length, files, ...(trimmed.length > 0 && { trimmed }) });
  }
  const { back: { actions, ...rest }, run, undone } = expected;
  // Each file gets the version after its current one.
  const made = run === null ? actions : actions.map((action) => ({ ...action, version: action.from + 1 }));
  assertEquals(data, { ...rest, actions: made, runId: run, undoneRunId: undone });
}

function checkWritten(expected: Written, answer: Answer, data: Record<string, unknown>): void {
  const { file, version, isReplayed } = expected;
  assertEquals(answer.headers.get("idempotency-replayed"), isReplayed ? "true" : null);
  checkRecord(expected, data);
  assertEquals(answer.headers.get("etag"), tagOf(file, version, "j"));
}

function checkRecord({ file, version, replacements }: Written, data: Record<string, unknown>): void {
  const { id, createdAt, updatedAt } = made.parse(data);
  if (version.at === "") {
    assertMatch(updatedAt, TIMESTAMP);
    assertGreaterOrEqual(updatedAt, file.versions[version.version - 2]?.at ?? "");
    version.at = updatedAt;
  }
  if (file.id === "") {
    assertEquals(createdAt, updatedAt);
    file.id = id;
    file.createdAt = createdAt;
  }
  assertEquals(data, { ...recordOf(file, version), ...(replacements !== undefined && { replacements }) });
}

function checkDiff(
  { diff, additions, deletions }: { diff: string; additions: number; deletions: number },
  sides: { readonly before: Uint8Array; readonly after: Uint8Array },
): void {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const [before, after] = [decoder.decode(sides.before), decoder.decode(sides.after)];
  if (before === after) {
    return assertEquals({ diff, additions, deletions }, { diff: "", additions: 0, deletions: 0 });
  }
  assertEquals(applyPatch(before, diff, { autoConvertLineEndings: false }), after);
  const lines = diff.split("\n").slice(2);
  assertEquals(lines.filter((line) => line.startsWith("+")).length, additions);
  assertEquals(lines.filter((line) => line.startsWith("-")).length, deletions);
}
