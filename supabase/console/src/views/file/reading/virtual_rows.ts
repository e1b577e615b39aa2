/** The rows of a long list that are in view. All rows have the same height, and only rows in view are drawn. */
import type { RefObject } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { ROWS_OVERSCANNED } from "../../../limits.ts";

interface VirtualRows {
  /** The first row to draw, and the row after the last one. */
  readonly first: number;
  readonly end: number;
  /** Height of the rows that are not drawn, above and below, in pixels. */
  readonly above: number;
  readonly below: number;
  readonly onScroll: () => void;
  /** Scrolls until the row is in view: at the top, or as little as needed. */
  readonly reveal: (row: number, block: "start" | "nearest") => void;
}

export function useVirtualRows(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  rowPixels: number,
  /** Height of the header that covers the top of the scroller. */
  headPixels = 0,
): VirtualRows {
  const [seen, setSeen] = useState({ top: 0, height: 800 });
  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (element !== null) setSeen({ top: element.scrollTop, height: element.clientHeight });
  }, []);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const observer = new ResizeObserver(onScroll);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const first = clamp(Math.floor(seen.top / rowPixels) - ROWS_OVERSCANNED, 0, count);
  const end = clamp(Math.ceil((seen.top + seen.height) / rowPixels) + ROWS_OVERSCANNED, first, count);
  const reveal = (row: number, block: "start" | "nearest") => {
    const element = scroller.current;
    if (element === null) return;
    const top = row * rowPixels;
    const room = element.clientHeight - headPixels;
    if (block === "start" || top < element.scrollTop) element.scrollTop = top;
    else if (top + rowPixels > element.scrollTop + room) element.scrollTop = top + rowPixels - room;
    onScroll();
  };
  return { first, end, above: first * rowPixels, below: (count - end) * rowPixels, onScroll, reveal };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
