/** Sends the model's operations over HTTP, and checks the answers against those that the model expects. */
import { assertEquals, assertGreaterOrEqual, assertMatch } from "@std/assert";
import { applyPatch } from "diff";
import { z } from "zod";
import { type Answer, assertInvariants, assertRefused, STATUS_OF, TIMESTAMP } from "../client/contract.ts";
import { encodePath } from "../client/files.ts";
import { kept } from "./model.ts";
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
export type Request = Batch | Many | Purge | Redact | Write | Read | Metadata | Versions | Diff | List;
export type Expected =
  | Refused
  | Written
  | BatchWritten
  | FolderWritten
  | BackWritten
  | Purged
  | Redacted
  | Preview
  | Data
  | Bytes
  | NotModified
  | Compared;

export interface WireAnswer extends Answer {
  readonly bytes: Uint8Array;
}

interface Sent {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers?: Record<string, string | undefined>;
  readonly json?: unknown;
  readonly bytes?: Uint8Array;
}

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
};

export async function send(baseUrl: string, key: string, request: Request): Promise<WireAnswer> {
  if (!isByLink(request)) return await exchange(baseUrl, key, sentOf(request));
  const { path, type: contentType, ifVersion } = request;
  const link = { method: "POST", path: "/links", json: { path, for: "write", contentType, ifVersion } };
  const { url } = made.pick({ id: true }).parse(Object(await exchange(baseUrl, key, link)).body?.data);
  const { headers = {}, bytes = new Uint8Array() } = sentOf(request);
  const put = { method: "PUT", path: String(url).slice(String(url).indexOf("/l/")), bytes };
  return await exchange(baseUrl, null, { ...put, headers: { ...headers, "content-type": undefined } });
}

/**
 * Some raw writes use a link, which must act like any other write. Each link is for one write, so such writes have no
 * key.
 */
function isByLink(request: Request): request is Write & { kind: "write" } {
  if (request.kind !== "write" || request.form !== "raw" || request.key !== undefined) return false;
  return request.bytes.length % 2 === 0;
}

export async function exchange(
  baseUrl: string,
  key: string | null,
  { method, path, headers = {}, json, bytes }: Sent,
): Promise<WireAnswer> {
  const sent = new Headers(key === null ? {} : { "x-api-key": key });
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) sent.set(name, value);
  if (json !== undefined) sent.set("content-type", "application/json");
  const body = json === undefined ? bytes && new Uint8Array(bytes) : JSON.stringify(json);
  const sentAt = Date.now();
  const response = await fetch(baseUrl + path, { method, headers: sent, body: body ?? null });
  const received = new Uint8Array(await response.arrayBuffer());
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(received);
  const isJson = response.headers.get("content-type") === "application/json; charset=utf-8" && text !== "";
  const answer = {
    method,
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && !response.headers.has("accept-ranges") ? JSON.parse(text) : undefined,
    bytes: received,
  };
  assertInvariants(answer, { isWindowFrozen: false, sentAt });
  return answer;
}

function sentOf(request: Request): Sent {
  switch (request.kind) {
    case "read":
      return {
        method: "GET",
        path: `/files/${encodePath(request.path)}${
          query({ version: request.version, encoding: request.encoding, lines: linesText(request.lines) })
        }`,
        headers: {
          accept: request.as === "raw" ? "application/octet-stream" : undefined,
          range: request.range && `bytes=${request.range.first ?? ""}-${request.range.last ?? ""}`,
          "if-range": request.ifRange,
          "if-none-match": request.ifNoneMatch,
        },
      };
    case "metadata":
      return {
        method: "GET",
        path: `/files/${encodePath(request.path)}${query({ version: request.version }, "metadata")}`,
        headers: { "if-none-match": request.ifNoneMatch },
      };
    case "versions": {
      const { path, limit, offset } = request;
      return { method: "GET", path: `/files/${encodePath(path)}${query({ limit, offset }, "versions")}` };
    }
    case "diff":
      return {
        method: "GET",
        path: `/diff/${encodePath(request.path)}${query({ from: request.from, to: request.to })}`,
      };
    case "list": {
      const { kind: _, ...parameters } = request;
      return { method: "GET", path: `/files${query(parameters)}` };
    }
    case "batch":
      return {
        method: "POST",
        path: "/batch",
        headers: saidWith(request),
        json: { operations: request.operations.map(batchOperation) },
      };
    case "purge":
      return { method: "DELETE", path: `/files/${encodePath(request.path)}?purge` };
    case "redact":
      return {
        method: "POST",
        path: `/files/redact/${encodePath(request.path)}`,
        json: { versions: request.versions },
      };
    case "copy_folder":
    case "move_folder":
    case "delete_folder":
    case "undo_run":
    case "restore_folder":
      return manySent(request);
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
      return { method: "DELETE", path: `/folders/${encodePath(change.path)}`, headers };
    case "copy_folder":
    case "move_folder": {
      const { kind, path, destination, overwrite, moment } = change;
      const route = `/folders/${kind.replace("_folder", "")}${query({ at: moment?.at })}`;
      return { method: "POST", path: route, headers, json: { path, destination, overwrite } };
    }
    case "undo_run": {
      const { undoes, onConflict, dryRun } = change;
      return { method: "POST", path: `/runs/${undoes}/undo`, headers, json: { onConflict, dryRun } };
    }
    case "restore_folder": {
      const { directory, moment, dryRun } = change;
      return { method: "POST", path: "/restore", headers, json: { directory, at: moment.at, dryRun } };
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
  const at = (route: string) => `/files/${route}${encodePath(write.path)}`;
  switch (write.kind) {
    case "write":
    case "append":
    case "overwrite":
      return contentSent(write, headers);
    case "edit": {
      const { edits, dryRun } = write;
      const [only] = edits;
      const json = { ...edits.length === 1 ? only : { edits }, dryRun, ifVersion };
      return { method: "PUT", path: at("edit/"), headers, json };
    }
    case "delete":
      return { method: "DELETE", path: at("") + query({ ifVersion }), headers };
    case "restore":
      return { method: "PUT", path: at("restore/"), headers, json: { version: write.version, ifVersion } };
    case "copy":
    case "move": {
      const { destination, overwrite } = write;
      return {
        method: "PUT",
        path: at(`${write.kind}/`),
        headers,
        json: { destination, overwrite, ifVersion },
      };
    }
  }
}

function contentSent(
  write: Write & { kind: "write" | "append" | "overwrite" },
  headers: Record<string, string | undefined>,
): Sent {
  const { kind, path, bytes, form, ifVersion } = write;
  const type = write.kind === "write" ? write.type : undefined;
  const content = jsonContent(bytes, form);
  if (kind === "write" && form === "raw") {
    // The type is sent as a header or as a parameter.
    const isHeader = type !== undefined && !type.startsWith("text/");
    return {
      method: "POST",
      path: `/files${query({ path, contentType: isHeader ? undefined : type, ifVersion })}`,
      headers: { ...headers, "content-type": isHeader ? type : undefined },
      bytes,
    };
  }
  if (kind === "write") {
    return {
      method: "POST",
      path: "/files",
      headers,
      json: { path, ...content, ifVersion, ...(type !== undefined && { contentType: type }) },
    };
  }
  const route = `/files/${kind}/${encodePath(path)}`;
  if (form !== "raw") return { method: "PUT", path: route, headers, json: { ...content, ifVersion } };
  // Half of the raw bodies are sent as they are.
  return bytes.length % 2 === 0
    ? { method: "PUT", path: route + query({ ifVersion }, "raw"), headers, bytes }
    : {
      method: "PUT",
      path: route + query({ ifVersion }),
      headers: { ...headers, "content-type": "application/octet-stream" },
      bytes,
    };
}

function query(
  parameters: Readonly<Record<string, string | number | boolean | undefined>>,
  flag = "",
): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const pairs = given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  const all = flag === "" ? pairs : [flag, ...pairs];
  return all.length === 0 ? "" : `?${all.join("&")}`;
}

function linesText(lines: Read["lines"]): string | undefined {
  if (!lines) return undefined;
  return "last" in lines ? `-${lines.last}` : `${lines.from}-${lines.to ?? ""}`;
}

/** Throws if the answer is not the expected one. New times and ids are stored in the model. */
export function check(request: Request, expected: Expected, answer: WireAnswer): void {
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
  if ("purged" in expected) {
    const { path } = expected.purged;
    const { bytes: _, ...rest } = data;
    return assertEquals(rest, { path, versions: kept(expected.purged).length, pendingVersions: 0 });
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
  const { refused, status = STATUS_OF[refused], details = {} } = expected;
  if (status === STATUS_OF[refused]) {
    const given = assertRefused(answer, refused);
    assertEquals({ ...given, ...details }, given);
    return;
  }
  assertEquals(answer.status, status, answer.text.slice(0, 500));
  const { error } = z.object({ error: z.object({ code: z.string() }) }).parse(answer.body);
  assertEquals(error.code, refused);
}

function checkBytes({ bytes, status, headers }: Bytes, answer: WireAnswer): void {
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
