/** What a field for a time shows and holds: it has no time zone, so its value is in that of the browser. */
import { localSeconds } from "../../format.ts";

export function isoOf(local: string): string | undefined {
  return local === "" ? undefined : new Date(local).toISOString();
}

export function localOf(iso: string | null): string {
  return iso === null ? "" : localSeconds(iso).slice(0, 16);
}
