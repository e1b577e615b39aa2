/**
 * The console in a real browser, in front of the whole service. Test files that are loaded into one process share both;
 * each test has an account and a context of its own.
 */
import { assertEquals } from "@std/assert";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { bundle } from "../../../supabase/local/console/bundle.ts";
import { eventually } from "../eventually.ts";
import { newPerson, type Person } from "./person.ts";
import { CHROMIUM_ARGUMENTS, chromiumPath } from "./chromium.ts";
import type { Service } from "../stack/service.ts";
import { sharedService, test } from "../stack/suite.ts";

/** For a condition to come true; the machine may be busy with other tests. */
const PATIENCE_MILLISECONDS = 30_000;
/** How much of a page a failure tells. */
const SEEN_LENGTH_MAX = 8_000;
/** Where supabase-js keeps the session of a project at 127.0.0.1. */
export const SESSION_KEY = "sb-127-auth-token";

export interface VisitOptions {
  /** Nobody is signed in. */
  readonly isSignedOut?: boolean;
  readonly tier?: "free" | "pro" | "enterprise";
  readonly width?: number;
  /** A test that breaks the policy or an answer on purpose looks at `problems` itself. */
  readonly expectsProblems?: boolean;
}

/** A person with a tab. */
export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly account: Person;
  readonly service: Service;
  /** Requests to the service so far: method, path and query below its base address. */
  readonly calls: string[];
  /** Requests that follow the change feed, which are not among `calls`: they wait, and nobody pays for them. */
  readonly follows: string[];
  /** Addresses of other requests so far. */
  readonly fetched: string[];
  /** Errors that were thrown in the page, dialogs, and what its Content-Security-Policy refused. */
  readonly problems: string[];
  /** A part of the test, named for what it proves; the parts after it need it. */
  readonly step: (name: string, body: () => Promise<void>) => Promise<void>;
  /** The same where the others do not need it: they go on, and the test fails in the end. */
  readonly part: (name: string, body: () => Promise<void>) => Promise<void>;
  /** Opens a place of the account's project: `keys`, `file/a.txt?tab=edit`. */
  readonly open: (place: string) => Promise<void>;
  /**
   * The same once the tab follows the change feed. Where that takes its time, the first view loads twice: whoever counts
   * requests begins here.
   */
  readonly openFollowing: (place: string) => Promise<void>;
}

export interface BrowserSuite {
  readonly service: Service;
  /** A test with a visit of its own; the page must not throw, nor offend its own policy. */
  test(name: string, body: (visit: Visit) => Promise<void>, options?: VisitOptions): void;
}

export async function launchChromium(): Promise<Browser> {
  return await chromium.launch({ executablePath: await chromiumPath(), args: [...CHROMIUM_ARGUMENTS] });
}

let shared: Promise<Browser> | undefined;

/** The browser that all files of this process share. */
function sharedBrowser(): Promise<Browser> {
  return shared ??= (async () => {
    await bundle();
    const browser = await launchChromium();
    Deno.test.afterAll(() => browser.close());
    return browser;
  })();
}

export async function browserSuite(): Promise<BrowserSuite> {
  const browser = await sharedBrowser();
  const service = await sharedService();
  return {
    service,
    test(name, body, options = {}) {
      test(name, (context) => visit(service, browser, context, body, options));
    },
  };
}

/** The part has said what was wrong. */
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

/** Until changes are told from now on. */
export async function isFollowing({ follows }: Pick<Visit, "follows">): Promise<void> {
  await eventually("it follows", () => follows.some((call) => !call.includes("after=now")));
}

/** Whether a request follows the change feed. */
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

/** The failure, with what a person would have seen. */
async function seenBy(page: Page, error: unknown): Promise<Error> {
  const seen = await page.locator("body").ariaSnapshot({ timeout: 2_000 }).catch(() => "nothing readable");
  const message = error instanceof Error ? error.message : String(error);
  return new Error(`${message}\n\nThe page at ${page.url()}:\n${seen.slice(0, SEEN_LENGTH_MAX)}`, {
    cause: error,
  });
}
