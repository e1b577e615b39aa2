/** Branches: folders to work apart in, which are copies of other folders until they are merged or closed. */
import { PAGE } from "../limits.ts";
import type { Api } from "./api.ts";
import type { BranchOptions, MergeOptions, NewBranchOptions } from "./options.ts";
import type { Branch, BranchDetails, BranchPage, MergeResult } from "./records.ts";
import { namedAddress } from "./request.ts";
import { write } from "./write.ts";

export class Branches {
  constructor(private readonly api: Api) {}

  /**
   * Copies a folder to `.branches/{name}`. No bytes are copied. After a lost answer the request is sent again, and
   * BRANCH_ALREADY_EXISTS may then mean the branch that this call has created: read it.
   */
  async create(name: string, options: NewBranchOptions = {}): Promise<Branch> {
    return await this.api.data<Branch>("/branches", { method: "POST", json: { ...options, name } });
  }

  /** The newest first. */
  async *list({ state }: { readonly state?: Branch["state"] | undefined } = {}): AsyncGenerator<
    Branch,
    void,
    void
  > {
    let after: string | undefined;
    for (;;) {
      const page: BranchPage = await this.api.data<BranchPage>("/branches", {
        query: { state, limit: PAGE, after },
      });
      yield* page.branches;
      if (!page.hasMore) return;
      after = page.cursor;
    }
  }

  /** A branch and what has changed in it; at most 1,000 files, and `after` is the last `path` of the answer before. */
  async get(name: string, { after }: { readonly after?: string } = {}): Promise<BranchDetails> {
    return await this.api.data<BranchDetails>(namedAddress("/branches", name), { query: { after } });
  }

  /** Changes its title, its state or its end; `ready` says that it waits for a person. */
  async change(name: string, json: BranchOptions): Promise<Branch> {
    return await this.api.data<Branch>(namedAddress("/branches", name), { method: "PATCH", json });
  }

  /** Ends a branch without a merge. After a lost answer BRANCH_CLOSED may mean that this call has closed it. */
  async close(name: string, { note }: Pick<BranchOptions, "note"> = {}): Promise<Branch> {
    return await this.change(name, { state: "closed", note });
  }

  /** Merges a branch into its folder. Without `dryRun: false` it only returns the plan. */
  async merge(name: string, options: MergeOptions = {}): Promise<MergeResult> {
    return await this.#bring("merge", name, options);
  }

  /** Brings into a branch what has changed in its folder. Without `dryRun: false` it only returns the plan. */
  async update(name: string, options: MergeOptions = {}): Promise<MergeResult> {
    return await this.#bring("update", name, options);
  }

  async #bring(
    action: string,
    name: string,
    { note, idempotencyKey, ...json }: MergeOptions,
  ): Promise<MergeResult> {
    const address = `${namedAddress("/branches", name)}/${action}`;
    return await write<MergeResult>(this.api, address, { method: "POST", json }, { note, idempotencyKey });
  }
}
