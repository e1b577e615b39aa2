import { useEffect, useState } from "preact/hooks";
import { isOffline, waitingUntil } from "../session/connection.ts";

/** Shows a lost connection, or the wait for the rate limit. */
export function Banner() {
  const until = waitingUntil.value;
  return (
    <div role="status" aria-live="assertive" class="banner-place">
      {isOffline.value
        ? <p class="banner">The connection is lost. Reconnecting …</p>
        : until === null
        ? null
        : <Countdown until={until} />}
    </div>
  );
}

function Countdown({ until }: { readonly until: number }) {
  const left = () => Math.max(0, Math.ceil((until - Date.now()) / 1000));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    setSeconds(left());
    const timer = setInterval(() => setSeconds(left()), 1000);
    return () => clearInterval(timer);
  }, [until]);
  return (
    <p class="banner">
      The project has used its requests for this minute. Continuing
      <span aria-hidden="true">{` in ${seconds} s`}</span>
      <span class="visually-hidden">at the end of the minute</span>.
    </p>
  );
}
