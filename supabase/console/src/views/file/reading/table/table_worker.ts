/** Reads a table outside of the page's thread. */
import { readTable, type TableRequest } from "./rows.ts";

globalThis.addEventListener("message", ({ data }: MessageEvent<TableRequest>) => {
  readTable(data, (batch) => globalThis.postMessage(batch));
});
