/** Keeps the isolate alive until work that goes on after a response has ended: `EdgeRuntime.waitUntil`. */
export type Background = (
  work: Promise<unknown>,
  name: "compaction" | "index" | "mail" | "sweep" | "usage" | "webhooks",
) => void;
