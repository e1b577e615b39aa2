/** The consent page: an app gets what a person chose with their own click, and no other page or name can get it for them. */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { CONSENT_ARMED_MILLISECONDS } from "../../supabase/console/src/limits.ts";
import { browserSuite, type Visit } from "../support/browser/browser.ts";
import { press, says } from "../support/browser/page_actions.ts";
import { Branches } from "../support/client/branches.ts";
import { App, connected, tokensOf } from "../support/client/oauth.ts";

const { test, service } = await browserSuite();

/** The app's own server on this device, and a page of an attacker. */
const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  () => new Response("<p>The app goes on.</p>", { headers: { "content-type": "text/html" } }),
);
const REDIRECT_URI = `http://127.0.0.1:${server.addr.port}/callback`;
Deno.test.afterAll(() => server.shutdown());

const ANSWER = "POST /oauth/consent";
const TITLE = "Let an app use your files?";
const ENDED = "This request cannot be answered";

function allowButton(page: Page) {
  return page.getByRole("button", { name: "Allow", exact: true });
}

/** Opens the page with a new request of an app. */
async function openRequest({ page }: Visit, asking: Asking = {}) {
  const made = await asked(asking);
  await page.goto(made.address);
  return made;
}

interface Asking {
  readonly name?: string;
  readonly redirectUri?: string;
  readonly scope?: string;
}

/** An app, and the address to which the service sends the person whom it asks. */
async function asked({ name = "Planner", redirectUri = REDIRECT_URI, scope }: Asking = {}) {
  const app = await App.register(service, { client_name: name, redirect_uris: [redirectUri] });
  const { status, headers } = await app.authorize({ redirect_uri: redirectUri, scope });
  assertEquals(status, 302);
  return { app, address: headers.get("location") ?? "" };
}

/** The tokens for the code of the address at which the app was called back. */
async function tokensFor(app: App, answer: string) {
  const { origin, pathname, searchParams } = new URL(answer);
  assertEquals([searchParams.get("state"), searchParams.get("iss")], ["as it was", service.baseUrl]);
  const redirect_uri = origin + pathname;
  return tokensOf(await app.exchange(searchParams.get("code") ?? "", { redirect_uri }));
}

/** Waits until the person is with the app again, and returns the address. */
async function backAtApp(page: Page): Promise<string> {
  await page.waitForURL(`${REDIRECT_URI}?**`);
  return page.url();
}

test(
  "a person who is signed out signs in first, and the app gets exactly what they choose",
  async (visit) => {
    const { page, step, account } = visit;
    for (const path of ["agents/a/notes.md", "out.md"]) await account.files.write(path, "x\n");
    const { app } = await openRequest(visit);
    await step("signing in leads back to the request", async () => {
      await page.getByLabel("E-mail").fill(account.email);
      await page.getByLabel("Password").fill(account.password);
      await press(page, "Sign in");
      await page.getByRole("heading", { name: TITLE }).waitFor();
      await page.getByText("Planner", { exact: true }).waitFor();
      await page.getByText("an app on this device").waitFor();
      await says(page, account.email);
    });
    await step("what it can and cannot do follows the choices", async () => {
      await says(page, "create, change, move and delete files");
      await page.getByLabel("Permission").selectOption("only read files");
      await page.getByLabel("Only in this folder").fill("agents/a");
      await says(page, "change or delete anything");
      await says(page, "see anything outside of the folder agents/a");
      assertEquals(await page.getByText("create, change, move and delete files").count(), 0);
      await page.getByLabel("How long").selectOption("for 7 days");
    });
    await step("the app has that, and no more", async () => {
      await allowButton(page).click();
      const { access_token, scope } = await tokensFor(app, await backAtApp(page));
      assertEquals(scope, "files:read");
      const seen = await connected(service, access_token).call("list_files", { recursive: true });
      assert(seen.includes("notes.md") && !seen.includes("out.md"), seen);
      const [grant] = await service.sql<Record<string, unknown>>(
        `select scopes, path_prefix, round(extract(epoch from expires_at - created_at) / 86400)::int as days
       from filestore.api_keys where project_id = $1 and kind = 'app'`,
        [account.projectId],
      );
      assertEquals(grant, { scopes: ["read"], path_prefix: "agents/a", days: 7 });
    });
  },
  { isSignedOut: true },
);

test("an unfinished branch is offered beside the folder; the app then reads and writes in it alone", async (visit) => {
  const { page, account: { files } } = visit;
  const branches = new Branches(files);
  for (const path of ["notes/a.md", "out.md"]) await files.write(path, "x\n");
  for (const name of ["try-1", "merged"]) {
    await branches.create(name, { directory: "notes", title: "A title" });
  }
  await branches.merge("merged");
  const { app } = await openRequest(visit);
  const field = page.getByLabel("Only in this branch");
  await field.waitFor();
  assertEquals(await field.getByRole("option").allTextContents(), ["no branch", "try-1: A title"]);
  await field.selectOption("try-1: A title");
  assertEquals(await page.getByLabel("Only in this folder").inputValue(), ".branches/try-1");
  await says(page, "see anything outside of the folder .branches/try-1");
  await allowButton(page).click();
  const { access_token } = await tokensFor(app, await backAtApp(page));
  const agent = connected(service, access_token);
  const seen = await agent.call("list_files", { recursive: true });
  assert(seen.includes("a.md") && !seen.includes("out.md"), seen);
  await agent.call("write_file", { path: ".branches/try-1/new.md", content: "new\n" });
  assertEquals(await files.paths({ recursive: true }), ["notes/a.md", "out.md"]);
  assertEquals((await branches.get("try-1")).changes.map(({ path }) => path), ["new.md"]);
});

test("with the keyboard alone: Enter in a field answers nothing, and to deny takes no more keys than to allow", async (visit) => {
  const { page, step, calls } = visit;
  const pressAt = async (name: string) => {
    await page.getByLabel("Only in this folder").focus();
    for (let keys = 1;; keys++) {
      await page.keyboard.press("Tab");
      if (await page.locator(":focus").textContent() !== name) continue;
      await page.keyboard.press("Enter");
      return keys;
    }
  };
  let keysToDeny = 0;
  await step("no button has the focus, and a field's Enter is no answer", async () => {
    await openRequest(visit);
    await allowButton(page).and(page.locator(":enabled")).waitFor();
    await page.keyboard.press("Enter");
    await page.getByLabel("Only in this folder").press("Enter");
    await page.getByRole("heading", { name: TITLE }).waitFor();
    assertEquals(calls.filter((call) => call === ANSWER), []);
  });
  await step("denied", async () => {
    keysToDeny = await pressAt("Deny");
    const { searchParams } = new URL(await backAtApp(page));
    assertEquals([searchParams.get("error"), searchParams.get("code")], ["access_denied", null]);
    assertEquals(await appsOf(visit), 0);
  });
  await step("allowed", async () => {
    await openRequest(visit);
    await allowButton(page).and(page.locator(":enabled")).waitFor();
    assert(keysToDeny <= await pressAt("Allow"));
    assertNotEquals(new URL(await backAtApp(page)).searchParams.get("code"), null);
    assertEquals(await appsOf(visit), 1);
  });
});

async function appsOf({ account }: Visit): Promise<number> {
  const rows = await service.sql(
    "select 1 from filestore.api_keys where project_id = $1 and kind = 'app'",
    [account.projectId],
  );
  return rows.length;
}

test("a request is answered once; what is left of it says what to do", async (visit) => {
  const { page, context, step } = visit;
  const { address } = await openRequest(visit);
  await allowButton(page).and(page.locator(":enabled")).waitFor();
  await step("another tab answers first", async () => {
    const other = await context.newPage();
    await other.goto(address);
    await press(other, "Deny");
    await backAtApp(other);
    await other.close();
    await allowButton(page).click();
    await page.getByRole("alert").getByText(ENDED).waitFor();
    await says(page, "Go back to the app and connect it again.");
    assertEquals(await appsOf(visit), 0);
  });
  await step("the address opened again, an invented one, and one without a request", async () => {
    for (const search of [new URL(address).search, "?request=invented", ""]) {
      await page.goto("about:blank");
      await page.goto(`${service.stack.supabaseUrl}/console/authorize${search}`);
      await page.getByRole("alert").getByText(ENDED).waitFor();
    }
  });
});

test("only what the app asks for can be chosen", async (visit) => {
  await openRequest(visit, { scope: "files:read" });
  const choice = visit.page.getByLabel("Permission");
  await choice.waitFor();
  assertEquals(await choice.locator("option").allTextContents(), ["only read files"]);
});

test("a person without a project can deny, and learns why they cannot allow", async (visit) => {
  const { page } = visit;
  const noMaker = { projectMakers: "nobody", mayCreateProjects: false, reason: "operator_only" };
  await page.route(
    "**/functions/v1/api/projects",
    (route) => route.fulfill({ json: { success: true, data: { projects: [], invitations: [] } } }),
  );
  await page.route("**/functions/v1/api/account", async (route) => {
    const answer = await route.fetch();
    const { data, ...envelope } = await answer.json();
    await route.fulfill({ response: answer, json: { ...envelope, data: { ...data, ...noMaker } } });
  });
  await openRequest(visit);
  await says(page, "Only the operator of this service can create projects");
  assertEquals(await allowButton(page).isDisabled(), true);
  await press(page, "Deny");
  await backAtApp(page);
});

test("another site cannot show the page in a frame", async (visit) => {
  const { page, step } = visit;
  const { address } = await asked();
  const frame = async () => {
    await page.goto(REDIRECT_URI);
    await page.evaluate((src) => {
      const frame = document.createElement("iframe");
      frame.src = src;
      document.body.append(frame);
    }, address);
  };
  await step("its headers forbid it", async () => {
    const refused = page.waitForEvent("requestfailed");
    await frame();
    assertEquals((await refused).failure()?.errorText, "net::ERR_BLOCKED_BY_RESPONSE");
  });
  await step("where a host does not send them, there is no button to press", async () => {
    await page.route("**/console/authorize?**", async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, headers: { "content-type": "text/html" } });
    });
    await frame();
    const framed = page.frameLocator("iframe");
    await framed.getByRole("heading", { name: "The console does not work in a frame" }).waitFor();
    assertEquals(await framed.getByRole("button").count(), 0);
  });
}, { expectsProblems: true });

test("another site cannot answer in the name of who is signed in", async (visit) => {
  const { page, account } = visit;
  const { address } = await asked();
  const request = new URL(address).searchParams.get("request");
  await page.goto(REDIRECT_URI);
  const body = JSON.stringify({ request, approve: true, projectId: account.projectId, scopes: ["read"] });
  for (const type of ["application/json", "text/plain"]) {
    const status = await page.evaluate(async ({ url, body, type }) => {
      const headers = { "content-type": type };
      const sent = fetch(url, { method: "POST", credentials: "include", headers, body });
      return await sent.then(({ status }) => status, () => "no answer for this page");
    }, { url: `${service.baseUrl}/oauth/consent`, body, type });
    assert(status === 401 || status === "no answer for this page", `${type}: ${status}`);
  }
  assertEquals(await appsOf(visit), 0);
  await page.goto(address);
  await page.getByRole("heading", { name: TITLE }).waitFor();
});

test("the second click of a double click on another site allows nothing", async (visit) => {
  const { page } = visit;
  await page.clock.install();
  await openRequest(visit);
  const allow = allowButton(page);
  const armed = allow.and(page.locator(":enabled"));
  await allow.and(page.locator(":disabled")).waitFor();
  await page.clock.runFor(CONSENT_ARMED_MILLISECONDS);
  await armed.waitFor();
  // What the browser tells the page when the window in front of it closes.
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await allow.and(page.locator(":disabled")).waitFor();
  await page.clock.runFor(CONSENT_ARMED_MILLISECONDS);
  await armed.click();
  await backAtApp(page);
});

const NAMES = {
  "the direction of text": "Claude\u202e ia.edualc ta",
  "invisible characters": "Cl\u200baude\u2066\u{e0041}",
  markup: `</bdi></dd><dt>The host</dt><strong>claude.ai</strong><img src=x onerror=alert(1)>`,
  lines: "Claude\nFrom\nclaude.ai",
  "500 characters": "a".repeat(500),
  "marks that are stacked": "Z" + "\u0335\u0301".repeat(49),
};

for (const isCleaned of [true, false]) {
  const what = isCleaned ? "a name that imitates" : "a name that imitates, from a service that cleans none,";
  test(`${what} stays a name, in its own place`, async (visit) => {
    const { page, part } = visit;
    for (const [kind, name] of Object.entries(NAMES)) {
      await part(kind, async () => {
        await page.unrouteAll();
        if (!isCleaned) {
          await page.route("**/oauth/requests/*", async (route) => {
            const answer = await route.fetch();
            const { data, ...envelope } = await answer.json();
            const client = { ...data.client, name };
            await route.fulfill({ response: answer, json: { ...envelope, data: { ...data, client } } });
          });
        }
        await openRequest(visit, { name });
        const [shown, host] = [page.locator(".who-asks dd").first(), page.locator(".who-asks dd").last()];
        await host.and(page.getByText("an app on this device")).waitFor();
        assertEquals(await page.locator(".who-asks > *").count(), 4);
        const names = await shown.evaluate((place) =>
          [...place.querySelectorAll("*")].map((e) => e.localName)
        );
        assertEquals(names, ["bdi"]);
        const text = await shown.textContent() ?? "";
        assert(!/[\p{Cf}\p{Cc}]/u.test(text), JSON.stringify(text));
        // Nothing of the name is drawn outside of its place, which is above the host.
        assertEquals(await shown.evaluate((place) => getComputedStyle(place).overflow), "hidden");
        const [above, below] = [await shown.boundingBox(), await host.boundingBox()];
        assert(above !== null && below !== null && above.y + above.height <= below.y);
        assert(await page.evaluate(() => document.body.scrollWidth <= innerWidth));
      });
    }
  });
}

test("an app of a site is shown with its host, and gets the answer there", async (visit) => {
  const { page } = visit;
  const { app, address } = await asked({ redirectUri: "https://claude.ai/api/mcp/auth_callback" });
  await page.route("https://claude.ai/**", (route) => route.fulfill({ body: "connected" }));
  await page.goto(address);
  await page.locator(".who-asks").getByText("claude.ai", { exact: true }).waitFor();
  await allowButton(page).click();
  await page.waitForURL("https://claude.ai/api/mcp/auth_callback?**");
  assertEquals((await tokensFor(app, page.url())).scope, "files:read files:write");
});
