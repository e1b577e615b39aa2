import { useEffect, useState } from "preact/hooks";
import { CONSENT_ARMED_MILLISECONDS } from "../../limits.ts";

/**
 * True once the page has been in front for a moment. Another site can open this page behind a window of its own, ask for a
 * double click there, and close that window after the first click: the second one would be an answer here.
 */
export function useArmed(): boolean {
  const [isArmed, setArmed] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const start = () => {
      clearTimeout(timer);
      setArmed(false);
      if (document.visibilityState === "hidden" || !document.hasFocus()) return;
      timer = setTimeout(() => setArmed(true), CONSENT_ARMED_MILLISECONDS);
    };
    const abort = new AbortController();
    for (const type of ["focus", "blur"]) addEventListener(type, start, { signal: abort.signal });
    document.addEventListener("visibilitychange", start, { signal: abort.signal });
    start();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, []);
  return isArmed;
}
