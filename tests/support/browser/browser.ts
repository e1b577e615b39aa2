/**
 * The console in a real browser, in front of the whole service. Test files loaded into one process share both; each test has
 * its own account and browser context.
 */
import { assertEquals } from "@std/assert";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { bundle } from "../../../supabase/local/console/bundle.ts";
import { eventually } from "../eventually.ts";
import { newPerson, type Person } from "./person.ts";
import { CHROMIUM_ARGUMENTS, chromiumPath } from "./chromium.ts";
import type { StackOptions } from "../../../supabase/local/stack/stack.ts";
import type { Service } from "../stack/service.ts";
import { privateSuite, sharedService, test } from "../stack/suite.ts";

/** Longest wait for a condition; the machine may be busy with other tests. */
const PATIENCE_MILLISECONDS = 60_000;
/** Characters of a page's content that a failure shows. */
const SEEN_LENGTH_MAX = 8_000;
/** The key under which supabase-js stores the session of a project at 127.0.0.1. */
export const SESSION_KEY = "sb-127-auth-token";

export interface VisitOptions {
  /** The visit starts without a session. */
  readonly isSignedOut?: boolean;
  readonly tier?: "free" | "pro" | "enterprise";
  readonly width?: number;
  /** A test that deliberately violates the policy or breaks an answer checks `problems` itself. */
  readonly expectsProblems?: boolean;
}

/** A person with an open tab. */
export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly account: Person;
  readonly service: Service;
  /** Requests to the service: method, path and query below its base address. */
  readonly calls: string[];
  /**
   * Requests that follow the change feed. They are not in `calls`, because they wait and are not counted against a limit.
   */
  readonly follows: string[];
  /** Addresses of all other requests. */
  readonly fetched: string[];
  /** Errors thrown in the page, dialogs, and violations of its Content-Security-Policy. */
  readonly problems: string[];
  /** A step of the test, named for what it proves. Later steps depend on it. */
  readonly step: (name: string, body: () => Promise<void>) => Promise<void>;
  /** A step on which no other depends: after a failure the others still run, and the test fails at the end. */
  readonly part: (name: string, body: () => Promise<void>) => Promise<void>;
  /** Opens a place of the account's project: `keys`, `file/a.txt?tab=edit`. */
  readonly open: (place: string) => Promise<void>;
  /**
   * Opens a place once the tab follows the change feed. If that is slow, the first view loads twice, so a test that counts
   * requests starts with this.
   */
  readonly openFollowing: (place: string) => Promise<void>;
}

export interface BrowserSuite {
  readonly service: Service;
  /** Defines a test with a visit of its own. It fails if the page throws or violates its own policy. */
  test(name: string, body: (visit: Visit) => Promise<void>, options?: VisitOptions): void;
}

export async function launchChromium(): Promise<Browser> {
  return await chromium.launch({ executablePath: await chromiumPath(), args: [...CHROMIUM_ARGUMENTS] });
}

let shared: Promise<Browser> | undefined;

/** Returns the browser that all files of this process share. */
function sharedBrowser(): Promise<Browser> {
  return shared ??= (async () => {
    await bundle();
    const browser = await launchChromium();
    Deno.test.afterAll(() => browser.close());
    return browser;
  })();
}

/** With options, the service is one of this file's own. */
export async function browserSuite(options?: Partial<StackOptions>): Promise<BrowserSuite> {
  const browser = await sharedBrowser();
  const service = options === undefined ? await sharedService() : (await privateSuite(options)).service;
  return {
    service,
    test(name, body, options = {}) {
      test(name, (context) => visit(service, browser, context, body, options));
    },
  };
}

/** Thrown after a part has already reported its failure. */
class PartFailed extends Error {}

async function visit(
  service: Service,
  browser: Browser,
  test: Deno.TestContext,
  body: (visit: Visit) => Promise<void>,
  options: VisitOptions,
): Promise<void> {
  const account = await newPerson(service, options.tier);
  const { supabaseUrl } = service.stack;
  const kept = options.isSignedOut ? [] : [{ name: SESSION_KEY, value: account.session }];
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: 800 },
    colorScheme: "light",
    reducedMotion: "reduce",
    storageState: { cookies: [], origins: [{ origin: supabaseUrl, localStorage: kept }] },
  });
  context.setDefaultTimeout(PATIENCE_MILLISECONDS);
  const page = await context.newPage();
  const open = async (place: string) => {
    await page.goto(`${supabaseUrl}/console/#/p/${account.projectId}/${place}`);
  };
  const watched = watch(page, service.baseUrl);
  const openFollowing = async (place: string) => {
    await open("keys");
    await page.getByRole("heading", { name: "API keys" }).waitFor();
    await isFollowing(watched);
    await open(place);
  };
  const failed: string[] = [];
  const part = async (name: string, work: () => Promise<void>) => {
    const isDone = await test.step(name, async () => {
      await work().catch(async (error) => Promise.reject(await seenBy(page, error)));
    });
    if (!isDone) failed.push(name);
  };
  const step = async (name: string, work: () => Promise<void>) => {
    await part(name, work);
    if (failed.includes(name)) throw new PartFailed(name);
  };
  const one: Visit = { page, context, account, service, open, openFollowing, part, step, ...watched };
  try {
    await body(one);
    if (failed.length > 0) throw new PartFailed(failed.join(", "));
    if (!options.expectsProblems) assertEquals(one.problems, []);
  } catch (error) {
    throw error instanceof PartFailed ? error : await seenBy(page, error);
  } finally {
    await context.close();
  }
}

/** Waits until the tab follows the change feed. */
export async function isFollowing({ follows }: Pick<Visit, "follows">): Promise<void> {
  await eventually("it follows", () => follows.some((call) => !call.includes("after=now")));
}

/** Returns whether a request follows the change feed. */
export function isFollow(call: string): boolean {
  return /^GET \/changes\?(.*&)?wait=/.test(call);
}

function watch(page: Page, baseUrl: string): Pick<Visit, "calls" | "follows" | "fetched" | "problems"> {
  const calls: string[] = [];
  const follows: string[] = [];
  const fetched: string[] = [];
  const problems: string[] = [];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(baseUrl)) fetched.push(url);
    else if (request.method() !== "OPTIONS") {
      const call = `${request.method()} ${url.slice(baseUrl.length)}`;
      (isFollow(call) ? follows : calls).push(call);
    }
  });
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (/Content.Security.Policy/i.test(message.text())) problems.push(`refused: ${message.text()}`);
  });
  page.on("dialog", async (dialog) => {
    if (dialog.type() !== "beforeunload") problems.push(`dialog: ${dialog.message()}`);
    await dialog.accept();
  });
  return { calls, follows, fetched, problems };
}

/** Returns the failure together with the text that a person would have seen. */
async function seenBy(page: Page, error: unknown): Promise<Error> {
  const seen = await page.locator("body").ariaSnapshot({ timeout: 2_000 }).catch(() => "nothing readable");
  const message = error instanceof Error ? error.message : String(error);
  return new Error(`${message}\n\nThe page at ${page.url()}:\n${seen.slice(0, SEEN_LENGTH_MAX)}`, {
    cause: error,
  });
}
