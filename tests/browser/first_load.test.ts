/** What a first visit fetches. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { buildDirectory } from "../../supabase/local/console/sources.ts";
import { browserSuite } from "../support/browser/browser.ts";

const FIRST_LOAD_BYTES_MAX = 150 * 1024;

const { test } = await browserSuite();

test("first load: everything before the sign-in view is at most 150 KB compressed", async (visit) => {
  const { page, fetched, calls, service } = visit;
  const start = `${service.stack.supabaseUrl}/console/`;
  await page.goto(start);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.waitForLoadState("networkidle");
  assertEquals(calls, [], "nobody is signed in: the service is not asked");
  const names = fetched.map((url) => {
    assert(url.startsWith(start), `${url} is not the console's`);
    return url.slice(start.length) || "index.html";
  });
  assert(names.some((name) => name.endsWith(".js")), "the script was counted");
  const build = await buildDirectory();
  let total = 0;
  for (const name of names.filter((one) => one !== "config.json")) {
    const file = await Deno.open(join(build, name));
    total += (await new Response(file.readable.pipeThrough(new CompressionStream("gzip"))).bytes()).length;
  }
  assert(total <= FIRST_LOAD_BYTES_MAX, `${total} bytes, compressed, for ${names.join(", ")}`);
  // So that the bound means something: the page is not an empty one.
  assert(total > 10_000, `${total} bytes cannot be all`);
}, { isSignedOut: true });
