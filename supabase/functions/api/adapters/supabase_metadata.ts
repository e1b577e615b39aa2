/** Metadata over supabase-js: each method calls one SQL function. */
import type { SupabaseClient } from "@supabase/supabase-js";
import { z } from "zod";
import { fileRecord, folderResult } from "../contract/files.ts";
import { link, revokedLink } from "../contract/links.ts";
import { runDetails, runPage, undoResult } from "../contract/runs.ts";
import { versionList } from "../contract/versions.ts";
import type { Answer, Caller } from "../ports/answer.ts";
import { feedPage } from "../ports/changes.ts";
import { comparison, content, editBase, listPage } from "../ports/files.ts";
import { openedLink } from "../ports/links.ts";
import { authorization, deadSegment, deletedProject, type Metadata, sweep } from "../ports/metadata.ts";
import { searchPage } from "../ports/search_index.ts";
import { batchCommitted, committed, manyCommitted, parseAnswer, purge, redaction } from "./answers.ts";
import { type CallParts, type Outcome, withRetries } from "./backend.ts";
import { callFunction, type Parameters } from "./rpc.ts";

export function supabaseMetadata(client: SupabaseClient, parts: CallParts): Metadata {
  const call: Call = async (name, { keyHash, requestId }, parameters, schema) => {
    let isAmbiguous = false;
    const onLost = () => void (isAmbiguous = true);
    const data = await callFunction(client, parts, name, { keyHash, requestId, ...parameters }, { onLost });
    return parseAnswer(data, isAmbiguous, schema);
  };
  const callInternal: CallInternal = async (name, parameters, schema) =>
    schema.parse(await callFunction(client, parts, name, parameters, { mayBeNull: true }));
  return {
    ...reads(call),
    ...commits(call),
    ...links(call),
    ...watches(callInternal),
    ...sweeps(callInternal),
    async removeAccount(accountId) {
      await withRetries(parts, "delete user", async (): Promise<Outcome<true>> => {
        const { error } = await client.auth.admin.deleteUser(accountId);
        // An earlier call whose answer was lost may have removed the user already.
        if (error === null || error.code === "user_not_found") return { value: true };
        return { transient: error.code ?? String(error.status ?? error.name) };
      });
      await callInternal("filestore_sweep_forget_account", { accountId }, NOTHING);
    },
  };
}

/** Calls a function for the holder of a key. */
type Call = <T>(
  name: string,
  caller: Caller,
  parameters: Parameters,
  schema: z.ZodType<T>,
) => Promise<Answer<T>>;

/** Calls a function for the service's own work, without an API key and without counting. */
type CallInternal = <T>(name: string, parameters: Parameters, schema: z.ZodType<T>) => Promise<T>;

const NOTHING = z.unknown().transform(() => {});

function reads(call: Call) {
  return {
    authorize: (caller, path, requests = 1) =>
      call("filestore_authorize", caller, { path, requests }, authorization),
    record: (caller, path, version, at) =>
      call("filestore_content", caller, { path, version, at, withSegments: false }, fileRecord),
    content: (caller, path, version, at) => call("filestore_content", caller, { path, version, at }, content),
    editBase: (caller, path, idempotency) =>
      call("filestore_content", caller, { path, idempotency: idempotency ?? {} }, editBase),
    comparison: (caller, path, from, to) => call("filestore_diff", caller, { path, from, to }, comparison),
    comparisonOfFiles: (caller, path, toPath, from, to) =>
      call("filestore_diff", caller, { path, toPath, from, to }, comparison),
    versions: (caller, path, limit, offset, at) =>
      call("filestore_versions", caller, { path, limit, offset, at }, versionList),
    list: (caller, query) => call("filestore_list", caller, { query }, listPage),
    exported: (caller, directory, at) =>
      call("filestore_export", caller, { directory, at }, z.array(content)),
    changes: (caller, query) => call("filestore_changes", caller, { query }, feedPage),
    runs: (caller, limit, after) => call("filestore_runs", caller, { limit, after }, runPage),
    run: (caller, runId, limit, after) => call("filestore_run", caller, { runId, limit, after }, runDetails),
    search: (caller, query) => call("filestore_search", caller, { query }, searchPage),
    plan: (caller, { kind, ...commit }) =>
      call("filestore_plan", caller, { kind, commit: { dryRun: true, ...commit } }, undoResult),
    administer: (caller, action, parameters) =>
      call("filestore_administer", caller, { action, parameters }, z.unknown()),
  } satisfies Partial<Metadata>;
}

type Kind = { readonly kind: string; readonly dryRun?: boolean };

/** The parameters of a commit: its kind, and its other fields with the provenance. */
function withProvenance({ provenance }: Caller, { kind, ...commit }: Kind) {
  return { kind, commit: { ...commit, provenance } };
}

function commits(call: Call) {
  const commitMany = <T>(caller: Caller, commit: Kind, schema: z.ZodType<T>, requests = 1) =>
    call("filestore_commit_many", caller, { requests, ...withProvenance(caller, commit) }, schema);
  return {
    commit: (caller, commit) => call("filestore_commit", caller, withProvenance(caller, commit), committed),
    commitBatch: (caller, batch, requests) =>
      commitMany(caller, { kind: "batch", ...batch }, batchCommitted, requests),
    commitFolder: (caller, commit) => commitMany(caller, commit, manyCommitted(folderResult)),
    commitRevert: (caller, commit) =>
      commitMany(caller, { dryRun: false, ...commit }, manyCommitted(undoResult)),
    compact: (caller, path, run, compacted) =>
      call("filestore_compact", caller, { path, run, compacted }, z.boolean()),
    purge: (caller, commit) =>
      call("filestore_commit", caller, withProvenance(caller, { kind: "purge", ...commit }), purge),
    redact: (caller, { path, versions, note }) =>
      call("filestore_redact", caller, { path, versions, note }, redaction),
  } satisfies Partial<Metadata>;
}

function links(call: Call) {
  return {
    createLink: (caller, created) => call("filestore_create_link", caller, { link: created }, link),
    listLinks: (caller) => call("filestore_list_links", caller, {}, z.array(link)),
    revokeLink: (caller, id) => call("filestore_revoke_link", caller, { id }, revokedLink),
    linkContent: (caller) => call("filestore_link", caller, { for: "read" }, content),
    openLink: (caller) => call("filestore_link", caller, { for: "write" }, openedLink),
    commitLink: (caller, commit) =>
      call("filestore_link_commit", caller, { commit: withProvenance(caller, commit).commit }, committed),
  } satisfies Partial<Metadata>;
}

function watches(call: CallInternal) {
  return {
    newestChange: (projectId, known) => call("filestore_newest_change", { projectId, known }, z.number()),
    areIndexed: (projectId, given) => {
      const [scopes, stages] = [given.map(({ scope }) => scope), given.map(({ stage }) => stage)];
      return call("filestore_search_indexed", { projectId, scopes, stages }, z.array(z.boolean()));
    },
    probe: async () => void await call("filestore_health_probe", {}, z.literal(true)),
  } satisfies Partial<Metadata>;
}

function sweeps(call: CallInternal) {
  return {
    sweepErasures: (kind, begun) => call("filestore_sweep_erasures", { kind, begun }, z.boolean()),
    deadSegments: (limit, begun) => call("filestore_sweep_dead", { limit, begun }, z.array(deadSegment)),
    noteRemoved: (ids) => call("filestore_sweep_removed", { ids }, NOTHING),
    nextDeletedProject: (begun) =>
      call("filestore_sweep_deleted_project", { begun }, deletedProject.nullable()),
    nextDeletedAccount: (begun) => call("filestore_sweep_deleted_account", { begun }, z.string().nullable()),
    nextSweep: (begun) => call("filestore_sweep_next", { begun }, sweep.nullable()),
    unreferenced: (projectId, ids) =>
      call("filestore_sweep_unreferenced", { projectId, ids }, z.array(z.string())),
    noteSweep: ({ projectId, sweptThrough, day, kept }) =>
      call("filestore_sweep_progress", { projectId, sweptThrough, day, kept }, NOTHING),
    noteDeletedObjects: (projectId, objects) =>
      call("filestore_sweep_objects", { projectId, objects, areRemoved: false }, NOTHING),
    removeDeletedSegments: (projectId, objects) =>
      call("filestore_sweep_objects", { projectId, objects, areRemoved: true }, NOTHING),
    removeDeletedRows: (projectId) => call("filestore_sweep_remove_rows", { projectId }, z.number()),
  } satisfies Partial<Metadata>;
}
