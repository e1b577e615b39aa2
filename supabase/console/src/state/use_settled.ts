import { useEffect, useState } from "preact/hooks";
import { FILTER_PAUSE_MILLISECONDS } from "../limits.ts";

/** The text after a pause in typing. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), FILTER_PAUSE_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
