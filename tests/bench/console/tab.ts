/** The console in a tab of Chromium, and how long it takes until something can be read there. */
import type { Browser, Page } from "playwright-core";
import { isFollow, SESSION_KEY } from "../../support/browser/browser.ts";
import type { Account } from "../../support/browser/person.ts";
import { median } from "../measure.ts";

const VIEWPORT = { width: 1280, height: 800 };
/** How often a request is made anew to know what it takes. */
const FLOOR_REQUESTS = 5;

/** What is looked for in the page: in the shadow trees of its code views, too. */
export interface Sight {
  readonly selector: string;
  /** So many elements, by default one. */
  readonly count?: number;
  /** In the text of one of them. */
  readonly text?: string;
}

/** Where nobody is signed in. */
export const SIGN_IN_SIGHT: Sight = { selector: "h1", text: "Sign in" };

interface Addresses {
  readonly supabaseUrl: string;
  readonly baseUrl: string;
}

export class Tab {
  /** Requests that the service counts, below its base address. */
  readonly calls: string[] = [];
  /** Of those, the ones that were refused because the window was used up. */
  refused = 0;
  /** Addresses of the others. */
  readonly fetched: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly addresses: Addresses,
    private readonly account: Account | null,
  ) {
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(addresses.baseUrl)) this.fetched.push(url);
      else if (request.method() !== "OPTIONS") {
        const call = `${request.method()} ${url.slice(addresses.baseUrl.length)}`;
        if (!isFollow(call)) this.calls.push(call);
      }
    });
    page.on("response", (response) => {
      if (response.status() === 429) this.refused++;
    });
  }

  /** A tab of somebody who has never been there: nothing is cached. Without an account, nobody is signed in. */
  static async open(browser: Browser, addresses: Addresses, account: Account | null): Promise<Tab> {
    const localStorage = account === null ? [] : [{ name: SESSION_KEY, value: account.session }];
    const context = await browser.newContext({
      viewport: VIEWPORT,
      storageState: { cookies: [], origins: [{ origin: addresses.supabaseUrl, localStorage }] },
    });
    return new Tab(await context.newPage(), addresses, account);
  }

  get start(): string {
    return `${this.addresses.supabaseUrl}/console/`;
  }

  /** Milliseconds from loading the console at a place of the project until it shows this. */
  async load(place: string, sight: Sight): Promise<number> {
    const started = performance.now();
    await this.page.goto(`${this.start}#/p/${this.account?.projectId}/${place}`, { waitUntil: "commit" });
    await this.shows(sight);
    return performance.now() - started;
  }

  /** The same from the view that is shown to another one. */
  async goTo(place: string, sight: Sight): Promise<number> {
    const started = performance.now();
    await this.page.evaluate(
      (hash) => void (location.hash = hash),
      `#/p/${this.account?.projectId}/${place}`,
    );
    await this.shows(sight);
    return performance.now() - started;
  }

  /** Until this is in the page, and the frame with it is drawn. Looks once a frame. */
  async shows(sight: Sight): Promise<void> {
    await this.page.evaluate(({ selector, count = 1, text = "" }: Sight) =>
      new Promise<void>((resolve) => {
        const isThere = () => {
          const shadows = [...document.querySelectorAll(".code")].flatMap(({ shadowRoot }) =>
            shadowRoot ?? []
          );
          const found = [document, ...shadows].flatMap((root) => [...root.querySelectorAll(selector)]);
          return found.length >= count && found.some(({ textContent }) => textContent?.includes(text));
        };
        const look = () =>
          requestAnimationFrame(isThere() ? () => requestAnimationFrame(() => resolve()) : look);
        look();
      }), sight);
  }

  /** Until the page waits to be told of changes. */
  async follows(): Promise<void> {
    const isWaiting = (url: string) => /\/changes\?(?!.*after=now).*wait=/.test(url);
    await this.page.waitForRequest((request) => isWaiting(request.url()));
  }

  /** The floor of a view: milliseconds of its request alone, asked from this page; the median of some. */
  async floorOf(path: string): Promise<number> {
    const { projectId = "", session = "{}" } = this.account ?? {};
    const { access_token } = JSON.parse(session);
    const headers = { authorization: `Bearer ${access_token}`, "x-project-id": projectId };
    const times: number[] = [];
    for (let request = 0; request < FLOOR_REQUESTS; request++) {
      times.push(
        await this.page.evaluate(async ({ url, headers }) => {
          const started = performance.now();
          const answer = await fetch(url, { headers });
          if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
          await answer.json();
          return performance.now() - started;
        }, { url: this.addresses.baseUrl + path, headers }),
      );
    }
    return median(times);
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
