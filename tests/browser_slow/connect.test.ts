/// <reference lib="dom" />
/** From nothing to the first call: what the page "Connect" gives works as it is copied, and the API reference sends requests. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { z } from "zod";
import { FIRST_CALL_LOOKS_MAX, FIRST_CALL_PAUSE_MILLISECONDS } from "../../supabase/console/src/limits.ts";
import { browserSuite, type Visit } from "../support/browser/browser.ts";
import { follow, press, says } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

const described = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });

const KEYS = "GET /project/apikeys";

test("connect: a new key is put into every text, and the copied command turns the page green", async (visit) => {
  const { page, context, step, service, account: { files } } = visit;
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.clock.install();
  await files.write("a.txt", "a\n");
  const key = await makeKey(visit, "planner", "read and write");
  await step("it waits", () => says(page, /^Waiting for the first call with planner/));
  await step("every client's text has it, or says where it goes", async () => {
    for (const button of await page.locator(".clients").getByRole("button").all()) {
      await button.click();
      const shown = (await page.locator(".step").allInnerTexts()).join("\n");
      assert(shown.includes(key) || shown.includes("asks for the key once"), shown);
      assert(shown.includes(service.baseUrl), shown);
    }
  });
  await step("the command runs in a shell, and the page says so", async () => {
    await press(page, "curl");
    await press(page, "Copy the settings of curl");
    const command = await copied(page);
    const { success, stdout } = await new Deno.Command("sh", { args: ["-c", command] }).output();
    assert(success);
    const { data } = JSON.parse(new TextDecoder().decode(stdout));
    assertEquals(data.files.map(({ path }: { path: string }) => path), ["a.txt"]);
    await says(page, /^planner is connected\./);
    assertEquals(await page.locator(".first-call.called").count(), 1);
  });
  await step("nobody looks any more", async () => {
    const before = visit.calls.filter((call) => call === KEYS).length;
    await page.clock.runFor(10 * FIRST_CALL_PAUSE_MILLISECONDS);
    assertEquals(visit.calls.filter((call) => call === KEYS).length, before);
  });
});

test("connect: the settings of an MCP client work as they are copied; a key that may only read cannot write", async (visit) => {
  const { page, context, service } = visit;
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const key = await makeKey(visit, "reader", "read only");
  await press(page, "Cursor");
  await press(page, "Copy the settings of Cursor");
  const { mcpServers: { files: { url, headers } } } = JSON.parse(await copied(page));
  const response = await fetch(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  const tools = await response.text();
  assertMatch(tools, /"read_file"/);
  assert(!tools.includes(`"write_file"`));
  await says(page, /^reader is connected\./);
  const write = await fetch(`${service.baseUrl}/files`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ path: "b.txt", content: "" }),
  });
  assertEquals((await write.json()).error.code, "FORBIDDEN_SCOPE");
});

test("connect: it looks for the first call only while it is seen, and a bounded number of times", async (visit) => {
  const { page, step, calls } = visit;
  await page.clock.install();
  await makeKey(visit, "silent", "read only");
  await says(page, /^Waiting/);
  const looks = () => calls.filter((call) => call === KEYS).length;
  await step("none while the tab is hidden", async () => {
    await setVisibility(page, "hidden");
    await page.waitForLoadState("networkidle");
    const before = looks();
    await page.clock.runFor(20 * FIRST_CALL_PAUSE_MILLISECONDS);
    assertEquals(looks(), before);
    await setVisibility(page, "visible");
  });
  await step("ten minutes of them, until somebody asks again", async () => {
    // Answered here: the account's own window is smaller.
    await page.route(
      "**/project/apikeys",
      (route) =>
        route.fulfill({
          json: { success: true, data: { keys: [] }, operation: "list_api_keys", message: "" },
        }),
    );
    const again = page.getByRole("button", { name: "Look again" });
    while (!await again.isVisible()) await page.clock.runFor(FIRST_CALL_PAUSE_MILLISECONDS);
    assertEquals(looks(), FIRST_CALL_LOOKS_MAX);
    await again.click();
    await says(page, /^Waiting/);
  });
});

test("reference: every operation unfolds, and a request with the key that was made is answered", async (visit) => {
  const { page, step, open, service, account: { files } } = visit;
  await files.write("notes/plan.md", "the plan\n");
  await makeKey(visit, "planner", "read and write");
  await follow(page, "API reference");
  const operation = (name: RegExp) =>
    page.locator("details.operation").filter({ has: page.locator("summary").filter({ hasText: name }) });
  await step("a read shows what the service answered", async () => {
    await operation(/^GET\s*\/files\/\{path\}/).locator("summary").first().click();
    const form = operation(/^GET\s*\/files\/\{path\}/).locator("form");
    await form.getByLabel("path (path, required)").fill("notes/plan.md");
    await press(form, "Send");
    await form.getByRole("status").getByText("200").waitFor();
    const answer = await answerOf(form);
    assertEquals(JSON.parse(answer).data.content, "the plan\n");
  });
  await step("a parameter without a value is sent as one", async () => {
    const form = operation(/^GET\s*\/files\/\{path\}/).locator("form");
    await form.getByLabel("metadata (query)").selectOption("present");
    await press(form, "Send");
    await form.getByText(`"get_file_metadata"`).waitFor();
  });
  await step("a write sends the body that stands there", async () => {
    await operation(/^POST\s*\/files(?!\/)/).locator("summary").first().click();
    const form = operation(/^POST\s*\/files(?!\/)/).locator("form");
    await form.getByLabel("Body").fill(`{"path": "written.md", "content": "from the reference\\n"}`);
    await press(form, "Send");
    await form.getByRole("status").getByText("200").waitFor();
    assertEquals((await files.read("written.md")).content, "from the reference\n");
  });
  await step("a refusal is shown as it came", async () => {
    const form = operation(/^POST\s*\/files(?!\/)/).locator("form");
    await form.getByLabel("Body").fill("{}");
    await press(form, "Send");
    await form.getByRole("status").getByText("400").waitFor();
    assertEquals(JSON.parse(await answerOf(form)).error.code, "VALIDATION_ERROR");
  });
  await step("all of the document is there, and unfolds", async () => {
    const { paths } = described.parse((await service.request(null, "GET", "/openapi.json")).body);
    const expected = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
    );
    await open("reference");
    const summaries = page.locator("details.operation > summary");
    await summaries.first().waitFor();
    const shown = await summaries.evaluateAll((all) =>
      all.map((one) => [...one.children].slice(0, 2).map((part) => part.textContent).join(" "))
    );
    assertEquals(shown.toSorted(), expected.toSorted());
    await page.locator("details.operation:not([open]) > summary").evaluateAll((all) =>
      all.forEach((one) => one instanceof HTMLElement && one.click())
    );
    await page.waitForFunction(
      (count) => document.querySelectorAll(".operation-body").length === count,
      expected.length,
    );
    await page.evaluate(() =>
      document.querySelectorAll<HTMLElement>(".operation-body > details > summary").forEach((one) =>
        one.click()
      )
    );
    await page.locator(".operation-body > details .members").first().waitFor();
  });
  await step("what no key may do has no form", async () => {
    const hint = operation(/^GET\s*\/projects/).getByText("No key may do this");
    await hint.waitFor();
    assertEquals(await operation(/^GET\s*\/projects/).locator("form").count(), 0);
  });
});

test("reference: what a file holds is shown as text, and never runs", async (visit) => {
  const { page, open, problems, service, account: { files, projectId } } = visit;
  await files.write("page.html", `<script>alert(1)</script><img src=x onerror="alert(2)">`);
  await open("reference");
  await page.getByLabel("Key to send requests with").fill((await service.key(projectId)).key);
  await page.getByLabel("Find").fill("readFile");
  const operation = page.locator("details.operation");
  await operation.locator("summary").first().click();
  await operation.locator("form").getByLabel("path (path, required)").fill("page.html");
  await press(operation.locator("form"), "Send");
  await operation.locator("form").getByText("onerror").waitFor();
  assertEquals(await operation.locator("form img, form script").count(), 0);
  assertEquals(problems, []);
});

/** Makes a key on the page "Connect", and returns it. */
async function makeKey({ page, open }: Visit, name: string, may: string): Promise<string> {
  await open("connect");
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("It may").selectOption(may);
  await press(page, "Make the key");
  return await page.getByRole("region", { name: "The key", exact: true }).innerText();
}

async function answerOf(form: Locator): Promise<string> {
  return await form.getByRole("region", { name: /^The answer of/ }).innerText();
}

async function copied(page: Page): Promise<string> {
  await says(page, "Copied");
  return await page.evaluate(() => navigator.clipboard.readText());
}

/** As if another tab were chosen, or this one again. */
async function setVisibility(page: Page, state: "visible" | "hidden"): Promise<void> {
  await page.evaluate((value) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => value });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);
}
