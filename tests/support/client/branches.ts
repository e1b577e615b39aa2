/** Branches as a client uses them. */
import type { z } from "zod";
import {
  branch,
  branchDetails,
  branchPage,
  mergeResult,
} from "../../../supabase/functions/api/contract/branches.ts";
import type { Service } from "../stack/service.ts";
import { type Answer, dataOf } from "./contract.ts";
import { Files, type HeaderFields } from "./files.ts";

export type Merged = z.infer<typeof mergeResult>;
type Fields = Readonly<Record<string, unknown>>;

/** The branches of a project, with one key. */
export class Branches {
  constructor(readonly own: Files) {}

  tryCreate(name: string, fields: Fields = {}): Promise<Answer> {
    return this.own.request("POST", "/branches", { body: { name, ...fields } });
  }

  async create(name: string, fields: Fields = {}) {
    return dataOf(await this.tryCreate(name, fields), "create_branch", branch);
  }

  tryGet(name: string, query: Readonly<Record<string, string | number>> = {}): Promise<Answer> {
    return this.own.request("GET", `/branches/${name}`, { query });
  }

  async get(name: string, query: Readonly<Record<string, string | number>> = {}) {
    return dataOf(await this.tryGet(name, query), "get_branch", branchDetails);
  }

  async list(query: Readonly<Record<string, string | number>> = {}) {
    return dataOf(await this.own.request("GET", "/branches", { query }), "list_branches", branchPage);
  }

  tryChange(name: string, fields: Fields): Promise<Answer> {
    return this.own.request("PATCH", `/branches/${name}`, { body: fields });
  }

  async change(name: string, fields: Fields) {
    return dataOf(await this.tryChange(name, fields), "change_branch", branch);
  }

  tryMerge(name: string, fields: Fields = {}, headers: HeaderFields = {}): Promise<Answer> {
    return this.own.request("POST", `/branches/${name}/merge`, {
      body: { dryRun: false, ...fields },
      headers,
    });
  }

  async merge(name: string, fields: Fields = {}, headers: HeaderFields = {}): Promise<Merged> {
    return dataOf(await this.tryMerge(name, fields, headers), "merge_branch", mergeResult);
  }

  tryUpdate(name: string, fields: Fields = {}, headers: HeaderFields = {}): Promise<Answer> {
    return this.own.request("POST", `/branches/${name}/update`, {
      body: { dryRun: false, ...fields },
      headers,
    });
  }

  async update(name: string, fields: Fields = {}): Promise<Merged> {
    return dataOf(await this.tryUpdate(name, fields), "update_branch", mergeResult);
  }
}

/** A further key of a project, confined to a folder. */
export async function confinedTo(
  service: Service,
  projectId: string,
  folder: string,
  scopes = "{read,write}",
) {
  const { id, key } = await service.key(projectId);
  await service.sql("update filestore.api_keys set path_prefix = $2, scopes = $3 where id = $1", [
    id,
    folder,
    scopes,
  ]);
  return new Files(service, key);
}
