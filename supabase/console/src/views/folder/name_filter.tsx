/** The field that filters a folder by name, and the progress of the filter. */
import { useEffect, useRef, useState } from "preact/hooks";
import { reasonOf } from "../../api/failure.ts";
import { Icon } from "../../components/icon.tsx";
import { formatCount, formatNumber } from "../../format.ts";
import {
  FILTER_FILES_MAX,
  FILTER_PAGES_MAX,
  FILTER_PAGES_MIN,
  FILTER_PAUSE_MILLISECONDS,
} from "../../limits.ts";
import { type FilesPlace, place as here, replaceWith } from "../../state/router.ts";
import { type FileRecord, listFiles } from "../../api/files.ts";
import { hasShareLeft } from "../../session/rate_window.ts";

/** The text of the filter. The address stores it after a pause in typing, and on blur. */
export function useFilter(place: FilesPlace) {
  const kept = place.filter ?? "";
  const [filter, setFilter] = useState(kept);
  const latest = useRef(kept);
  const written = useRef(kept);
  const keepFilter = () => {
    // The field also loses the focus when the person leaves the view.
    if (latest.current === kept || here.value !== place) return;
    written.current = latest.current;
    replaceWith({ ...place, filter: latest.current });
  };
  useEffect(() => {
    // A link has changed the address, not this field.
    if (kept === written.current) return;
    written.current = latest.current = kept;
    setFilter(kept);
  }, [kept]);
  useEffect(() => {
    const timer = setTimeout(keepFilter, FILTER_PAUSE_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [filter]);
  return {
    filter,
    keepFilter,
    setFilter: (text: string) => {
      latest.current = text;
      setFilter(text);
    },
  };
}

interface ScanProperties {
  readonly scan: NameScan;
  readonly filter: string;
  readonly total: string;
  readonly count: number;
}

/** The progress of the filter in a folder that is larger than a page. */
export function ScanProgress({ scan, filter, total, count }: ScanProperties) {
  const { files, isComplete, isRunning, error, resume } = scan;
  const read = formatNumber(files.length);
  const found = `${formatCount(count, "file")} of ${total} ${
    count === 1 ? "has" : "have"
  } “${filter}” in the name.`;
  return (
    <div class="hint scan">
      <p role="status">
        {isComplete
          ? found
          : isRunning
          ? `Searching ${total} names …`
          : `Searched ${read} of ${total} names.`}
        {count > FILTER_FILES_MAX && ` The first ${FILTER_FILES_MAX} are shown.`}
        {error !== undefined && ` ${reasonOf(error)}`}
      </p>
      {!isComplete && !isRunning && files.length > 0 && (
        <button type="button" onClick={resume}>Search more</button>
      )}
    </div>
  );
}

interface FilterProperties {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onLeave: () => void;
}

export function FilterField({ value, onInput, onKeyDown, onLeave }: FilterProperties) {
  return (
    <div class="filter">
      <Icon name="search" />
      <label class="visually-hidden" for="filter">Filter by name</label>
      <input
        id="filter"
        type="search"
        placeholder="Filter by name  ( / )"
        value={value}
        data-filter=""
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onBlur={onLeave}
      />
    </div>
  );
}

interface Scanned {
  readonly key: string;
  /** Sorted by path, from the beginning of the folder. */
  readonly files: readonly FileRecord[];
  readonly isComplete: boolean;
}

export interface NameScan extends Omit<Scanned, "key"> {
  readonly isRunning: boolean;
  readonly error: unknown;
  /** Continues a scan that has paused or failed. */
  readonly resume: () => void;
}

/**
 * The names of a folder that is larger than a page, because the API lists names but does not filter them. They are read
 * once, for every filter, and only while `isWanted`. A new `key` starts again.
 */
export function useNameScan(projectId: string, directory: string, key: string, isWanted: boolean): NameScan {
  const nothing: Scanned = { key, files: [], isComplete: false };
  const [scanned, setScanned] = useState<Scanned>(nothing);
  const [error, setError] = useState<unknown>(undefined);
  const [isRunning, setRunning] = useState(false);
  const [resumes, setResumes] = useState(0);
  const current = scanned.key === key ? scanned : nothing;
  useEffect(() => {
    if (!isWanted || current.isComplete) return;
    const abort = new AbortController();
    setRunning(true);
    setError(undefined);
    readOn(projectId, directory, current, setScanned, abort.signal).then(
      () => abort.signal.aborted || setRunning(false),
      (problem) => {
        if (abort.signal.aborted) return;
        setRunning(false);
        setError(problem);
      },
    );
    return () => abort.abort();
  }, [key, isWanted, resumes]);
  const { files, isComplete } = current;
  return { files, isComplete, isRunning, error, resume: () => setResumes(resumes + 1) };
}

/** Reads until the end, or pauses: after FILTER_PAGES_MAX pages, or when the rest of the requests is reserved for agents. */
async function readOn(
  projectId: string,
  directory: string,
  start: Scanned,
  onRead: (scanned: Scanned) => void,
  signal: AbortSignal,
): Promise<void> {
  let scanned = start;
  for (let pages = 0; pages < FILTER_PAGES_MAX && !scanned.isComplete; pages++) {
    if (pages >= FILTER_PAGES_MIN && !hasShareLeft(projectId)) return;
    const after = scanned.files.at(-1)?.path;
    const { files, hasMore } = await listFiles(projectId, { directory, after }, signal);
    signal.throwIfAborted();
    scanned = { ...scanned, files: [...scanned.files, ...files], isComplete: !hasMore };
    onRead(scanned);
  }
}
