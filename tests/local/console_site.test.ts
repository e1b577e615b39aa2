/** The site that `deno task console` writes: the page of apps that sign in, and the documents of an issuer. */
import { assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { readIssuerDocument, writeSite } from "../../supabase/local/console/site.ts";
import { StartupError } from "../../supabase/local/startup_error.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";

const SETTINGS = {
  supabaseUrl: "https://ref.supabase.co",
  publishableKey: "sb_publishable_x",
  github: false,
};
const ISSUER = "https://files.example.com";
const DOCUMENT = JSON.stringify({ issuer: ISSUER, token_endpoint: "https://ref.supabase.co/token" });

type Read = (name: string) => Promise<string | null>;

async function withSite(issuerDocument: string | undefined, use: (read: Read) => Promise<void>) {
  await withScratchDirectory(async (folder) => {
    const [build, site] = [join(folder, "build"), join(folder, "site")];
    await Deno.mkdir(build);
    await Deno.writeTextFile(join(build, "index.html"), `<meta content="connect-src 'self'">`);
    await writeSite(build, site, { ...SETTINGS, issuerDocument });
    await use((name) => Deno.readTextFile(join(site, name)).catch(() => null));
  });
}

Deno.test("site: people whom an app sends come to the same page at authorize", async () => {
  await withSite(undefined, async (read) => {
    assertEquals(await read("authorize.html"), await read("index.html"));
  });
});

Deno.test("site: only the issuer's site has its documents, both the same and readable for pages of other sites", async () => {
  await withSite(DOCUMENT, async (read) => {
    assertEquals(await read(".well-known/oauth-authorization-server"), DOCUMENT);
    assertEquals(await read(".well-known/openid-configuration"), DOCUMENT);
    const [, rule] = (await read("_headers") ?? "").split(/^(?=\/\.well-known)/m);
    const headers = "  content-type: application/json\n  access-control-allow-origin: *\n";
    assertEquals(rule, `/.well-known/*\n${headers}`);
  });
  await withSite(undefined, async (read) => {
    assertEquals(await read(".well-known/openid-configuration"), null);
    assertEquals((await read("_headers"))?.includes("well-known"), false);
  });
});

Deno.test("site: the documents are the function's own, and no site is built for another issuer than it names", async () => {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ url }) => {
    const isDocument = new URL(url).pathname === "/functions/v1/api/.well-known/openid-configuration";
    return new Response(DOCUMENT, { status: isDocument ? 200 : 404 });
  });
  const address = `http://127.0.0.1:${server.addr.port}`;
  assertEquals(await readIssuerDocument(address, ISSUER), DOCUMENT);
  await assertRejects(() => readIssuerDocument(address, "https://other.example.com"), StartupError, ISSUER);
  await assertRejects(() => readIssuerDocument(`${address}/elsewhere`, ISSUER), StartupError, "404");
});
