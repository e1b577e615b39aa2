/** Reports when an element comes near the visible part of the page. */
import { useEffect, useRef, useState } from "preact/hooks";
import { NEAR_PIXELS } from "../limits.ts";
import { hasShareLeft } from "../session/rate_window.ts";

/** `room` is the ref of the observed element; `isSeen` stays true. `nearPixels` is measured from the edge of the window. */
export function useSeen<Room extends HTMLElement>(nearPixels = NEAR_PIXELS) {
  const room = useRef<Room>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      setSeen(true);
      observer.disconnect();
    }, { rootMargin: `${nearPixels}px` });
    if (room.current !== null) observer.observe(room.current);
    return () => observer.disconnect();
  }, []);
  return { room, isSeen };
}

/**
 * Decides, once an element is in view, whether to read unasked what it shows: `may` is false if agents need the project's
 * requests, and undefined until then.
 */
export function useTurn<Room extends HTMLElement>(projectId: string) {
  const { room, isSeen } = useSeen<Room>(0);
  const [may, setMay] = useState<boolean>();
  useEffect(() => {
    if (isSeen) setMay(hasShareLeft(projectId));
  }, [isSeen]);
  return { room, may };
}
