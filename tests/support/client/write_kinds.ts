/** Every way to add a version, for tests of what all of them promise. */
import type { Answer, OperationName } from "./contract.ts";
import { encodePath, type Files, type HeaderFields } from "./files.ts";

export interface WriteKind {
  readonly name: string;
  readonly operation: OperationName;
  /** Sends the write to a file that `prepare` has written. `change` varies the body. */
  send(
    own: Files,
    path: string,
    headers?: HeaderFields,
    change?: string,
    ifVersion?: unknown,
  ): Promise<Answer>;
  /** Whether the write stores new bytes. */
  readonly stores: boolean;
  /** Whether the file must exist; for a copy or move, the source. */
  readonly needsFile: boolean;
}

/** The state of the file before each write: two versions, the latest of which contains an `old` to be edited. */
export async function prepare(own: Files, path: string): Promise<void> {
  await own.write(path, "first\n");
  await own.write(path, "old\n");
}

/** The number of versions that `prepare` adds. */
export const PREPARED_VERSION = 2;

const RAW = { "content-type": "application/octet-stream" };
const bytes = (text: string) => new TextEncoder().encode(text);

/** The precondition as a query, for requests whose body is bytes or empty. */
const queryOf = (ifVersion: unknown) => ifVersion === undefined ? {} : { ifVersion: String(ifVersion) };

function put(
  route: string,
  operation: OperationName,
  stores: boolean,
  body: (path: string, change: string) => Readonly<Record<string, unknown>>,
): WriteKind {
  return {
    name: `PUT ${route}`,
    operation,
    stores,
    needsFile: true,
    send: (own, path, headers = {}, change = "", ifVersion) =>
      own.put(route, path, { ...body(path, change), ifVersion }, headers),
  };
}

function putRaw(route: string): WriteKind {
  return {
    name: `PUT ${route}, raw`,
    operation: "write_file",
    stores: true,
    needsFile: true,
    send: (own, path, headers = {}, change = "", ifVersion) =>
      own.request("PUT", `/files/${route}/${encodePath(path)}`, {
        body: bytes(`raw${change}`),
        headers: { ...RAW, ...headers },
        query: queryOf(ifVersion),
      }),
  };
}

export const WRITES: readonly WriteKind[] = [
  {
    name: "POST",
    operation: "write_file",
    stores: true,
    needsFile: false,
    send: (own, path, headers = {}, change = "", ifVersion) =>
      own.post({ path, content: `new${change}`, ifVersion }, headers),
  },
  {
    name: "POST, raw",
    operation: "write_file",
    stores: true,
    needsFile: false,
    send: (own, path, headers = {}, change = "", ifVersion) =>
      own.post(bytes(`raw${change}`), { ...RAW, ...headers }, { path, ...queryOf(ifVersion) }),
  },
  put("append", "write_file", true, (_path, change) => ({ content: `more${change}` })),
  putRaw("append"),
  put("overwrite", "write_file", true, (_path, change) => ({ content: `other${change}` })),
  putRaw("overwrite"),
  put("edit", "write_file", true, (_path, change) => ({ oldString: "old", newString: `new${change}` })),
  {
    ...put("edit", "write_file", true, (_path, change) => ({
      edits: [{ oldString: "old", newString: "mid" }, { oldString: "mid", newString: `new${change}` }],
    })),
    name: "PUT edit, several",
  },
  {
    name: "DELETE",
    operation: "delete_file",
    stores: false,
    needsFile: true,
    send: (own, path, headers = {}, change = "", ifVersion) =>
      own.request("DELETE", `/files/${encodePath(path + change)}`, { headers, query: queryOf(ifVersion) }),
  },
  put("restore", "restore_file", false, (_path, change) => ({ version: change === "" ? 1 : 2 })),
  put("copy", "copy_file", false, (path, change) => ({ destination: `${path}.copy${change}` })),
  put("move", "move_file", false, (path, change) => ({ destination: `${path}.moved${change}` })),
];
