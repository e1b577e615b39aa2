/** Metadata over supabase-js: each method calls one SQL function. */
import type { SupabaseClient } from "@supabase/supabase-js";
import { z } from "zod";
import { type FileRecord, fileRecord, type FolderResult, folderResult } from "../contract/files.ts";
import type { Purged, Redacted } from "../contract/files.ts";
import { type Link, link, type RevokedLink, revokedLink } from "../contract/links.ts";
import { type RunDetails, runDetails, type RunPage, runPage } from "../contract/runs.ts";
import { type UndoResult, undoResult } from "../contract/runs.ts";
import type { Cursor } from "../contract/values.ts";
import { type VersionList, versionList } from "../contract/versions.ts";
import type { AdministrativeAction } from "../ports/accounts.ts";
import type { Answer, Caller } from "../ports/answer.ts";
import type { Batch, BatchCommitted, Commit, Committed, Idempotency } from "../ports/commit.ts";
import type { FolderCommit, ManyBasis, ManyCommitted, RestoreFolder, Undo } from "../ports/commit_many.ts";
import type { ChangeQuery, FeedPage } from "../ports/changes.ts";
import type { Comparison, Content, EditBase, ListPage, ListQuery } from "../ports/files.ts";
import type {
  Authorization,
  DeadSegment,
  DeletedProject,
  Metadata,
  Sweep,
  SweepKind,
} from "../ports/metadata.ts";
import type { Purge, Redaction } from "../ports/erasure.ts";
import type { NewLink, OpenedLink } from "../ports/links.ts";
import type { IndexedScope, SearchPage, SearchQuery } from "../ports/search_index.ts";
import type { Segment } from "../ports/segments.ts";
import {
  authorization,
  batchCommitted,
  committed,
  comparison,
  content,
  deadSegments,
  deletedProject,
  editBase,
  feedPage,
  listPage,
  manyCommitted,
  openedLink,
  parseAnswer,
  purge,
  redaction,
  searchPage,
  sweep,
} from "./answers.ts";
import { type CallParts, type Outcome, withRetries } from "./backend.ts";
import { callFunction } from "./rpc.ts";

export class SupabaseMetadata implements Metadata {
  constructor(private readonly client: SupabaseClient, private readonly parts: CallParts) {}

  authorize(caller: Caller, path?: string, requests = 1): Promise<Answer<Authorization>> {
    const parameters = { p_path: path ?? null, p_requests: requests };
    return this.call("filestore_authorize", caller, parameters, authorization);
  }

  record(caller: Caller, path: string, version?: number, at?: string): Promise<Answer<FileRecord>> {
    const which = { p_path: path, p_version: version ?? null, p_at: at ?? null };
    return this.call("filestore_record", caller, which, fileRecord);
  }

  content(caller: Caller, path: string, version?: number, at?: string): Promise<Answer<Content>> {
    const which = { p_path: path, p_version: version ?? null, p_at: at ?? null };
    return this.call("filestore_content", caller, which, content);
  }

  editBase(caller: Caller, path: string, idempotency: Idempotency | undefined): Promise<Answer<EditBase>> {
    return this.call(
      "filestore_content",
      caller,
      { p_path: path, p_idempotency: idempotency ?? {} },
      editBase,
    );
  }

  comparison(caller: Caller, path: string, from?: number, to?: number): Promise<Answer<Comparison>> {
    const versions = { p_path: path, p_from: from ?? null, p_to: to ?? null };
    return this.call("filestore_diff", caller, versions, comparison);
  }

  comparisonOfFiles(
    caller: Caller,
    path: string,
    toPath: string,
    from?: number,
    to?: number,
  ): Promise<Answer<Comparison>> {
    const sides = { p_path: path, p_to_path: toPath, p_from: from ?? null, p_to: to ?? null };
    return this.call("filestore_diff", caller, sides, comparison);
  }

  versions(
    caller: Caller,
    path: string,
    limit: number,
    offset: number,
    at?: string,
  ): Promise<Answer<VersionList>> {
    const page = { p_path: path, p_limit: limit, p_offset: offset, p_at: at ?? null };
    return this.call("filestore_versions", caller, page, versionList);
  }

  list(caller: Caller, query: ListQuery): Promise<Answer<ListPage>> {
    return this.call("filestore_list", caller, { p_query: query }, listPage);
  }

  exported(caller: Caller, directory: string, at?: string): Promise<Answer<readonly Content[]>> {
    const which = { p_directory: directory, p_at: at ?? null };
    return this.call("filestore_export", caller, which, z.array(content));
  }

  changes(caller: Caller, query: ChangeQuery): Promise<Answer<FeedPage>> {
    return this.call("filestore_changes", caller, { p_query: query }, feedPage);
  }

  async newestChange(projectId: string, known: number): Promise<number> {
    const parameters = { p_project_id: projectId, p_known: known };
    return z.number().parse(await this.callInternal("filestore_newest_change", parameters));
  }

  runs(caller: Caller, limit: number, after?: Cursor): Promise<Answer<RunPage>> {
    return this.call("filestore_runs", caller, { p_limit: limit, p_after: after ?? null }, runPage);
  }

  run(caller: Caller, runId: string, limit: number, after?: string): Promise<Answer<RunDetails>> {
    const page = { p_run_id: runId, p_limit: limit, p_after: after ?? null };
    return this.call("filestore_run", caller, page, runDetails);
  }

  search(caller: Caller, query: SearchQuery): Promise<Answer<SearchPage>> {
    return this.call("filestore_search", caller, { p_query: query }, searchPage);
  }

  async areIndexed(projectId: string, scopes: readonly IndexedScope[]): Promise<readonly boolean[]> {
    const parameters = {
      p_project_id: projectId,
      p_scopes: scopes.map(({ scope }) => scope),
      p_stages: scopes.map(({ stage }) => stage),
    };
    return z.array(z.boolean()).parse(await this.callInternal("filestore_search_indexed", parameters));
  }

  commitFolder(
    caller: Caller,
    commit: FolderCommit & ManyBasis,
  ): Promise<Answer<ManyCommitted<FolderResult>>> {
    return this.commitMany(caller, commit, manyCommitted(folderResult));
  }

  commitBack(
    caller: Caller,
    commit: (Undo | RestoreFolder) & ManyBasis,
  ): Promise<Answer<ManyCommitted<UndoResult>>> {
    return this.commitMany(caller, { dryRun: false, ...commit }, manyCommitted(undoResult));
  }

  plan(caller: Caller, { kind, ...commit }: Undo | RestoreFolder): Promise<Answer<UndoResult>> {
    const plan = { p_kind: kind, p_commit: { dryRun: true, ...commit } };
    return this.call("filestore_plan", caller, plan, undoResult);
  }

  private commitMany<T>(
    caller: Caller,
    { kind, ...commit }: { readonly kind: string; readonly dryRun?: boolean },
    answer: z.ZodType<T>,
  ): Promise<Answer<T>> {
    const { provenance } = caller;
    return this.call(
      "filestore_commit_many",
      caller,
      { p_requests: 1, p_kind: kind, p_commit: { ...commit, provenance } },
      answer,
    );
  }

  commit(caller: Caller, { kind, ...commit }: Commit): Promise<Answer<Committed>> {
    const { provenance } = caller;
    return this.call(
      "filestore_commit",
      caller,
      { p_kind: kind, p_commit: { ...commit, provenance } },
      committed,
    );
  }

  commitBatch(caller: Caller, batch: Batch, requests: number): Promise<Answer<BatchCommitted>> {
    const { provenance } = caller;
    const commit = { p_requests: requests, p_kind: "batch", p_commit: { ...batch, provenance } };
    return this.call("filestore_commit_many", caller, commit, batchCommitted);
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

  purge(caller: Caller, commit: Purge): Promise<Answer<ManyCommitted<Omit<Purged, "path">>>> {
    const { provenance } = caller;
    return this.call(
      "filestore_commit",
      caller,
      { p_kind: "purge", p_commit: { ...commit, provenance } },
      purge,
    );
  }

  redact(caller: Caller, { path, versions, note }: Redaction): Promise<Answer<Omit<Redacted, "path">>> {
    const which = { p_path: path, p_versions: versions, p_note: note ?? null };
    return this.call("filestore_redact", caller, which, redaction);
  }

  createLink(caller: Caller, created: NewLink): Promise<Answer<Link>> {
    return this.call("filestore_create_link", caller, { p_link: created }, link);
  }

  listLinks(caller: Caller): Promise<Answer<readonly Link[]>> {
    return this.call("filestore_list_links", caller, {}, z.array(link));
  }

  revokeLink(caller: Caller, id: string): Promise<Answer<RevokedLink>> {
    return this.call("filestore_revoke_link", caller, { p_id: id }, revokedLink);
  }

  linkContent(caller: Caller): Promise<Answer<Content>> {
    return this.call("filestore_link_content", caller, {}, content);
  }

  openLink(caller: Caller): Promise<Answer<OpenedLink>> {
    return this.call("filestore_link_authorize", caller, {}, openedLink);
  }

  commitLink(caller: Caller, { kind: _, ...commit }: Commit): Promise<Answer<Committed>> {
    const { provenance } = caller;
    return this.call("filestore_link_commit", caller, { p_commit: { ...commit, provenance } }, committed);
  }

  administer(
    caller: Caller,
    action: AdministrativeAction,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<Answer<unknown>> {
    const request = { p_action: action, p_parameters: parameters };
    return this.call("filestore_administer", caller, request, z.unknown());
  }

  async sweepErasures(kind: SweepKind, begun?: string): Promise<boolean> {
    const parameters = { p_kind: kind, p_begun: begun ?? null };
    return z.boolean().parse(await this.callInternal("filestore_sweep_erasures", parameters));
  }

  async deadSegments(limit: number, begun?: string): Promise<readonly DeadSegment[]> {
    const parameters = { p_limit: limit, p_begun: begun ?? null };
    return deadSegments.parse(await this.callInternal("filestore_sweep_dead", parameters));
  }

  async noteRemoved(ids: readonly string[]): Promise<void> {
    await this.callInternal("filestore_sweep_removed", { p_ids: ids });
  }

  async nextDeletedProject(begun?: string): Promise<DeletedProject | null> {
    const found = await this.callInternal("filestore_sweep_deleted_project", { p_begun: begun ?? null });
    return deletedProject.nullable().parse(found);
  }

  async nextDeletedAccount(begun?: string): Promise<string | null> {
    const found = await this.callInternal("filestore_sweep_deleted_account", { p_begun: begun ?? null });
    return z.string().nullable().parse(found);
  }

  async nextSweep(begun?: string): Promise<Sweep | null> {
    const found = await this.callInternal("filestore_sweep_next", { p_begun: begun ?? null });
    return sweep.nullable().parse(found);
  }

  async unreferenced(projectId: string, ids: readonly string[]): Promise<readonly string[]> {
    const parameters = { p_project_id: projectId, p_ids: ids };
    return z.array(z.string()).parse(await this.callInternal("filestore_sweep_unreferenced", parameters));
  }

  async noteSweep({ projectId, sweptThrough, day, kept }: Omit<Sweep, "through">): Promise<void> {
    const parameters = { p_project_id: projectId, p_swept_through: sweptThrough, p_day: day, p_kept: kept };
    await this.callInternal("filestore_sweep_progress", parameters);
  }

  async noteDeletedObjects(projectId: string, objects: readonly string[]): Promise<void> {
    await this.callInternal("filestore_sweep_note_objects", { p_project_id: projectId, p_objects: objects });
  }

  async removeDeletedSegments(projectId: string, objects: readonly string[]): Promise<void> {
    await this.callInternal("filestore_sweep_forget_segments", {
      p_project_id: projectId,
      p_objects: objects,
    });
  }

  async removeDeletedRows(projectId: string): Promise<number> {
    return z.number().parse(
      await this.callInternal("filestore_sweep_remove_rows", { p_project_id: projectId }),
    );
  }

  async removeAccount(accountId: string): Promise<void> {
    await withRetries(this.parts, "delete user", async (): Promise<Outcome<true>> => {
      const { error } = await this.client.auth.admin.deleteUser(accountId);
      // An earlier call whose answer was lost may have removed the user already.
      if (error === null || error.code === "user_not_found") return { value: true };
      return { transient: error.code ?? String(error.status ?? error.name) };
    });
    await this.callInternal("filestore_sweep_forget_account", { p_account_id: accountId });
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

  /** Calls a function for the service's own work, without an API key and without counting. */
  private callInternal(name: string, parameters: Record<string, unknown>): Promise<unknown> {
    return callFunction(this.client, this.parts, name, parameters, { mayBeNull: true });
  }
}
