/** The size of a first visit. */
import { assert, assertEquals } from "@std/assert";
import { browserSuite } from "../support/browser/browser.ts";
import { FIRST_LOAD_BYTES_MAX, measureLoad } from "../support/browser/first_load.ts";

const { test } = await browserSuite();

test("first load: everything before the sign-in view is at most 150 KB compressed", async (visit) => {
  const { page, fetched, calls, service } = visit;
  const start = `${service.stack.supabaseUrl}/console/`;
  await page.goto(start);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.waitForLoadState("networkidle");
  assertEquals(calls, [], "nobody is signed in: the service is not asked");
  const { names, bytes } = await measureLoad(start, fetched);
  assert(names.some((name) => name.endsWith(".js")), "the script was counted");
  assert(bytes <= FIRST_LOAD_BYTES_MAX, `${bytes} bytes, compressed, for ${names.join(", ")}`);
  // Guards the bound: an empty page would pass it, too.
  assert(bytes > 10_000, `${bytes} bytes cannot be all`);
}, { isSignedOut: true });
