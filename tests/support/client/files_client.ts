/** One client of one project: it sends an operation of the ledger and reports its outcome. */
import { z } from "zod";
import type { Operation } from "../faults/ledger.ts";
import { inParallel } from "../in_parallel.ts";
import { apiAt } from "./api.ts";
import type { Answer } from "./contract.ts";
import { encodePath, Files, type HeaderFields } from "./files.ts";

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
    versions: z.array(z.object({ version: z.int(), deleted: z.boolean().optional() })).min(1),
  }),
});

export interface Target {
  readonly baseUrl: string;
  readonly key: string;
}

export function filesAt({ baseUrl, key }: Target): Files {
  return new Files(apiAt(baseUrl), key);
}

/** Sends the operation once. Throws if the contract does not allow the answer. */
export async function perform(
  target: Target,
  operation: Operation,
  headers: HeaderFields = {},
): Promise<Outcome> {
  let answer: Answer;
  try {
    answer = await sent(filesAt(target), operation, headers);
  } catch (error) {
    // An answer that is not JSON.
    if (error instanceof SyntaxError) throw error;
    return { kind: "unknown", reason: error instanceof Error ? error.name : "unknown" };
  }
  const { status, body, text } = answer;
  if (status === 200) return { kind: "made", version: success.parse(body).data.version };
  const { code } = failure.parse(body).error;
  if (status === 503 || status === 504) return { kind: "unknown", reason: String(status) };
  if (status >= 500) throw new Error(`${JSON.stringify(operation)} was answered ${status} ${text}`);
  return { kind: "refused", status, code };
}

function sent(files: Files, operation: Operation, headers: HeaderFields): Promise<Answer> {
  switch (operation.kind) {
    case "write":
      return files.post({ path: operation.path, content: operation.text }, headers);
    case "delete":
      return files.tryRemove(operation.path, headers);
    default: {
      const { kind, path, ...fields } = operation;
      const body = "text" in fields
        ? { content: fields.text }
        : "destination" in fields
        ? { ...fields, overwrite: true }
        : fields;
      return files.put(kind, path, body, headers);
    }
  }
}

async function read(target: Target, path: string, headers: HeaderFields = {}): Promise<Answer> {
  const answer = await filesAt(target).request("GET", path, { headers });
  if (answer.status !== 200) throw new Error(`GET ${path} was answered ${answer.status} ${answer.text}`);
  return answer;
}

/** One version's bytes as text. */
export async function readVersion(target: Target, path: string, version: number): Promise<string> {
  const accept = "application/octet-stream";
  return (await read(target, `/files/${encodePath(path)}?version=${version}`, { accept })).text;
}

/** All versions of a path, oldest first; null is a tombstone. */
export async function readHistory(target: Target, path: string): Promise<(string | null)[]> {
  const rows: z.infer<typeof versionPage>["data"]["versions"] = [];
  for (let total = 1; rows.length < total;) {
    const page = await read(target, `/files/${encodePath(path)}?versions&limit=100&offset=${rows.length}`);
    const { data } = versionPage.parse(page.body);
    rows.push(...data.versions);
    total = data.total;
  }
  return await inParallel(rows.reverse(), 8, async ({ version, deleted }, index) => {
    if (version !== index + 1) throw new Error(`${path} lists version ${version} in place ${index + 1}`);
    return deleted ? null : await readVersion(target, path, version);
  });
}

/** Maps each path to all of its versions, except where `isLeftOut`. */
export async function readHistories(
  target: Target,
  isLeftOut: (path: string) => boolean = () => false,
): Promise<Map<string, (string | null)[]>> {
  const histories = new Map<string, (string | null)[]>();
  for (const deleted of [false, true]) {
    for (const path of await filesAt(target).paths({ recursive: true, limit: 100, deleted })) {
      if (!isLeftOut(path)) histories.set(path, await readHistory(target, path));
    }
  }
  return histories;
}
