/** One client of one project: it sends an operation of the ledger and reports its outcome. */
import { inParallel } from "../in_parallel.ts";
import { z } from "zod";
import { encodePath } from "./files.ts";
import type { Operation } from "../faults/ledger.ts";

/** Longest wait for an answer; longer than the service's own deadline. */
const REQUEST_TIMEOUT_MILLISECONDS = 60_000;

export type Outcome =
  | { readonly kind: "made"; readonly version: number }
  /** The service refused the operation and changed nothing. */
  | { readonly kind: "refused"; readonly status: number; readonly code: string }
  /** No answer, or an answer that leaves open whether the operation was done. */
  | { readonly kind: "unknown"; readonly reason: string };

const success = z.object({ data: z.object({ version: z.int().min(1) }) });
const failure = z.object({ error: z.object({ code: z.string() }) });
const versionPage = z.object({
  data: z.object({
    total: z.int(),
    versions: z.array(z.object({ version: z.int(), size: z.int(), deleted: z.boolean().optional() })),
  }),
});
const filePage = z.object({ data: z.object({ files: z.array(z.object({ path: z.string() })) }) });

export interface Target {
  /** Read again for each request, since a restarted service may have moved. */
  readonly baseUrl: string;
  readonly key: string;
}

/** Sends the operation once. Throws if the contract does not allow the answer. */
export async function perform(
  target: Target,
  operation: Operation,
  headers: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const { method, path, body } = requestOf(operation);
  let status: number;
  let text: string;
  try {
    const response = await ask(target, method, path, { ...headers }, body);
    status = response.status;
    text = await response.text();
  } catch (error) {
    return { kind: "unknown", reason: error instanceof Error ? error.name : "unknown" };
  }
  if (status === 200) return { kind: "made", version: success.parse(JSON.parse(text)).data.version };
  const { code } = failure.parse(JSON.parse(text)).error;
  if (status === 503 || status === 504) return { kind: "unknown", reason: String(status) };
  if (status >= 500) throw new Error(`${method} ${path} was answered ${status} ${text}`);
  return { kind: "refused", status, code };
}

function requestOf(operation: Operation): { method: string; path: string; body?: unknown } {
  const { kind, path } = operation;
  switch (kind) {
    case "write":
      return { method: "POST", path: "/files", body: { path, content: operation.text } };
    case "append":
    case "overwrite":
      return {
        method: "PUT",
        path: `/files/${kind}/${encodePath(path)}`,
        body: { content: operation.text },
      };
    case "edit": {
      const { oldString, newString } = operation;
      return { method: "PUT", path: `/files/edit/${encodePath(path)}`, body: { oldString, newString } };
    }
    case "delete":
      return { method: "DELETE", path: `/files/${encodePath(path)}` };
    case "restore":
      return {
        method: "PUT",
        path: `/files/restore/${encodePath(path)}`,
        body: { version: operation.version },
      };
    case "copy":
    case "move":
      return {
        method: "PUT",
        path: `/files/${kind}/${encodePath(path)}`,
        body: { destination: operation.destination, overwrite: true },
      };
  }
}

function ask(
  { baseUrl, key }: Target,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Response> {
  return fetch(baseUrl + path, {
    method,
    headers: {
      ...headers,
      "x-api-key": key,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MILLISECONDS),
  });
}

async function read(target: Target, path: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await ask(target, "GET", path, headers);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`GET ${path} was answered ${response.status} ${text}`);
  return text;
}

/** One version's bytes as text. */
export function readVersion(target: Target, path: string, version: number): Promise<string> {
  return read(target, `/files/${encodePath(path)}?version=${version}`, {
    accept: "application/octet-stream",
  });
}

/** All versions of a path, oldest first; null is a tombstone. */
export async function readHistory(target: Target, path: string): Promise<(string | null)[]> {
  const rows: z.infer<typeof versionPage>["data"]["versions"] = [];
  for (let total = 1; rows.length < total;) {
    const page = await read(target, `/files/${encodePath(path)}?versions&limit=100&offset=${rows.length}`);
    const { data } = versionPage.parse(JSON.parse(page));
    if (data.versions.length === 0) throw new Error(`${path} lists ${rows.length} of ${data.total} versions`);
    rows.push(...data.versions);
    total = data.total;
  }
  rows.reverse();
  return await inParallel(rows, 8, async ({ version, deleted }, index) => {
    if (version !== index + 1) throw new Error(`${path} lists version ${version} in place ${index + 1}`);
    return deleted ? null : await readVersion(target, path, version);
  });
}

/** Every path of the project that has a file or had one. */
export async function listPaths(target: Target): Promise<string[]> {
  const paths: string[] = [];
  for (const deleted of [false, true]) {
    const page = await read(target, `/files?recursive=true&limit=100&deleted=${deleted}`);
    paths.push(...filePage.parse(JSON.parse(page)).data.files.map(({ path }) => path));
  }
  return paths;
}
