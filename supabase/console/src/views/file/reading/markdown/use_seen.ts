/// <reference lib="dom" />
/** Whether something has come near to what is in view. */
import { useEffect, useRef, useState } from "preact/hooks";

/** How far from the edge of the window something is near. */
const NEAR = "400px";

/** `room` is the element that is looked for; what was seen once stays so. */
export function useSeen<Room extends HTMLElement>() {
  const room = useRef<Room>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      setSeen(true);
      observer.disconnect();
    }, { rootMargin: NEAR });
    if (room.current !== null) observer.observe(room.current);
    return () => observer.disconnect();
  }, []);
  return { room, isSeen };
}
