/** A text that is too large to load whole: shown from its end, or around a line. */
import { isAbort, isCode } from "../../../api/failure.ts";
import { type FileRecord, type Lines, readLines } from "../../../api/files.ts";
import { Pending } from "../../../components/states.tsx";
import { formatNumber } from "../../../format.ts";
import { LINE_CHARACTERS_MAX, LINES_PER_STEP } from "../../../limits.ts";
import { type FilePlace, replaceWith } from "../../../state/router.ts";
import { linesBetween } from "../../../state/lines.ts";
import type { Form } from "./form.ts";
import { Source } from "./source.tsx";
import { ReadingTools } from "./tools.tsx";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface Properties {
  readonly place: FilePlace;
  readonly record: FileRecord;
  readonly form: Form;
  readonly notText: ComponentChildren;
}

export function LargeText({ place, record, form, notText }: Properties) {
  const { projectId, path, line } = place;
  const [goes, setGoes] = useState(0);
  const lines = useLines(projectId, path, record.version, line);
  const { window, error, retry } = lines;
  if (isCode(error, "NOT_TEXT")) return <>{notText}</>;
  if (error !== undefined || window === undefined) {
    return <Pending error={error} reload={retry} what="the lines" />;
  }
  const go = (number: number, last?: number) => {
    replaceWith({ ...place, ...linesBetween(number, last) });
    setGoes(goes + 1);
  };
  // While the lines around the requested line load, the view has nothing to scroll to.
  const isThere = line === undefined ||
    (line >= window.startLine && (line <= window.endLine || isAll(window)));
  return (
    <>
      <ReadingTools {...{ place, form }} isSource text={window.text} onGo={go} />
      <Position {...{ lines, window, place, go }} />
      <Source
        place={isThere ? place : { ...place, line: undefined, lastLine: undefined }}
        id={`${record.version} ${window.origin}`}
        text={window.text}
        firstLine={window.startLine}
        // Not highlighted, because a parser cannot start in the middle of a file.
        mimeType="text/plain"
        goes={goes}
        startsAtEnd
      />
    </>
  );
}

interface PositionProperties {
  readonly lines: LinesState;
  readonly window: LineWindow;
  readonly place: FilePlace;
  readonly go: (line: number) => void;
}

function Position({ lines: { isBusy, earlier, later, last }, window, place, go }: PositionProperties) {
  const { startLine, endLine, totalLines, isCut } = window;
  const toEnd = () => {
    replaceWith({ ...place, line: undefined });
    last();
  };
  return (
    <div class="line-window">
      <p role="status">
        Lines {formatNumber(startLine)} to {formatNumber(endLine)} of {formatNumber(totalLines)}.
        {isCut && ` Longer lines are cut after ${formatNumber(LINE_CHARACTERS_MAX)} characters.`}
      </p>
      <button type="button" disabled={isBusy || startLine === 1} onClick={() => go(1)}>First</button>
      <button type="button" disabled={isBusy || startLine === 1} onClick={earlier}>Earlier lines</button>
      <button type="button" disabled={isBusy || endLine === totalLines} onClick={later}>Later lines</button>
      <button type="button" disabled={isBusy} onClick={toEnd}>Last</button>
    </div>
  );
}

function isAll({ endLine, totalLines }: LineWindow): boolean {
  return endLine === totalLines;
}

interface LineWindow {
  /** The lines, without the line break of the last one. */
  readonly text: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly totalLines: number;
  readonly isCut: boolean;
  /** Changes if the lines do not continue the previous ones. */
  readonly origin: string;
}

interface LinesState {
  readonly window: LineWindow | undefined;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly earlier: () => void;
  readonly later: () => void;
  readonly last: () => void;
  readonly retry: () => void;
}

/** `line`: the line that the window must contain. */
function useLines(projectId: string, path: string, version: number, line?: number): LinesState {
  const [window, setWindow] = useState<LineWindow | undefined>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(true);
  const [retries, setRetries] = useState(0);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);

  const load = async (lines: string, join: (read: LineWindow) => LineWindow) => {
    abort.current?.abort();
    const { signal } = abort.current = new AbortController();
    setBusy(true);
    try {
      const read = await readLines({ projectId, path }, version, lines, signal).catch(async (problem) => {
        // The line is beyond the end.
        if (!isCode(problem, "RANGE_NOT_SATISFIABLE")) throw problem;
        return await readLines({ projectId, path }, version, `-${LINES_PER_STEP}`, signal);
      });
      setWindow(join(windowOf(read)));
      setError(undefined);
      setBusy(false);
    } catch (problem) {
      if (isAbort(problem)) return;
      setError(problem);
      setBusy(false);
    }
  };
  const last = () => void load(`-${LINES_PER_STEP}`, (read) => read);

  useEffect(() => {
    if (line === undefined) {
      if (window === undefined) last();
    } else if (window === undefined || !isWithin(line, window)) {
      const from = Math.max(1, line - LINES_PER_STEP / 2);
      void load(`${from}-${from + LINES_PER_STEP - 1}`, (read) => read);
    }
  }, [line, retries]);

  return {
    window,
    error,
    isBusy,
    last,
    retry: () => setRetries(retries + 1),
    earlier: () => {
      if (window === undefined || window.startLine === 1) return;
      const from = Math.max(1, window.startLine - LINES_PER_STEP);
      void load(`${from}-${window.startLine - 1}`, (read) => joined(read, window, window));
    },
    later: () => {
      if (window === undefined || window.endLine === window.totalLines) return;
      const from = window.endLine + 1;
      void load(`${from}-${from + LINES_PER_STEP - 1}`, (read) => joined(window, read, window));
    },
  };
}

/** Returns whether the window contains the line. A line beyond the end counts as the last. */
function isWithin(line: number, { startLine, endLine, totalLines }: LineWindow): boolean {
  return line >= startLine && Math.min(line, totalLines) <= endLine;
}

function joined(above: LineWindow, below: LineWindow, { origin }: LineWindow): LineWindow {
  return {
    text: `${above.text}\n${below.text}`,
    startLine: above.startLine,
    endLine: below.endLine,
    totalLines: below.totalLines,
    isCut: above.isCut || below.isCut,
    origin,
  };
}

function windowOf({ content, ...numbers }: Lines): LineWindow {
  const text = content.endsWith("\n") ? content.slice(0, -1) : content;
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  const isCut = lines.some(({ length }) => length > LINE_CHARACTERS_MAX);
  return {
    ...numbers,
    text: lines.map((line) => line.slice(0, LINE_CHARACTERS_MAX)).join("\n"),
    isCut,
    origin: crypto.randomUUID(),
  };
}
