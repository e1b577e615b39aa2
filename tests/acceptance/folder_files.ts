/**
 * The files below a folder, as if it were a project of its own: the folder is put before each path sent and removed
 * from each path received. So a case reads like the code of a project's client, and can run in a project with other
 * files.
 */
import type { Api, RequestOptions } from "../support/client/api.ts";
import type { Answer } from "../support/client/contract.ts";
import { Files } from "../support/client/files.ts";
import { IDEMPOTENCY_KEY_LENGTH_MAX, PATH_BYTES_MAX } from "./limits.ts";

type Query = NonNullable<RequestOptions["query"]>;

/** `PUT /files/append/{path}` and similar. For a read or deletion, such a path names a file. */
const WRITE_ROUTE = /^(\/files\/(?:append|overwrite|edit|restore|copy|move)\/)(.*)$/s;
const FILE_ROUTE = /^(\/(?:files|diff)\/)(.*)$/s;
/** An invalid path is sent unchanged, in a body or a URL, so that it is refused. */
const NO_PATH = /^(?:\/|$)/;
const NO_RAW_PATH = /^(?:\/|%2f|$)/i;

export class FolderFiles extends Files {
  constructor(api: Api, key: string, readonly folder: string) {
    super(api, key);
  }

  override async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const [rawPath = "", rawQuery] = path.split(/\?(.*)/s);
    const isList = (rawPath === "/files" || rawPath === "/search") && method !== "POST";
    const query = this.#query(options.query ?? {}, rawQuery, isList);
    const sent = this.#route(method, rawPath) + (query === "" ? "" : `?${query}`);
    const headers = this.#headers(options.headers ?? {});
    const body = this.#body(options.body);
    return this.#shown(await this.api.request(this.key, method, sent, { headers, body }));
  }

  /** The full path, for bodies that are sent as text. */
  at(path: string): string {
    return NO_PATH.test(path) ? path : `${this.folder}/${path}`;
  }

  /** The longest allowed path below the folder, in bytes. */
  get pathBytesMax(): number {
    return PATH_BYTES_MAX - `${this.folder}/`.length;
  }

  #atRaw(path: string): string {
    return NO_RAW_PATH.test(path) ? path : `${this.folder}/${path}`;
  }

  #route(method: string, path: string): string {
    const isOfFile = ["GET", "HEAD", "DELETE"].includes(method);
    const [, route, file] = (isOfFile ? null : WRITE_ROUTE.exec(path)) ?? FILE_ROUTE.exec(path) ?? [];
    return route === undefined || file === undefined ? path : route + this.#atRaw(file);
  }

  #query(given: Query, raw: string | undefined, isList: boolean): string {
    const parameters = new URLSearchParams(
      Object.entries(given).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    const pairs = [raw, parameters].flatMap((part) =>
      part === undefined || part === "" ? [] : part.split("&")
    );
    const inside = pairs.map((pair) => {
      const [, name, value = ""] = /^(path|after|directory)=(.*)$/s.exec(pair) ?? [];
      if (name === undefined) return pair;
      if (name !== "directory") return `${name}=${this.#atRaw(value)}`;
      return `directory=${this.folder}/${value.replace(/^(?:\/|%2f)+/i, "")}`;
    });
    const isNarrowed = inside.some((pair) => pair.startsWith("directory="));
    return [...inside, ...isList && !isNarrowed ? [`directory=${this.folder}`] : []].join("&");
  }

  /** Idempotency keys belong to the project and are stored for a day, so the folder is added to them. */
  #headers(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const key = headers["idempotency-key"];
    if (key === undefined || !/^[!-~][ -~]*$/.test(key)) return headers;
    const own = `${this.folder} ${key}`;
    return own.length > IDEMPOTENCY_KEY_LENGTH_MAX ? headers : { ...headers, "idempotency-key": own };
  }

  #body(body: unknown): unknown {
    const isObject = typeof body === "object" && body !== null && !Array.isArray(body) &&
      !(body instanceof Uint8Array) && !(body instanceof ReadableStream);
    if (!isObject) return body;
    return Object.fromEntries(
      Object.entries(body).map(([name, value]) => [
        name,
        (name === "path" || name === "destination") && typeof value === "string" ? this.at(value) : value,
      ]),
    );
  }

  #shown(answer: Answer): Answer {
    if (answer.body === undefined) return answer;
    const text = answer.text.replaceAll(`${this.folder}/`, "");
    return { ...answer, text, body: JSON.parse(text) };
  }
}
