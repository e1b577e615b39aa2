/** The address and secret key of the running stack, for the command line: stored in its data folder, readable by its owner only. */
import { readJsonFile, writeJsonFile } from "./json_file.ts";

export interface RunningStack {
  readonly supabaseUrl: string;
  readonly secretKey: string;
  /** The demo project's key; absent if an earlier version wrote the file. */
  readonly apiKey?: string | undefined;
}

export async function writeState(
  file: string,
  { supabaseUrl, secretKey, apiKey }: RunningStack,
): Promise<void> {
  await writeJsonFile(file, { supabaseUrl, secretKey, apiKey });
}

/** Returns null if the data folder records no running stack. */
export async function readState(file: string): Promise<RunningStack | null> {
  const state = await readJsonFile(file);
  if (typeof state !== "object" || state === null) return null;
  if (!("supabaseUrl" in state) || typeof state.supabaseUrl !== "string") return null;
  if (!("secretKey" in state) || typeof state.secretKey !== "string") return null;
  const apiKey = "apiKey" in state && typeof state.apiKey === "string" ? state.apiKey : undefined;
  return { supabaseUrl: state.supabaseUrl, secretKey: state.secretKey, apiKey };
}

export async function removeState(file: string): Promise<void> {
  await Deno.remove(file).catch(() => {/* already removed */});
}
