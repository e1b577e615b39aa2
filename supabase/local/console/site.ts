/**
 * Converts a build to a site for one Supabase project: writes the project's address into the policy, the settings into
 * config.json, and the required headers into _headers; and puts the clients beside them.
 */
import { join } from "node:path";
import { StartupError } from "../startup_error.ts";
import { CLIENT_FILES, clientFile } from "./client_files.ts";

export interface SiteSettings {
  /** Address of the Supabase project, without path. */
  readonly supabaseUrl: string;
  /** `sb_publishable_…`: safe to publish. */
  readonly publishableKey: string;
  /** Whether GitHub is enabled as a provider in Supabase Auth. */
  readonly github: boolean;
  /** The function's OAuth metadata, if apps find it at the site's host (`OAUTH_ISSUER`). */
  readonly issuerDocument?: string | undefined;
  /** Whether `local_mail.json` beside the page contains the mail that Auth would send; true on a local stack only. */
  readonly localMail?: boolean;
}

/**
 * Headers that the site's host must send with every file, since a page cannot declare them. Other policies are in the
 * page itself; both apply.
 */
export const SITE_HEADERS = {
  "content-security-policy": "frame-ancestors 'none'",
  // For browsers that do not know frame-ancestors.
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
} as const;

/** Returns the `config.json` that the page reads. */
export function configJson({ supabaseUrl, publishableKey, github, localMail = false }: SiteSettings): string {
  const functionUrl = `${supabaseUrl}/functions/v1/api`;
  return JSON.stringify({ supabaseUrl, publishableKey, functionUrl, github, localMail });
}

/**
 * Returns the OAuth metadata of the deployed function, which has to be the same at the host of its issuer. Throws
 * `StartupError` if the function names another issuer.
 */
export async function readIssuerDocument(supabaseUrl: string, issuer: string): Promise<string> {
  const address = `${supabaseUrl}/functions/v1/api/.well-known/openid-configuration`;
  const response = await fetch(address).catch(() => null);
  const text = await response?.text() ?? "";
  if (!response?.ok) {
    throw new StartupError(
      `${address} did not answer (status ${response?.status}): deploy the function first.`,
    );
  }
  const named: unknown = JSON.parse(text).issuer;
  if (named !== issuer) {
    throw new StartupError(`The function's issuer is ${named}: set its OAUTH_ISSUER to ${issuer} first.`);
  }
  return text;
}

/** Writes the site to `destination`; replaces an existing site. Throws `StartupError` if the folder has other files. */
export async function writeSite(build: string, destination: string, settings: SiteSettings): Promise<void> {
  await removeSite(destination);
  await copyTree(build, destination);
  const page = join(destination, "index.html");
  const html = await Deno.readTextFile(page);
  const allowed = html.replace("connect-src 'self'", `connect-src 'self' ${settings.supabaseUrl}`);
  if (allowed === html) throw new Error("the page has no connect-src to extend");
  await Deno.writeTextFile(page, allowed);
  // Hosts show it at `authorize`, where the function sends the people whom an app asks to sign in.
  await Deno.writeTextFile(join(destination, "authorize.html"), allowed);
  // The name under which hosts look for the page that they show at an unknown address.
  await Deno.writeTextFile(join(destination, "404.html"), unknownPage("/"));
  await Deno.writeTextFile(join(destination, "config.json"), configJson(settings));
  for (const name of CLIENT_FILES) {
    await Deno.writeTextFile(join(destination, name), await clientFile(name));
  }
  // The format that Netlify, Cloudflare Pages and others share.
  const headers = Object.entries(SITE_HEADERS).map(([name, value]) => `  ${name}: ${value}\n`);
  const rules = `/*\n${headers.join("")}`;
  const { issuerDocument } = settings;
  if (issuerDocument !== undefined) await writeIssuer(destination, issuerDocument);
  const more = issuerDocument === undefined ? "" : ISSUER_RULES;
  await Deno.writeTextFile(join(destination, "_headers"), rules + more);
}

/** What a person sees at an address that is no file of the console, which begins at `start`. */
export function unknownPage(start: string): string {
  return messagePage("There is no page at this address.", `<p><a href="${start}">Open the console</a></p>`);
}

/** Returns a page without scripts or styles. `more` is HTML. */
export function messagePage(text: string, more = ""): string {
  const escaped = text.replace(/[&<]/g, (character) => character === "&" ? "&amp;" : "&lt;");
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Filestore</title>` +
    `<meta name="color-scheme" content="light dark"></head>` +
    `<body><main><p role="status">${escaped}</p>${more}</main></body></html>`;
}

/** Apps in a browser read these documents, too; their names have no extension that tells their type. */
const ISSUER_RULES = `/.well-known/*
  content-type: application/json
  access-control-allow-origin: *
`;

async function writeIssuer(destination: string, document: string): Promise<void> {
  const folder = join(destination, ".well-known");
  await Deno.mkdir(folder);
  for (const name of ["oauth-authorization-server", "openid-configuration"]) {
    await Deno.writeTextFile(join(folder, name), document);
  }
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
    throw new StartupError(`The folder ${folder} contains other files; choose an empty folder with --out.`);
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
