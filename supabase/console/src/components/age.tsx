import { formatAge, formatExactTime } from "../format.ts";

/** A relative time; the exact time is shown on hover. */
export function Age({ iso }: { readonly iso: string }) {
  return <time dateTime={iso} title={formatExactTime(iso)}>{formatAge(iso)}</time>;
}
