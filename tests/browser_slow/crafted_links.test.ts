/** Links crafted by an attacker: none signs a visitor in, and none shows the console where it can be abused. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { bundle } from "../../supabase/local/console/bundle.ts";
import { SITE_HEADERS, writeSite } from "../../supabase/local/console/site.ts";
import { browserSuite, SESSION_KEY } from "../support/browser/browser.ts";
import { press, says } from "../support/browser/page_actions.ts";
import { newPerson, type Person } from "../support/browser/person.ts";

const { test, service } = await browserSuite();
const HOME = `${service.stack.supabaseUrl}/console/`;
const REFUSED = "The link was not requested in this browser.";

/** Returns a link that signs its reader in to the sender's account, in the form that Auth creates without PKCE. */
function linkOf({ session }: Person): string {
  const { access_token, refresh_token } = JSON.parse(session);
  const parameters = {
    access_token,
    refresh_token,
    expires_in: "3600",
    token_type: "bearer",
    type: "recovery",
  };
  return `${HOME}#${new URLSearchParams(parameters)}`;
}

/** Configures the page as in a hosted project, which sends its mails. */
async function asHosted(page: Page): Promise<void> {
  await page.route("**/console/config.json", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...await answer.json(), localMail: false } });
  });
}

/** Opens a link as a mail program does: as a new page, not as a change of the fragment. */
async function follow(page: Page, link: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(link);
}

async function askForLink(page: Page, email: string): Promise<void> {
  await press(page, "Send me a sign-in link");
  await page.getByLabel("E-mail").fill(email);
  await press(page, "Send link");
  await says(page, "is on its way");
}

/** Returns the e-mail address of the session that the browser stores. */
async function signedIn(page: Page): Promise<string | null> {
  const kept = await page.evaluate((key) => localStorage.getItem(key), SESSION_KEY);
  return kept === null ? null : JSON.parse(kept).user.email;
}

test("a link with tokens signs nobody in, also where a link was just asked for", async (visit) => {
  const { page, account, fetched, step } = visit;
  const stranger = await newPerson(service);
  await asHosted(page);
  await step("nothing was asked for", async () => {
    await follow(page, linkOf(stranger));
    await says(page, REFUSED);
  });
  await step("a link was asked for", async () => {
    await page.goto(HOME);
    await askForLink(page, account.email);
    await follow(page, linkOf(stranger));
    await says(page, REFUSED);
  });
  assertEquals(await signedIn(page), null);
  assertEquals(new URL(page.url()).hash, "");
  assertEquals(fetched.filter((address) => address.includes("/auth/v1/user")), []);
}, { isSignedOut: true });

test("a link with tokens leaves who is signed in signed in", async (visit) => {
  const { page, account, open } = visit;
  await asHosted(page);
  await open("files");
  await says(page, "There are no files yet.");
  await follow(page, linkOf(await newPerson(service)));
  await page.getByRole("button", { name: account.email }).or(page.getByText(account.email)).first().waitFor();
  assertEquals(await signedIn(page), account.email);
});

test(
  "on a local stack, whose Auth puts tokens into mail, a link is expected for an hour and no longer",
  async (visit) => {
    const { page, account, step } = visit;
    const stranger = await newPerson(service);
    await step("not without a request", async () => {
      await follow(page, linkOf(stranger));
      await says(page, REFUSED);
    });
    await step("nor for one of an hour ago", async () => {
      await page.goto(HOME);
      await askForLink(page, account.email);
      await page.evaluate(() => {
        const [purpose, at, hash] = (localStorage.getItem("filestore.auth-request") ?? "").split(" ");
        localStorage.setItem("filestore.auth-request", `${purpose} ${Number(at) - 3_601_000} ${hash}`);
      });
      await follow(page, linkOf(stranger));
      await says(page, REFUSED);
      assertEquals(await signedIn(page), null);
    });
  },
  { isSignedOut: true },
);

test(
  "a code is exchanged with the secret of the request that was made here; without one it is none",
  async (visit) => {
    const { page, account, step } = visit;
    await asHosted(page);
    const bodies: Record<string, unknown>[] = [];
    // The Auth of a local stack creates no codes for mail.
    await page.route("**/auth/v1/token?grant_type=pkce", async (route) => {
      bodies.push(route.request().postDataJSON());
      await route.fulfill({ json: JSON.parse(account.session) });
    });
    page.on("request", (request) => {
      if (request.url().includes("/auth/v1/otp")) bodies.push(request.postDataJSON());
    });
    await step("a code that somebody else made", async () => {
      await follow(page, `${HOME}?code=${crypto.randomUUID()}`);
      await says(page, "The link did not work");
      assertEquals([bodies, await signedIn(page)], [[], null]);
    });
    await step("the code of a request that was made here leads back to where it was made", async () => {
      const place = `#/p/${account.projectId}/deleted`;
      await page.goto(`${HOME}${place}`);
      await askForLink(page, account.email);
      await follow(page, `${HOME}?code=one-code`);
      await says(page, "Nothing is deleted.");
      assertEquals(new URL(page.url()).hash, place);
      const [request, exchange] = bodies;
      assertEquals(exchange?.["auth_code"], "one-code");
      assertEquals(request?.["code_challenge_method"], "s256");
      assertEquals(request?.["code_challenge"], await challengeOf(String(exchange?.["code_verifier"])));
      assertEquals([new URL(page.url()).search, await signedIn(page)], ["", account.email]);
    });
  },
  { isSignedOut: true },
);

/** RFC 7636, section 4.2. */
async function challengeOf(verifier: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier)));
  return digest.toBase64({ alphabet: "base64url", omitPadding: true });
}

test(
  "a site for any host: its headers forbid frames, and without them it does nothing in one",
  async (visit) => {
    const { page, step } = visit;
    const site = await Deno.makeTempDir({ prefix: "filestore-site-" });
    const settings = {
      supabaseUrl: service.stack.supabaseUrl,
      publishableKey: service.stack.publishableKey,
      github: false,
    };
    await writeSite(await bundle(), site, settings);
    await using plain = serve(site, {});
    await using proper = serve(site, await headersOf(site));
    try {
      await step("the local server sends the same headers", async () => {
        assertEquals(await headersOf(site), SITE_HEADERS);
        const { headers, body } = await fetch(HOME);
        await body?.cancel();
        for (const [name, value] of Object.entries(SITE_HEADERS)) {
          assert(headers.get(name)?.includes(value), `${name}: ${headers.get(name)}`);
        }
      });
      await step("in a frame it does nothing", async () => {
        await frame(page, plain.address);
        const framed = page.frameLocator("iframe");
        await framed.getByRole("heading", { name: "The console does not work in a frame" }).waitFor();
        assertEquals(await framed.getByRole("button").count(), 0);
      });
      await step("with its headers it is not even shown", async () => {
        const refused = page.waitForEvent("requestfailed");
        await frame(page, proper.address);
        assertEquals((await refused).failure()?.errorText, "net::ERR_BLOCKED_BY_RESPONSE");
      });
      await step("in a tab it opens", async () => {
        await page.goto(proper.address);
        await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
      });
    } finally {
      await Deno.remove(site, { recursive: true });
    }
  },
  { isSignedOut: true, expectsProblems: true },
);

/** Returns the headers that `_headers` sets for every file. */
async function headersOf(site: string): Promise<Record<string, string>> {
  const [rule, ...lines] = (await Deno.readTextFile(join(site, "_headers"))).trimEnd().split("\n");
  assertEquals(rule, "/*");
  return Object.fromEntries(lines.map((line) => {
    const [name = "", ...value] = line.trim().split(": ");
    return [name, value.join(": ")];
  }));
}

/** Serves the site as a static host does. */
function serve(site: string, headers: Record<string, string>) {
  const types: Record<string, string> = { html: "text/html", js: "text/javascript", css: "text/css" };
  return serveAt(async (request) => {
    const { pathname } = new URL(request.url);
    const name = pathname === "/" ? "/index.html" : pathname;
    const body = await Deno.readFile(join(site, name)).catch(() => null);
    if (body === null) return new Response(null, { status: 404 });
    const type = types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
    return new Response(body, { headers: { ...headers, "content-type": type } });
  });
}

/** Shows the address in a frame on another origin of the same site, so that the browser gives the frame its storage. */
async function frame(page: Page, address: string): Promise<void> {
  const body = `<iframe src="${address}"></iframe>`;
  await using other = serveAt((_request) => new Response(body, { headers: { "content-type": "text/html" } }));
  await page.goto(other.address);
}

function serveAt(handler: Deno.ServeHandler) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, handler);
  return {
    address: `http://127.0.0.1:${server.addr.port}/`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
