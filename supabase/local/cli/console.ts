/** `deno task console`: the console as static files, for any host. */
import { join, resolve } from "node:path";
import { bundle, updateLock } from "../console/bundle.ts";
import { type SiteSettings, writeSite } from "../console/site.ts";
import { CONSOLE_WORK_DIRECTORY } from "../repository.ts";
import { answer, parseCommand, remark, run, UsageError } from "./command_line.ts";

const USAGE = `deno task console --url URL --key KEY [--github] [--out DIR]

  --url URL      address of the Supabase project: https://REF.supabase.co (default: SUPABASE_URL)
  --key KEY      its publishable key, sb_publishable_... (default: SUPABASE_PUBLISHABLE_KEY)
  --github       GitHub is set up as a provider of Supabase Auth: offer it
  --out DIR      folder of the site; an earlier one in it is replaced (default supabase/.temp/console/site)
  --local        only build, for the local stack; prints the folder
  --update-lock  write supabase/console/deno.lock anew, after a version in import_map.json changed
  --help         this text`;

const OPTIONS = {
  url: { type: "string" },
  key: { type: "string" },
  github: { type: "boolean" },
  out: { type: "string" },
  local: { type: "boolean" },
  "update-lock": { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

await run(async () => {
  const { values, positionals } = parseCommand(Deno.args, OPTIONS, USAGE);
  if (positionals.length > 0) throw new UsageError(`Unknown word '${positionals[0]}'.`, USAGE);
  if (values.help) return answer(`Usage: ${USAGE}`);
  if (values["update-lock"]) return await updateLock();
  if (values.local) return answer(await bundle());
  const settings = siteSettings(values.url, values.key, values.github ?? false);
  const destination = resolve(values.out ?? join(CONSOLE_WORK_DIRECTORY, "site"));
  remark("Building the console …");
  await writeSite(await bundle(), destination, settings);
  answer(destination);
});

function siteSettings(url: string | undefined, key: string | undefined, github: boolean): SiteSettings {
  const address = url ?? Deno.env.get("SUPABASE_URL") ?? "";
  const publishableKey = key ?? Deno.env.get("SUPABASE_PUBLISHABLE_KEY") ?? "";
  if (!/^https?:\/\/[^\s;,'"/]+\/?$/.test(address)) {
    throw new UsageError("--url is an address like https://REF.supabase.co.", USAGE);
  }
  // A secret key in a page would give everything away.
  if (!/^sb_publishable_[\w-]+$/.test(publishableKey)) {
    throw new UsageError("--key is a publishable key, sb_publishable_..., never a secret one.", USAGE);
  }
  return { supabaseUrl: new URL(address).origin, publishableKey, github };
}
