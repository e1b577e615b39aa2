/** Parses Markdown outside of the page's thread. */
import { parseMarkdown } from "./parse.ts";

globalThis.addEventListener("message", ({ data }: MessageEvent<string>) => {
  globalThis.postMessage(parseMarkdown(data));
});
