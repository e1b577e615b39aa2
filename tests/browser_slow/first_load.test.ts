/** The size of a first visit. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { buildDirectory } from "../../supabase/local/console/sources.ts";
import { browserSuite } from "../support/browser/browser.ts";

const { test } = await browserSuite();

/** Bytes of a first visit's compressed files, until the sign-in view is shown. */
const FIRST_LOAD_BYTES_MAX = 150 * 1024;

test("first load: everything before the sign-in view is at most 150 KB compressed", async (visit) => {
  const { page, fetched, calls, service } = visit;
  const start = `${service.stack.supabaseUrl}/console/`;
  await page.goto(start);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.waitForLoadState("networkidle");
  assertEquals(calls, [], "nobody is signed in: the service is not asked");
  assertEquals(fetched.filter((url) => !url.startsWith(start)), [], "all is the console's own");
  const names = fetched.map((url) => url.slice(start.length) || "index.html");
  assert(names.some((name) => name.endsWith(".js")), "the script was counted");
  const build = await buildDirectory();
  let bytes = 0;
  for (const name of names.filter((one) => one !== "config.json")) {
    const file = await Deno.open(join(build, name));
    bytes += (await new Response(file.readable.pipeThrough(new CompressionStream("gzip"))).bytes()).length;
  }
  assert(bytes <= FIRST_LOAD_BYTES_MAX, `${bytes} bytes, compressed, for ${names.join(", ")}`);
  // An empty page would also pass the check above, so the page must not be empty.
  assert(bytes > 10_000, `${bytes} bytes cannot be all`);
}, { isSignedOut: true });
