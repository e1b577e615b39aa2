/** Keeps the isolate alive until work that goes on after a response has ended: `EdgeRuntime.waitUntil`. */
export type Background = (work: Promise<unknown>, name: BackgroundWork) => void;

export type BackgroundWork = "compaction" | "index" | "sweep" | "usage";
