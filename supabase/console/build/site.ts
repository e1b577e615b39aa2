/** A build made into a site for one Supabase project: its address in the policy, its settings beside the page. */
import { join } from "node:path";

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

/** Fills `destination`, which is emptied first, with the site. */
export async function writeSite(build: string, destination: string, settings: SiteSettings): Promise<void> {
  await Deno.remove(destination, { recursive: true }).catch(() => {});
  await copyTree(build, destination);
  const page = join(destination, "index.html");
  const html = await Deno.readTextFile(page);
  const allowed = html.replace("connect-src 'self'", `connect-src 'self' ${settings.supabaseUrl}`);
  if (allowed === html) throw new Error("the page has no connect-src to extend");
  await Deno.writeTextFile(page, allowed);
  await Deno.writeTextFile(join(destination, "config.json"), configJson(settings));
}

async function copyTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyTree(join(from, name), join(to, name));
    else await Deno.copyFile(join(from, name), join(to, name));
  }
}
