/** The change feed, page by page, and further as it grows. */
import { FOLLOW_WAIT_SECONDS, PAGE } from "../limits.ts";
import type { Api } from "./api.ts";
import type { ChangesOptions } from "./options.ts";
import type { Change, ChangePage } from "./records.ts";

export async function* follow(
  api: Api,
  { after, follow = false, ...filters }: ChangesOptions,
): AsyncGenerator<Change, void, void> {
  let cursor = after;
  let isAtEnd = false;
  for (;;) {
    const wait: number | undefined = isAtEnd ? FOLLOW_WAIT_SECONDS : undefined;
    const query = { ...filters, after: cursor, limit: PAGE, wait };
    const page: ChangePage = await api.data<ChangePage>("/changes", { query });
    yield* page.changes;
    cursor = page.cursor;
    isAtEnd = !page.hasMore;
    if (isAtEnd && !follow) return;
  }
}
