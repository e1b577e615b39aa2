import type { Key, NewKey } from "../../api/projects.ts";
import { Age } from "../../components/list.tsx";
import { Icon } from "../../components/icon.tsx";
import { hrefOf } from "../../state/router.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { FIRST_CALL_LOOKS_MAX, FIRST_CALL_PAUSE_MILLISECONDS } from "../../limits.ts";
import { keysOf, loadKeys } from "../../state/keys.ts";
import { useLive } from "../../state/live.ts";
import { whenVisible } from "../../state/paced.ts";
import { useLoad } from "../../state/use_load.ts";
import { visible } from "../../format.ts";

/** Waits for the key's first call, then turns green. */
export function FirstCall({ projectId, made }: { readonly projectId: string; readonly made: NewKey }) {
  const title = made.name || `${made.prefix}…`;
  return <Waiting {...{ projectId, title }} keyId={made.id} isAwaited={({ id }) => id === made.id} />;
}

/** Waits for the first call of an app that was not connected before. */
export function FirstAppCall({ projectId, title }: { readonly projectId: string; readonly title: string }) {
  const before = useRef<ReadonlySet<string> | null>(null);
  const { data: isReady } = useLoad(`apps before ${projectId}`, async (signal) => {
    await loadKeys(projectId, signal);
    before.current ??= new Set(keysOf(projectId)?.map(({ id }) => id));
    return true;
  });
  if (!isReady) return null;
  const isNew = ({ kind, id }: Key) => kind === "app" && before.current?.has(id) === false;
  return <Waiting {...{ projectId, title }} isAwaited={isNew} />;
}

interface Properties {
  readonly projectId: string;
  readonly title: string;
  /** The key's id, if it is known. */
  readonly keyId?: string;
  readonly isAwaited: (key: Key) => boolean;
}

function Waiting({ projectId, title, keyId, isAwaited }: Properties) {
  const { called, hasGivenUp, lookAgain } = useFirstCall(projectId, isAwaited, keyId);
  return (
    <div class={called === undefined ? "first-call" : "first-call called"} role="status">
      {called?.lastUsedAt
        ? (
          <>
            <Icon name="check" />
            <p>
              <strong>{visible(called.name) || title}</strong> is connected. It last called{" "}
              <Age iso={called.lastUsedAt} />:{" "}
              <a href={hrefOf({ name: "activity", projectId, keyId: called.id })}>what it has written</a>.
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
  /** The awaited key, once it was used. */
  readonly called: Key | undefined;
  /** No call has come for so long that checking has stopped. */
  readonly hasGivenUp: boolean;
  readonly lookAgain: () => void;
}

function useFirstCall(projectId: string, isAwaited: (key: Key) => boolean, keyId?: string): FirstCall {
  const [restarts, setRestarts] = useState(0);
  const [hasGivenUp, setGivenUp] = useState(false);
  const called = keysOf(projectId)?.find((key) => isAwaited(key) && key.lastUsedAt !== null);
  const isCalled = called !== undefined;
  const lookAgain = () => setRestarts((before) => before + 1);
  useLive(projectId, (changes) => {
    if (!isCalled && keyId && (changes ?? []).some((change) => change.keyId === keyId)) lookAgain();
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
  return { called, hasGivenUp, lookAgain };
}
