import { formatNumber, formatTotal } from "../format.ts";

interface Properties {
  readonly label: string;
  /** The number of entries before this page, on this page, and on a full page. */
  readonly first: number;
  readonly count: number;
  readonly perPage: number;
  readonly hasNext: boolean;
  /** The total number of entries; left out if it is unknown. */
  readonly total?: number | undefined;
  /** False: there are more than `total`. */
  readonly isExact?: boolean | undefined;
  readonly onShow: (first: number) => void;
}

/** Renders nothing if there is only one page. */
export function Pager({ label, first, count, perPage, hasNext, total, isExact, onShow }: Properties) {
  if (first === 0 && !hasNext) return null;
  return (
    <nav class="pager" aria-label={label}>
      <button type="button" disabled={first === 0} onClick={() => onShow(Math.max(0, first - perPage))}>
        Previous
      </button>
      <span role="status">
        {formatNumber(first + 1)}–{formatNumber(first + count)}
        {total !== undefined && ` of ${formatTotal(total, isExact)}`}
      </span>
      <button type="button" disabled={!hasNext} onClick={() => onShow(first + perPage)}>Next</button>
    </nav>
  );
}
