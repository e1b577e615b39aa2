/** The ends of a list that loads as a person scrolls. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { keyAt } from "../../components/selection.tsx";
import { Problem } from "../../components/states.tsx";
import { useSeen } from "../../components/use_seen.ts";
import { formatNumber } from "../../format.ts";
import { FILES_PER_PAGE, NEXT_PAGE_PIXELS, SCROLL_SETTLED_MILLISECONDS } from "../../limits.ts";
import { hrefOf } from "../../state/router.ts";
import type { useListing } from "./use_listing.ts";

type Listing = ReturnType<typeof useListing>;

/** Shown above a list that begins in the middle of the folder, after going back or from a stored address. */
export function EarlierFiles({ listing: { first, data, pages } }: { readonly listing: Listing }) {
  if (data === undefined || first === 0) return null;
  return (
    <>
      <PageProblem pages={pages} where="above" />
      <nav class="pager" aria-label="Earlier files">
        <button type="button" aria-disabled={isUnderWay(pages)} onClick={() => void pages.addAbove()}>
          Earlier files
        </button>
      </nav>
    </>
  );
}

interface Properties {
  readonly listing: Listing;
  /** The element that contains the rows. */
  readonly list: RefObject<HTMLElement | null>;
}

/** Shown below the list: the number of loaded files and the total. Loads the next page when its place comes near. */
export function MoreFiles({ listing, list }: Properties) {
  const { first, count, total, data, pages, keepFirstRow } = listing;
  const hasMore = data?.hasMore ?? false;
  useFirstRowInView(list, keepFirstRow);
  if (first === 0 && !hasMore && count <= FILES_PER_PAGE) return null;
  return (
    <>
      <PageProblem pages={pages} where="below" />
      <nav class="pager" aria-label="More files">
        {hasMore && !pages.isFull && <NextPage key={count} onNear={pages.addBelow} />}
        <span role="status">
          {formatNumber(first + 1)}–{formatNumber(first + count)} of {total}
        </span>
        {hasMore && (pages.isFull
          ? <a class="button" href={hrefOf(listing.next)}>Next files</a>
          : (
            <button type="button" aria-disabled={isUnderWay(pages)} onClick={() => void pages.addBelow()}>
              More files
            </button>
          ))}
      </nav>
    </>
  );
}

/**
 * The place of the next page, which loads once automatically. After a failure, or a page without files, the person presses a
 * button.
 */
function NextPage({ onNear }: { readonly onNear: () => Promise<void> }) {
  const { room, isSeen } = useSeen<HTMLSpanElement>(NEXT_PAGE_PIXELS);
  useEffect(() => {
    if (isSeen) void onNear();
  }, [isSeen]);
  return <span ref={room} />;
}

function isUnderWay({ adding }: Listing["pages"]): boolean {
  return adding !== null && adding.error === undefined;
}

interface PageProblemProperties {
  readonly pages: Listing["pages"];
  readonly where: "above" | "below";
}

function PageProblem({ pages, where }: PageProblemProperties) {
  if (pages.adding?.where !== where || pages.adding.error === undefined) return null;
  const onRetry = where === "above" ? pages.addAbove : pages.addBelow;
  return <Problem error={pages.adding.error} onRetry={() => void onRetry()} />;
}

/**
 * Calls `keep` with the key of the first row in view, after scrolling and before a link is followed, so that Back can show
 * it again.
 */
function useFirstRowInView(list: RefObject<HTMLElement | null>, keep: (key: string) => void): void {
  const latest = useRef(keep);
  latest.current = keep;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const report = () => {
      clearTimeout(timer);
      timer = undefined;
      const rows = [...list.current?.querySelectorAll("tr[data-key]") ?? []];
      const key = keyAt(firstInView(rows) ?? null);
      if (key !== undefined) latest.current(key);
    };
    const onScroll = () => {
      clearTimeout(timer);
      timer = setTimeout(report, SCROLL_SETTLED_MILLISECONDS);
    };
    const onClick = () => {
      if (timer !== undefined) report();
    };
    addEventListener("scroll", onScroll, { passive: true });
    addEventListener("click", onClick, { capture: true });
    return () => {
      clearTimeout(timer);
      removeEventListener("scroll", onScroll);
      removeEventListener("click", onClick, { capture: true });
    };
  }, []);
}

/** A binary search: the rows are in order, so only a few of thousands are measured. */
function firstInView(rows: readonly Element[]): Element | undefined {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.getBoundingClientRect().bottom ?? 0) > 0) high = middle;
    else low = middle + 1;
  }
  return rows[low];
}
