/** What every view shows above its content: a lost connection, a wait, and notices. */
import { useEffect, useState } from "preact/hooks";
import { isOffline, waitingUntil } from "../session/connection.ts";
import { dismiss, notices } from "../state/notices.ts";
import { projectId } from "../state/projects.ts";
import { IconButton } from "../components/icon.tsx";

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

/** The live region is always rendered, so that screen readers announce what is added to it. */
export function Notices() {
  const shown = notices.value.filter(({ about }) =>
    about === undefined || about.projectId === projectId.value
  );
  return (
    <div class="notices" role="status" aria-live="polite" aria-label="Notices">
      {shown.map(({ id, kind, text, undo }) => (
        <div key={id} class={`notice ${kind}`}>
          <span>{text}</span>
          {undo && (
            <button
              type="button"
              aria-label={`Undo ${undo.what}`}
              onClick={() => {
                dismiss(id);
                undo.run();
              }}
            >
              Undo
            </button>
          )}
          <IconButton icon="close" label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
