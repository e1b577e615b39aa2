/** @jsxImportSource preact */
import { formatAge, formatExactTime } from "../format.ts";

/** A moment as people say it; the exact one on hover. */
export function Age({ iso }: { readonly iso: string }) {
  return <time dateTime={iso} title={formatExactTime(iso)}>{formatAge(iso)}</time>;
}
