/** Metadata over supabase-js: one SQL function a call. */
import type { SupabaseClient } from "@supabase/supabase-js";
import { z } from "zod";
import type { Log } from "../runtime/log.ts";
import type {
  AdministrativeAction,
  Answer,
  Authorization,
  Caller,
  Commit,
  Committed,
  Comparison,
  Content,
  EditBase,
  FileRecord,
  Idempotency,
  ListPage,
  ListQuery,
  Metadata,
  SearchPage,
  SearchQuery,
  Segment,
  Sweep,
  VersionPage,
} from "../ports.ts";
import {
  authorization,
  committed,
  comparison,
  content,
  editBase,
  fileRecord,
  listPage,
  parseAnswer,
  searchPage,
  sweep,
  versionPage,
} from "./answers.ts";
import { callFunction } from "./rpc.ts";

export class SupabaseMetadata implements Metadata {
  constructor(private readonly client: SupabaseClient, private readonly log: Log) {}

  authorize(caller: Caller, path?: string): Promise<Answer<Authorization>> {
    return this.ask("filestore_authorize", caller, { p_path: path ?? null }, authorization);
  }

  record(caller: Caller, path: string, version?: number): Promise<Answer<FileRecord>> {
    return this.ask("filestore_record", caller, { p_path: path, p_version: version ?? null }, fileRecord);
  }

  content(caller: Caller, path: string, version?: number): Promise<Answer<Content>> {
    return this.ask("filestore_content", caller, { p_path: path, p_version: version ?? null }, content);
  }

  editBase(caller: Caller, path: string, idempotency: Idempotency | undefined): Promise<Answer<EditBase>> {
    return this.ask(
      "filestore_content",
      caller,
      { p_path: path, p_idempotency: idempotency ?? {} },
      editBase,
    );
  }

  comparison(caller: Caller, path: string, from?: number, to?: number): Promise<Answer<Comparison>> {
    const versions = { p_path: path, p_from: from ?? null, p_to: to ?? null };
    return this.ask("filestore_diff", caller, versions, comparison);
  }

  versions(caller: Caller, path: string, limit: number, offset: number): Promise<Answer<VersionPage>> {
    const page = { p_path: path, p_limit: limit, p_offset: offset };
    return this.ask("filestore_versions", caller, page, versionPage);
  }

  list(caller: Caller, query: ListQuery): Promise<Answer<ListPage>> {
    return this.ask("filestore_list", caller, { p_query: query }, listPage);
  }

  search(caller: Caller, query: SearchQuery): Promise<Answer<SearchPage>> {
    return this.ask("filestore_search", caller, { p_query: query }, searchPage);
  }

  commit(caller: Caller, { kind, ...commit }: Commit): Promise<Answer<Committed>> {
    return this.ask("filestore_commit", caller, { p_kind: kind, p_commit: commit }, committed);
  }

  compact(
    caller: Caller,
    path: string,
    run: readonly string[],
    compacted: readonly Segment[],
  ): Promise<Answer<boolean>> {
    const parameters = { p_path: path, p_run: run, p_compacted: compacted };
    return this.ask("filestore_compact", caller, parameters, z.boolean());
  }

  administer(
    caller: Caller,
    action: AdministrativeAction,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<Answer<unknown>> {
    const request = { p_action: action, p_parameters: parameters };
    return this.ask("filestore_administer", caller, request, z.unknown());
  }

  async nextSweep(): Promise<Sweep | null> {
    return sweep.nullable().parse(await this.call("filestore_sweep_next", {}));
  }

  async unreferenced(projectId: string, ids: readonly string[]): Promise<readonly string[]> {
    const parameters = { p_project_id: projectId, p_ids: ids };
    return z.array(z.string()).parse(await this.call("filestore_sweep_unreferenced", parameters));
  }

  async noteSweep({ projectId, sweptThrough, day, kept }: Omit<Sweep, "through">): Promise<void> {
    const parameters = { p_project_id: projectId, p_swept_through: sweptThrough, p_day: day, p_kept: kept };
    await this.call("filestore_sweep_progress", parameters);
  }

  async ping(): Promise<void> {
    await this.call("filestore_ping", {});
  }

  private async ask<T>(
    name: string,
    caller: Caller,
    parameters: Record<string, unknown>,
    schema: z.ZodType<T>,
  ): Promise<Answer<T>> {
    let isRepeated = false;
    const data = await callFunction(
      this.client,
      this.log,
      name,
      { p_key_hash: caller.keyHash, p_request_id: caller.requestId, ...parameters },
      { onLost: () => isRepeated = true },
    );
    return parseAnswer(data, isRepeated, schema);
  }

  private call(name: string, parameters: Record<string, unknown>): Promise<unknown> {
    return callFunction(this.client, this.log, name, parameters);
  }
}
