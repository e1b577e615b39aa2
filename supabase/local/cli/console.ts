/** `deno task console`: builds the console as static files for any host. */
import { join, resolve } from "node:path";
import { bundle } from "../console/bundle.ts";
import { readIssuerDocument, type SiteSettings, writeSite } from "../console/site.ts";
import { CONSOLE_WORK_DIRECTORY } from "../repository.ts";
import { parseCommand, printLine, printNotice, run, UsageError } from "./command_line.ts";

const USAGE = `deno task console --url URL --key KEY [--github] [--issuer URL] [--out DIR]

  --url URL     address of the Supabase project: https://REF.supabase.co (default: SUPABASE_URL)
  --key KEY     its publishable key, sb_publishable_... (default: SUPABASE_PUBLISHABLE_KEY)
  --github      offer sign-in with GitHub; it must be enabled as a provider in Supabase Auth
  --issuer URL  address of the site, if OAUTH_ISSUER of the deployed function names it (default: OAUTH_ISSUER): the
                site gets the documents in which apps look for the function's OAuth
  --out DIR     folder of the site; an existing site in it is replaced (default supabase/.temp/console/site)
  --local       only build, for the local stack, and print the folder
  --help        print this text
  --version     print the version`;

const OPTIONS = {
  url: { type: "string" },
  key: { type: "string" },
  github: { type: "boolean" },
  issuer: { type: "string" },
  out: { type: "string" },
  local: { type: "boolean" },
} as const;

await run(USAGE, async () => {
  const { values } = parseCommand(Deno.args, OPTIONS, USAGE);
  if (values.local) return printLine(await bundle());
  const settings = siteSettings(values.url, values.key, values.github ?? false);
  const issuer = issuerOf(values.issuer);
  const destination = resolve(values.out ?? join(CONSOLE_WORK_DIRECTORY, "site"));
  printNotice("Building the console …");
  const issuerDocument = issuer && await readIssuerDocument(settings.supabaseUrl, issuer);
  await writeSite(await bundle(), destination, { ...settings, issuerDocument });
  printLine(destination);
});

/** Apps look at the root of the host, so the address has no path. */
function issuerOf(option: string | undefined): string | undefined {
  const issuer = option ?? Deno.env.get("OAUTH_ISSUER") ?? "";
  if (issuer === "") return undefined;
  if (URL.parse(issuer)?.origin !== issuer) {
    throw new UsageError(
      "--issuer must be the address of a host, like https://files.example.com, without a path.",
    );
  }
  return issuer;
}

function siteSettings(url: string | undefined, key: string | undefined, github: boolean): SiteSettings {
  const address = url ?? Deno.env.get("SUPABASE_URL") ?? "";
  const publishableKey = key ?? Deno.env.get("SUPABASE_PUBLISHABLE_KEY") ?? "";
  if (!/^https?:\/\/[^\s;,'"/]+\/?$/.test(address)) {
    throw new UsageError("--url must be an address like https://REF.supabase.co.");
  }
  // A secret key in a public page would grant full access to the project.
  if (!/^sb_publishable_[\w-]+$/.test(publishableKey)) {
    throw new UsageError("--key must be a publishable key (sb_publishable_...), not a secret key.");
  }
  return { supabaseUrl: new URL(address).origin, publishableKey, github };
}
