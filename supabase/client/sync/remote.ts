/** The files of the service below the folder of a sync: listed once, and then followed by the change feed. */
import { CHANGES_LIMIT_MAX } from "../../functions/api/contract/limits.ts";
import { Filestore } from "../library/filestore.ts";
import type { ChangePage } from "../library/records.ts";
import type { Remote } from "./plan.ts";
import type { Known } from "./state.ts";

export interface RemoteFiles {
  readonly files: ReadonlyMap<string, Remote>;
  /** Everything before it is in `files`. */
  readonly cursor: string;
}

export class RemoteFolder {
  constructor(readonly store: Filestore, readonly directory: string) {}

  /** The path in the service. */
  at(path: string): string {
    return this.directory === "" ? path : `${this.directory}/${path}`;
  }

  async list(): Promise<RemoteFiles> {
    const { cursor } = await this.#page("now");
    const files = new Map<string, Remote>();
    for await (const { path, id, version, size } of this.store.list(this.directory, { recursive: true })) {
      files.set(this.#inner(path), { id, version, size });
    }
    return { files, cursor };
  }

  /** What has become of the files that were known at the cursor. */
  async since(cursor: string, known: ReadonlyMap<string, Known>): Promise<RemoteFiles> {
    const files = new Map<string, Remote>(known);
    for (let after = cursor;;) {
      const page = await this.#page(after);
      for (const { path, fileId: id, version, size, deleted } of page.changes) {
        if (path === undefined) { for (const [one, file] of files) if (file.id === id) files.delete(one); }
        else if (deleted === true) files.delete(this.#inner(path));
        else files.set(this.#inner(path), { id, version, size });
      }
      after = page.cursor;
      if (!page.hasMore) return { files, cursor: after };
    }
  }

  /** Resolves when there is a change after the cursor, or after a while. */
  async wait(cursor: string, seconds: number, signal: AbortSignal): Promise<void> {
    const store = new Filestore({ ...this.store.api.connection, signal });
    await store.api.data<ChangePage>("/changes", { query: this.#query(cursor, { wait: seconds, limit: 1 }) });
  }

  async #page(after: string): Promise<ChangePage> {
    return await this.store.api.data<ChangePage>("/changes", {
      query: this.#query(after, { limit: CHANGES_LIMIT_MAX }),
    });
  }

  #query(after: string, more: { readonly wait?: number; readonly limit: number }) {
    return { after, directory: this.directory === "" ? undefined : this.directory, ...more };
  }

  #inner(path: string): string {
    return this.directory === "" ? path : path.slice(this.directory.length + 1);
  }
}
