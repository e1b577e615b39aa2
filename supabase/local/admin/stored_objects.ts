/** The objects of the bucket, read and removed over Storage's own API with the secret key. */
import { createClient } from "@supabase/supabase-js";
import { createHash } from "node:crypto";
import { dayOfFolder, segmentFolder } from "../../functions/api/ports/segment_name.ts";
import { ADMINISTRATION_TIMEOUT_MILLISECONDS, VERIFY_LIST_OBJECTS, VERIFY_TRIES_MAX } from "../limits.ts";
import { messageOf, StartupError } from "../startup_error.ts";

const BUCKET = "filestore-segments";
const PAUSE_FIRST_MILLISECONDS = 250;

/** The size and checksum of an object; null: the object does not exist. */
export type StoredBytes = { readonly size: number; readonly sha256?: string } | null;

export class StoredObjects {
  readonly #bucket;

  constructor(private readonly url: string, private readonly secretKey: string) {
    this.#bucket = createClient(url, secretKey, {
      auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    }).storage.from(BUCKET);
  }

  /**
   * Requests the bytes themselves instead of reading Storage's table: a backup of the database restores the table, but not
   * the bytes. With `isHashed` it reads the bytes, otherwise only the headers. Throws `StartupError` if Storage does not
   * answer.
   */
  async inspect(name: string, isHashed: boolean): Promise<StoredBytes> {
    return await this.#retry(async (signal) => {
      const response = await fetch(`${this.url}/storage/v1/object/${BUCKET}/${name}`, {
        headers: {
          apikey: this.secretKey,
          authorization: `Bearer ${this.secretKey}`,
          "accept-encoding": "identity",
        },
        signal,
      });
      if (!response.ok) {
        const text = await response.text();
        if (isMissing(response.status, text)) return null;
        throw new Error(`status ${response.status}`);
      }
      const declared = Number(response.headers.get("content-length") ?? NaN);
      if (!isHashed && Number.isSafeInteger(declared)) {
        await response.body?.cancel();
        return { size: declared };
      }
      const hash = createHash("sha256");
      let size = 0;
      for await (const chunk of response.body ?? []) {
        hash.update(chunk);
        size += chunk.length;
      }
      return { size, sha256: hash.digest("hex") };
    });
  }

  /** The top folders of the bucket, in order: the ids of projects, and perhaps others. */
  async folders(): Promise<readonly string[]> {
    return await this.#foldersIn("");
  }

  /** The days (`yyyy-mm-dd`) for which a project has objects. */
  async days(projectId: string): Promise<readonly string[]> {
    const days = (await this.#foldersIn(projectId)).map(dayOfFolder);
    return days.filter((day) => day !== undefined);
  }

  /** The names of a project's objects of one day, relative to the day's folder. */
  list(projectId: string, day: string, offset: number): Promise<readonly string[]> {
    return this.#names(segmentFolder(projectId, new Date(day)), offset);
  }

  async remove(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const { error } = await this.#bucket.remove([...names]);
    if (error) throw new StartupError(`${this.url}: objects cannot be removed (${error.message}).`);
  }

  async #foldersIn(folder: string): Promise<readonly string[]> {
    const found = new Set<string>();
    for (let offset = 0;; offset += VERIFY_LIST_OBJECTS) {
      const names = await this.#names(folder, offset);
      for (const name of names) found.add(name.split("/", 1)[0] ?? "");
      if (names.length < VERIFY_LIST_OBJECTS) break;
    }
    return [...found].sort();
  }

  async #names(folder: string, offset: number): Promise<readonly string[]> {
    return await this.#retry(async () => {
      const sortBy = { column: "name", order: "asc" };
      const { data, error } = await this.#bucket.list(folder, { limit: VERIFY_LIST_OBJECTS, offset, sortBy });
      if (error) throw error;
      // Storage lists the names directly in the folder; @supabase/lite lists everything below it with the whole name.
      return data.map(({ name }) => name.startsWith(`${folder}/`) ? name.slice(folder.length + 1) : name);
    });
  }

  async #retry<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (let tries = 1, pause = PAUSE_FIRST_MILLISECONDS;; tries++, pause *= 2) {
      try {
        return await work(AbortSignal.timeout(ADMINISTRATION_TIMEOUT_MILLISECONDS));
      } catch (error) {
        if (tries < VERIFY_TRIES_MAX) {
          await new Promise((resolve) => setTimeout(resolve, pause));
          continue;
        }
        throw new StartupError(`${this.url}: Storage does not answer (${messageOf(error).split("\n")[0]}).`);
      }
    }
  }
}

/** Whether Storage itself answers that the object does not exist; a gateway's 404 says nothing about objects. */
function isMissing(status: number, text: string): boolean {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return false;
  }
  if (typeof body !== "object" || body === null) return false;
  const fields = new Map<string, unknown>(Object.entries(body));
  const code = fields.get("code") ?? fields.get("error");
  const isNotFound = status === 404 || fields.get("statusCode") === "404";
  return code === "NoSuchKey" || code === "not_found" && isNotFound ||
    isNotFound && fields.get("message") === "Object not found";
}
