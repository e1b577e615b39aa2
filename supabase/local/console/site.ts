/** A build made into a site for one Supabase project: its address in the policy, its settings beside the page. */
import { join } from "node:path";
import { StartupError } from "../startup_error.ts";

export interface SiteSettings {
  /** Address of the Supabase project, without path. */
  readonly supabaseUrl: string;
  /** `sb_publishable_…`: made for browsers. */
  readonly publishableKey: string;
  /** Whether GitHub is set up as a provider of Supabase Auth. */
  readonly github: boolean;
}

/** What the page reads as `config.json`. */
export function configJson({ supabaseUrl, publishableKey, github }: SiteSettings): string {
  const functionUrl = `${supabaseUrl}/functions/v1/api`;
  return JSON.stringify({ supabaseUrl, publishableKey, functionUrl, github });
}

/** Fills `destination` with the site. What an earlier site left there is removed; another folder is not touched. */
export async function writeSite(build: string, destination: string, settings: SiteSettings): Promise<void> {
  await removeSite(destination);
  await copyTree(build, destination);
  const page = join(destination, "index.html");
  const html = await Deno.readTextFile(page);
  const allowed = html.replace("connect-src 'self'", `connect-src 'self' ${settings.supabaseUrl}`);
  if (allowed === html) throw new Error("the page has no connect-src to extend");
  await Deno.writeTextFile(page, allowed);
  await Deno.writeTextFile(join(destination, "config.json"), configJson(settings));
}

async function removeSite(folder: string): Promise<void> {
  const names: string[] = [];
  try {
    for await (const { name } of Deno.readDir(folder)) names.push(name);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  if (names.length === 0) return;
  if (!names.includes("config.json") || !names.includes("index.html")) {
    throw new StartupError(`The folder ${folder} holds something else; choose an empty one with --out.`);
  }
  await Deno.remove(folder, { recursive: true });
}

async function copyTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyTree(join(from, name), join(to, name));
    else await Deno.copyFile(join(from, name), join(to, name));
  }
}
