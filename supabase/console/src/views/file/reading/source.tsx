/** A stored text with line numbers. */
import { visible } from "../../../format.ts";
import { CodeView } from "../../../code/code_view.tsx";
import { type FilePlace, replaceWith } from "../../../state/router.ts";
import { linesBetween } from "../../../state/lines.ts";
import { wrapsLines } from "../../../state/preferences.ts";

interface Properties {
  readonly place: FilePlace;
  readonly id: string;
  readonly text: string;
  readonly mimeType: string;
  /** A new number scrolls to the place's line again. */
  readonly goes: number;
  /** Number of the text's first line, if it is a part of a file. */
  readonly firstLine?: number;
  readonly startsAtEnd?: boolean;
}

export function Source({ place, id, ...options }: Properties) {
  return (
    <CodeView
      id={`${place.path} ${id}`}
      label={`Content of ${visible(place.path)}`}
      line={place.line}
      lastLine={place.lastLine}
      wraps={wrapsLines.value}
      onLine={(line, isOtherEnd) =>
        replaceWith({
          ...place,
          ...linesBetween(line, isOtherEnd ? place.line : undefined),
          heading: undefined,
        })}
      {...options}
    />
  );
}
