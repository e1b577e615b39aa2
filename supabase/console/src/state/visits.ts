/**
 * Focus and scrolling across navigation. A new view starts at its top and takes the focus, unless an element that remains
 * has it. Going back focuses the link that was followed, once the view has loaded it.
 */

interface Visit {
  /** Address of the link that had the focus when the person left the place. */
  readonly link: string | null;
  readonly scrollY: number;
}

/** Events that end the wait for a link, because the person is doing something else. */
const INTERRUPTIONS = ["keydown", "pointerdown", "wheel", "touchstart"] as const;

/** Visits by the id of their entry in the browser's history. */
const visits = new Map<string, Visit>();
let entry = currentEntry() ?? newEntry();
let stopWaiting = () => {};

/** Called before the view changes. */
export function leave(): void {
  const focused = document.activeElement;
  const link = focused instanceof HTMLAnchorElement ? focused.getAttribute("href") : null;
  visits.set(entry, { link, scrollY: globalThis.scrollY });
}

/** Called after the place has changed, with the fragment of the previous place. */
export function arrive(before: string): void {
  stopWaiting();
  const known = currentEntry();
  const visit = known === undefined ? undefined : visits.get(known);
  entry = known ?? newEntry();
  // The new view is drawn before the next task.
  setTimeout(() => {
    if (isNowhere(document.activeElement)) mainElement()?.focus({ preventScroll: true });
    if (visit === undefined) globalThis.scrollTo(0, 0);
    else waitForLink([visit.link, before], visit.scrollY);
  });
}

/**
 * Called if the place has not changed. A link to the current place replaces its history entry and so loses the entry's id.
 */
export function stay(): void {
  const known = currentEntry();
  if (known === undefined) history.replaceState({ entry }, "");
  else entry = known;
}

/**
 * Meanwhile the view is scrolled as far as possible, because a long list then loads its next page, which may contain the
 * link.
 */
function waitForLink(addresses: readonly (string | null)[], scrollY: number): void {
  const observer = new MutationObserver(findLink);
  const page = document.documentElement;
  let height = 0;
  const stop = () => {
    observer.disconnect();
    for (const type of INTERRUPTIONS) document.removeEventListener(type, stop, true);
  };
  stopWaiting = stop;
  for (const type of INTERRUPTIONS) document.addEventListener(type, stop, true);
  observer.observe(document.body, { childList: true, subtree: true });
  findLink();
  function findLink(): void {
    if (!isNowhere(document.activeElement)) return stop();
    const links = [...mainElement()?.querySelectorAll("a") ?? []];
    const link = addresses.map((address) => links.find((one) => one.getAttribute("href") === address))
      .find((one) => one !== undefined);
    if (link === undefined) {
      if (page.scrollHeight > height && globalThis.scrollY < scrollY) globalThis.scrollTo(0, scrollY);
      height = page.scrollHeight;
      return;
    }
    stop();
    globalThis.scrollTo(0, scrollY);
    link.focus();
  }
}

function isNowhere(element: Element | null): boolean {
  return element === null || element === document.body || element === mainElement();
}

function mainElement(): HTMLElement | null {
  return document.getElementById("main");
}

function currentEntry(): string | undefined {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null && "entry" in state && typeof state.entry === "string"
    ? state.entry
    : undefined;
}

function newEntry(): string {
  const made = crypto.randomUUID();
  history.replaceState({ entry: made }, "");
  return made;
}
