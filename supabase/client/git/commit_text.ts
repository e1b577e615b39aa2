/** What a commit says: who, why, its run and its cursor. */
import { counted } from "../../functions/api/runtime/counted.ts";
import { FilestoreError } from "../library/errors.ts";
import type { Filestore } from "../library/filestore.ts";
import type { Change } from "../library/records.ts";

/** Where neither an actor is recorded nor the name of the key can be seen. */
const NOBODY = "filestore";

/** The author of a version: its actor, or the name of its key, which only a key with the scope `admin` can see. */
export async function authors(store: Filestore): Promise<(change: Change) => string> {
  const names = new Map<string, string>();
  try {
    const { keys } = await store.api.data<
      { readonly keys: readonly { readonly id: string; readonly name: string }[] }
    >(
      "/project/apikeys",
    );
    for (const { id, name } of keys) names.set(id, name);
  } catch (error) {
    if (!(error instanceof FilestoreError) || error.status !== 403) throw error;
  }
  return ({ actor, keyId = "" }) => nameOf(actor ?? "") || nameOf(names.get(keyId) ?? "") || NOBODY;
}

/** A name without what git allows in none. */
function nameOf(text: string): string {
  return text.replaceAll(/[<>\p{Cc}]/gu, "").trim();
}

/** The note, or a line that says what was done; then the run and the cursor of the last version. */
export function messageOf(versions: readonly Change[]): string {
  const [first] = versions;
  const last = versions.at(-1);
  const note = versions.find((version) => version.note !== undefined)?.note?.trim();
  const run = versions.find((version) => version.runId !== undefined)?.runId;
  const trailers = [...run === undefined ? [] : [`Run: ${run}`], `Cursor: ${last?.cursor}`];
  return `${note || lineOf(first, versions.length)}\n\n${trailers.join("\n")}\n`;
}

function lineOf(version: Change | undefined, count: number): string {
  const operation = version?.operation ?? "write";
  if (count > 1) return `${operation} ${counted(count, "version")}`;
  return version?.path === undefined ? operation : `${operation} ${version.path}`;
}
