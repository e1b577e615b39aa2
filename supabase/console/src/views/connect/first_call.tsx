import type { NewKey } from "../../api/projects.ts";
import { Age } from "../../components/list.tsx";
import { Icon } from "../../components/icon.tsx";
import { hrefOf } from "../../state/router.ts";
import { useEffect, useState } from "preact/hooks";
import { FIRST_CALL_LOOKS_MAX, FIRST_CALL_PAUSE_MILLISECONDS } from "../../limits.ts";
import { keysOf, loadKeys } from "../../state/keys.ts";
import { useLive } from "../../state/live.ts";
import { whenVisible } from "../../state/paced.ts";

/** Waits for the key's first call, then turns green. */
export function FirstCall({ projectId, made }: { readonly projectId: string; readonly made: NewKey }) {
  const { calledAt, hasGivenUp, lookAgain } = useFirstCall(projectId, made.id);
  const title = made.name || `${made.prefix}…`;
  return (
    <div class={calledAt === null ? "first-call" : "first-call called"} role="status">
      {calledAt !== null
        ? (
          <>
            <Icon name="check" />
            <p>
              <strong>{title}</strong> is connected. It last called <Age iso={calledAt} />:{" "}
              <a href={hrefOf({ name: "activity", projectId, keyId: made.id })}>what it has written</a>.
            </p>
          </>
        )
        : hasGivenUp
        ? (
          <>
            <p>No call with {title} yet.</p>
            <button type="button" onClick={lookAgain}>Look again</button>
          </>
        )
        : (
          <>
            <span class="pulse" aria-hidden="true" />
            <p>
              Waiting for the first call with <strong>{title}</strong> …
            </p>
          </>
        )}
    </div>
  );
}

export interface FirstCall {
  /** When the key was last used; null until a use is known. */
  readonly calledAt: string | null;
  /** No call has come for so long that checking has stopped. */
  readonly hasGivenUp: boolean;
  readonly lookAgain: () => void;
}

function useFirstCall(projectId: string, keyId: string): FirstCall {
  const [restarts, setRestarts] = useState(0);
  const [hasGivenUp, setGivenUp] = useState(false);
  const calledAt = keysOf(projectId)?.find(({ id }) => id === keyId)?.lastUsedAt ?? null;
  const isCalled = calledAt !== null;
  const lookAgain = () => setRestarts((before) => before + 1);
  useLive(projectId, (changes) => {
    if (!isCalled && (changes ?? []).some((change) => change.keyId === keyId)) lookAgain();
  });
  useEffect(() => {
    if (isCalled) return;
    setGivenUp(false);
    const abort = new AbortController();
    let looks = 0;
    let cancel = () => {};
    const check = async () => {
      // After a failure, the next check may succeed; the banner shows a lost connection.
      await loadKeys(projectId, abort.signal).catch(() => {});
      if (abort.signal.aborted) return;
      if (++looks >= FIRST_CALL_LOOKS_MAX) setGivenUp(true);
      else cancel = whenVisible(FIRST_CALL_PAUSE_MILLISECONDS, check);
    };
    cancel = whenVisible(FIRST_CALL_PAUSE_MILLISECONDS, check);
    return () => {
      abort.abort();
      cancel();
    };
  }, [projectId, keyId, isCalled, restarts]);
  return { calledAt, hasGivenUp, lookAgain };
}
