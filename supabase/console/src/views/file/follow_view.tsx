/** The end of a text, and what is appended to it: like `tail -f`. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { FileRecord } from "../../api/files.ts";
import { Empty, Pending, Problem } from "../../components/states.tsx";
import { formatBytes, visible } from "../../format.ts";
import { type FilePlace, replaceWith } from "../../state/router.ts";
import { useTail } from "./use_tail.ts";

/** How far from its end a text may be scrolled and still follow it. */
const END_PIXELS = 8;

export function FollowToggle({ place }: { readonly place: FilePlace }) {
  const isOn = place.follow ?? false;
  return (
    <button
      type="button"
      class="toggle"
      aria-pressed={isOn}
      onClick={() => replaceWith({ ...place, line: undefined, follow: !isOn })}
    >
      Follow
    </button>
  );
}

interface Properties {
  readonly projectId: string;
  readonly record: FileRecord;
}

export function FollowView({ projectId, record }: Properties) {
  const { path } = record;
  const { tail, error, retry } = useTail(projectId, record);
  const box = useRef<HTMLPreElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const toEnd = () => box.current?.scrollTo({ top: box.current.scrollHeight });
  useLayoutEffect(() => {
    if (isAtEnd) toEnd();
  }, [tail]);
  if (tail === null) return <Pending error={error} reload={retry} what="the end" />;
  if (tail.text === null) return <Empty icon="file" title="There is no preview for this content." />;
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: {
    readonly currentTarget: HTMLElement;
  }) => setAtEnd(scrollHeight - scrollTop - clientHeight <= END_PIXELS);
  return (
    <>
      <div class="tail-head">
        <p class="hint">
          Following version {tail.version}, {formatBytes(tail.end)}.
          {tail.isCut && " Only the end is shown."}
          {tail.rewritten !== null && ` Version ${tail.rewritten} was not appended: it was read anew.`}
        </p>
        <button type="button" disabled={isAtEnd} onClick={toEnd}>To the end</button>
      </div>
      {error !== undefined && <Problem error={error} onRetry={retry} />}
      <pre
        ref={box}
        class="tail"
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={`End of ${visible(path)}`}
        onScroll={onScroll}
      >{tail.text}</pre>
    </>
  );
}
