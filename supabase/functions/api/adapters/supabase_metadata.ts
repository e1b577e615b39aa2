/** Metadata over supabase-js: each method calls one SQL function. */
import type { SupabaseClient } from "@supabase/supabase-js";
import { z } from "zod";
import { EDIT_TURN_SECONDS } from "../limits.ts";
import type { AdministrativeAction } from "../ports/accounts.ts";
import type { Answer, Caller } from "../ports/answer.ts";
import type { Commit, Committed, Idempotency } from "../ports/commit.ts";
import type {
  Comparison,
  Content,
  EditBase,
  FileRecord,
  ListPage,
  ListQuery,
  TurnTaken,
  VersionPage,
} from "../ports/files.ts";
import type { Authorization, Metadata, Sweep } from "../ports/metadata.ts";
import type { Link, NewLink, OpenedLink } from "../ports/links.ts";
import type { SearchPage, SearchQuery } from "../ports/search_index.ts";
import type { Segment } from "../ports/segments.ts";
import {
  authorization,
  committed,
  comparison,
  content,
  editBase,
  editTurn,
  fileRecord,
  link,
  listPage,
  openedLink,
  parseAnswer,
  revokedLink,
  searchPage,
  sweep,
  versionPage,
} from "./answers.ts";
import type { CallParts } from "./backend.ts";
import { callFunction } from "./rpc.ts";

export class SupabaseMetadata implements Metadata {
  constructor(private readonly client: SupabaseClient, private readonly parts: CallParts) {}

  authorize(caller: Caller, path?: string): Promise<Answer<Authorization>> {
    return this.call("filestore_authorize", caller, { p_path: path ?? null }, authorization);
  }

  record(caller: Caller, path: string, version?: number): Promise<Answer<FileRecord>> {
    return this.call("filestore_record", caller, { p_path: path, p_version: version ?? null }, fileRecord);
  }

  content(caller: Caller, path: string, version?: number): Promise<Answer<Content>> {
    return this.call("filestore_content", caller, { p_path: path, p_version: version ?? null }, content);
  }

  editBase(caller: Caller, path: string, idempotency: Idempotency | undefined): Promise<Answer<EditBase>> {
    return this.call(
      "filestore_content",
      caller,
      { p_path: path, p_idempotency: idempotency ?? {} },
      editBase,
    );
  }

  editTurn(
    caller: Caller,
    path: string,
    holder: string,
    idempotency: Idempotency | undefined,
  ): Promise<Answer<EditBase | TurnTaken>> {
    const turn = { p_holder: holder, p_seconds: EDIT_TURN_SECONDS, p_idempotency: idempotency ?? {} };
    return this.call("filestore_edit_turn", caller, { p_path: path, ...turn }, editTurn);
  }

  async endEditTurn(caller: Caller, path: string, holder: string): Promise<void> {
    const turn = { p_path: path, p_holder: holder, p_seconds: 0, p_idempotency: {} };
    await this.call("filestore_edit_turn", caller, turn, z.unknown());
  }

  comparison(caller: Caller, path: string, from?: number, to?: number): Promise<Answer<Comparison>> {
    const versions = { p_path: path, p_from: from ?? null, p_to: to ?? null };
    return this.call("filestore_diff", caller, versions, comparison);
  }

  versions(caller: Caller, path: string, limit: number, offset: number): Promise<Answer<VersionPage>> {
    const page = { p_path: path, p_limit: limit, p_offset: offset };
    return this.call("filestore_versions", caller, page, versionPage);
  }

  list(caller: Caller, query: ListQuery): Promise<Answer<ListPage>> {
    return this.call("filestore_list", caller, { p_query: query }, listPage);
  }

  search(caller: Caller, query: SearchQuery): Promise<Answer<SearchPage>> {
    return this.call("filestore_search", caller, { p_query: query }, searchPage);
  }

  commit(caller: Caller, { kind, ...commit }: Commit): Promise<Answer<Committed>> {
    return this.call("filestore_commit", caller, { p_kind: kind, p_commit: commit }, committed);
  }

  compact(
    caller: Caller,
    path: string,
    run: readonly string[],
    compacted: readonly Segment[],
  ): Promise<Answer<boolean>> {
    return this.call(
      "filestore_compact",
      caller,
      { p_path: path, p_run: run, p_compacted: compacted },
      z.boolean(),
    );
  }

  createLink(caller: Caller, created: NewLink): Promise<Answer<Link>> {
    return this.call("filestore_create_link", caller, { p_link: created }, link);
  }

  listLinks(caller: Caller): Promise<Answer<readonly Link[]>> {
    return this.call("filestore_list_links", caller, {}, z.array(link));
  }

  revokeLink(caller: Caller, id: string): Promise<Answer<{ id: string; revokedAt: string }>> {
    return this.call("filestore_revoke_link", caller, { p_id: id }, revokedLink);
  }

  linkContent(caller: Caller): Promise<Answer<Content>> {
    return this.call("filestore_link_content", caller, {}, content);
  }

  openLink(caller: Caller): Promise<Answer<OpenedLink>> {
    return this.call("filestore_link_authorize", caller, {}, openedLink);
  }

  commitLink(caller: Caller, { kind: _, ...commit }: Commit): Promise<Answer<Committed>> {
    return this.call("filestore_link_commit", caller, { p_commit: commit }, committed);
  }

  administer(
    caller: Caller,
    action: AdministrativeAction,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<Answer<unknown>> {
    const request = { p_action: action, p_parameters: parameters };
    return this.call("filestore_administer", caller, request, z.unknown());
  }

  async nextSweep(): Promise<Sweep | null> {
    return sweep.nullable().parse(await this.callInternal("filestore_sweep_next", {}));
  }

  async unreferenced(projectId: string, ids: readonly string[]): Promise<readonly string[]> {
    const parameters = { p_project_id: projectId, p_ids: ids };
    return z.array(z.string()).parse(await this.callInternal("filestore_sweep_unreferenced", parameters));
  }

  async noteSweep({ projectId, sweptThrough, day, kept }: Omit<Sweep, "through">): Promise<void> {
    const parameters = { p_project_id: projectId, p_swept_through: sweptThrough, p_day: day, p_kept: kept };
    await this.callInternal("filestore_sweep_progress", parameters);
  }

  async probe(): Promise<void> {
    z.literal(true).parse(await this.callInternal("filestore_health_probe", {}));
  }

  private async call<T>(
    name: string,
    caller: Caller,
    parameters: Record<string, unknown>,
    schema: z.ZodType<T>,
  ): Promise<Answer<T>> {
    let isAmbiguous = false;
    const data = await callFunction(
      this.client,
      this.parts,
      name,
      { p_key_hash: caller.keyHash, p_request_id: caller.requestId, ...parameters },
      { onLost: () => isAmbiguous = true },
    );
    return parseAnswer(data, isAmbiguous, schema);
  }

  /** For the service's own work: no API key, nothing counted. */
  private callInternal(name: string, parameters: Record<string, unknown>): Promise<unknown> {
    return callFunction(this.client, this.parts, name, parameters, { mayBeNull: true });
  }
}
