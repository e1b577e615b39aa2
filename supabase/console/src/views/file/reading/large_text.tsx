/** A text that is too large to be loaded whole: from its end, or around a line. */
import { isCode } from "../../../api/failure.ts";
import type { FileRecord } from "../../../api/files.ts";
import { Pending } from "../../../components/states.tsx";
import { formatNumber } from "../../../format.ts";
import { LINE_CHARACTERS_MAX } from "../../../limits.ts";
import { type FilePlace, linesBetween, replaceWith } from "../../../state/router.ts";
import type { Form } from "./form.ts";
import { Source } from "./source.tsx";
import { ReadingTools } from "./tools.tsx";
import { type LinesState, type LineWindow, useLines } from "./use_lines.ts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface Properties {
  readonly place: FilePlace;
  readonly record: FileRecord;
  readonly form: Form;
  /** Shown where the content is not text. */
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
  // While the lines around another one are loaded, there is nothing to scroll to.
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
        // A part of a file cannot be told from its middle.
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
