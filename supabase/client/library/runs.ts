/** Runs: the versions that were written under one run id. */
import { PAGE } from "../limits.ts";
import type { Api } from "./api.ts";
import type { UndoOptions } from "./options.ts";
import type { Run, RunDetails, RunPage, UndoResult } from "./records.ts";
import { namedAddress } from "./request.ts";
import { write } from "./write.ts";

export class Runs {
  constructor(private readonly api: Api) {}

  /** The newest first. */
  async *list(): AsyncGenerator<Run, void, void> {
    let after: string | undefined;
    for (;;) {
      const page = await this.api.data<RunPage>("/runs", { query: { limit: PAGE, after } });
      yield* page.runs;
      if (!page.hasMore) return;
      after = page.cursor;
    }
  }

  /** A run and its files; at most 1,000 of them, and `after` is the last `fileId` of the answer before. */
  async get(run: string, { after }: { readonly after?: string } = {}): Promise<RunDetails> {
    return await this.api.data<RunDetails>(namedAddress("/runs", run), { query: { after } });
  }

  /** Without `dryRun: false` it only returns the plan. */
  async undo(run: string, { note, idempotencyKey, ...json }: UndoOptions = {}): Promise<UndoResult> {
    // An undo is a run of its own, so its run cannot be the one that it undoes.
    const headers = run === this.api.connection.run ? { "x-run-id": undefined } : {};
    const call = { method: "POST", json, headers };
    return await write<UndoResult>(this.api, `${namedAddress("/runs", run)}/undo`, call, {
      note,
      idempotencyKey,
    });
  }
}
