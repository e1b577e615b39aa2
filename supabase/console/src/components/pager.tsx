import { formatNumber, formatTotal } from "../format.ts";

interface Properties {
  /** Accessible name of the navigation. */
  readonly label: string;
  readonly first: number;
  readonly count: number;
  readonly total: number;
  /** False: there are more than `total`. */
  readonly isExact?: boolean | undefined;
  readonly hasNext: boolean;
  readonly onPrevious: () => void;
  readonly onNext: () => void;
}

/** Renders nothing if there is only one page. */
export function Pager({ label, first, count, total, isExact, hasNext, onPrevious, onNext }: Properties) {
  if (first === 0 && !hasNext) return null;
  return (
    <nav class="pager" aria-label={label}>
      <button type="button" disabled={first === 0} onClick={onPrevious}>Previous</button>
      <span role="status">
        {formatNumber(first + 1)}–{formatNumber(first + count)} of {formatTotal(total, isExact)}
      </span>
      <button type="button" disabled={!hasNext} onClick={onNext}>Next</button>
    </nav>
  );
}
