/** The end of a text, and everything appended to it, like `tail -f`. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type FileAt, type FileRecord, readRaw } from "../../api/files.ts";
import { Icon } from "../../components/icon.tsx";
import { Empty, Pending, Problem } from "../../components/states.tsx";
import { formatBytes, visible } from "../../format.ts";
import { type FilePlace, replaceWith } from "../../state/router.ts";
import { isAbort } from "../../api/failure.ts";
import { TAIL_BYTES, TAIL_CHARACTERS_MAX } from "../../limits.ts";
import { recoveries } from "../../session/connection.ts";
import { knownChange } from "../../state/live.ts";

/** Up to this distance from the end, the view still follows the text. */
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
      <Icon name="activity" />Follow
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
          {tail.rewritten !== null &&
            ` Version ${tail.rewritten} was not an append: the whole text was read again.`}
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

interface Tail {
  readonly version: number;
  /** The size of the version, in bytes. */
  readonly end: number;
  /** Null: the file is not UTF-8. */
  readonly text: string | null;
  /** The file has more text before this. */
  readonly isCut: boolean;
  /** The last version that was read again, because it was not an append. */
  readonly rewritten: number | null;
}

/** Returns the end of a text: reads it once, then only appended bytes while all changes are appends. */
function useTail(projectId: string, record: FileRecord) {
  const { path, version } = record;
  const [tail, setTail] = useState<Tail | null>(null);
  const [error, setError] = useState<unknown>(undefined);
  const [retries, setRetries] = useState(0);
  const decoder = useRef(newDecoder());
  useEffect(() => {
    if (tail?.version === version) return;
    const abort = new AbortController();
    const isMore = tail !== null && isAppended({ projectId, path }, tail.version, version);
    const goesOn = isMore && tail.text !== null && record.size - tail.end <= TAIL_BYTES;
    if (!goesOn) decoder.current = newDecoder();
    const start = goesOn ? tail.end : Math.max(0, record.size - TAIL_BYTES);
    read(projectId, record, start, abort.signal).then((bytes) => {
      if (abort.signal.aborted) return;
      const next = { version, end: record.size };
      if (goesOn) {
        const text = limited(tail.text ?? "", decode(decoder.current, bytes));
        setTail({ ...tail, ...next, ...text, isCut: tail.isCut || text.isCut });
      } else {
        const text = decode(decoder.current, start === 0 ? bytes : fromFirstLine(bytes));
        setTail({ ...next, text, isCut: start > 0, rewritten: isMore || tail === null ? null : version });
      }
      setError(undefined);
    }).catch((problem) => {
      if (!abort.signal.aborted && !isAbort(problem)) setError(problem);
    });
    return () => abort.abort();
  }, [projectId, path, version, retries, recoveries.value]);
  return { tail, error, retry: useCallback(() => setRetries((before) => before + 1), []) };
}

/** Returns whether the feed showed that all versions after `from` up to `to` were appends. */
function isAppended({ projectId, path }: FileAt, from: number, to: number): boolean {
  for (let version = from + 1; version <= to; version++) {
    if (knownChange({ projectId, path }, version)?.operation !== "append") return false;
  }
  return from < to;
}

async function read(
  projectId: string,
  { path, version, size }: FileRecord,
  start: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (start >= size) return new Uint8Array();
  return await (await readRaw({ projectId, path }, version, signal, { start, end: size })).bytes();
}

/** A streaming decoder, because a character may be split between two reads. */
function newDecoder(): TextDecoder {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
}

function decode(decoder: TextDecoder, bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes, { stream: true });
  } catch {
    return null;
  }
}

/** Drops the first line, or at least the first character, because the start of the read cuts it. */
function fromFirstLine(bytes: Uint8Array): Uint8Array {
  const lineBreak = bytes.indexOf(0x0a);
  if (lineBreak >= 0 && lineBreak < bytes.length - 1) return bytes.subarray(lineBreak + 1);
  const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return bytes.subarray(Math.max(0, start));
}

function limited(
  before: string,
  added: string | null,
): { readonly text: string | null; readonly isCut: boolean } {
  if (added === null) return { text: null, isCut: false };
  const text = before + added;
  if (text.length <= TAIL_CHARACTERS_MAX) return { text, isCut: false };
  const lineBreak = text.indexOf("\n", text.length - TAIL_CHARACTERS_MAX);
  return { text: text.slice(lineBreak < 0 ? text.length - TAIL_CHARACTERS_MAX : lineBreak + 1), isCut: true };
}
