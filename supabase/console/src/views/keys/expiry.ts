/** What a field for a time shows and holds: it has no time zone, so its value is in that of the browser. */

export function isoOf(local: string): string | undefined {
  return local === "" ? undefined : new Date(local).toISOString();
}

export function localOf(iso: string | null): string {
  if (iso === null) return "";
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
