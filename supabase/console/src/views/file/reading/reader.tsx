/** A text in its form or as source. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { FileRecord } from "../../../api/files.ts";
import { Empty, Pending } from "../../../components/states.tsx";
import { TEXT_PREVIEW_BYTES_MAX } from "../../../limits.ts";
import { type FilePlace, replaceWith } from "../../../state/router.ts";
import { linesBetween } from "../../../state/lines.ts";
import { useLoad } from "../../../state/use_load.ts";
import { ImagePreview } from "../media_preview.tsx";
import { shownType } from "../../../components/shown_type.ts";
import { type Form, formOf, type FormProperties, type RowAsked } from "./form.ts";
import { LargeText } from "./large_text.tsx";
import { Source } from "./source.tsx";
import { ReadingTools } from "./tools.tsx";

interface Properties {
  readonly place: FilePlace;
  readonly record: FileRecord;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly text: string;
}

/** Returns whether the place asks for the source, as it also does if it names lines. */
export function asksForSource(place: FilePlace, form: Form): boolean {
  return form === "source" || place.show === "source" || place.line !== undefined;
}

export function Reader({ place, record, bytes, text }: Properties) {
  const form = formOf(record);
  const [goes, setGoes] = useState(0);
  const [row, setRow] = useState<RowAsked | undefined>();
  /** The version that cannot be shown in the form, and the reason. */
  const [refused, setRefused] = useState<{ readonly version: number; readonly why: string } | null>(null);
  const problem = refused?.version === record.version ? refused.why : null;
  if (text === "") return <Empty icon="file" title="The file is empty." />;
  const isSource = asksForSource(place, form) || problem !== null;
  const isTable = form === "csv" || form === "tsv" || form === "jsonl";
  const counted = isTable && !isSource ? "row" : "line";
  const go = (number: number, last?: number) => {
    setGoes(goes + 1);
    if (counted === "row") setRow({ number, goes });
    else replaceWith({ ...place, ...linesBetween(number, last), heading: undefined });
  };
  const note = problem !== null && form !== "source" && <p class="note" role="status">{problem}</p>;
  if (isSource && record.size > TEXT_PREVIEW_BYTES_MAX) {
    return (
      <>
        {note}
        <LargeText {...{ place, record, form }} notText={null} />
      </>
    );
  }
  return (
    <>
      {note}
      <ReadingTools {...{ place, form, isSource, text, counted }} onGo={go} />
      {isSource
        ? (
          <Picture {...{ record, bytes }}>
            <Source id={shownType(record)} mimeType={shownType(record)} {...{ place, text, goes }} />
          </Picture>
        )
        : (
          <InForm
            key={record.version}
            {...{ place, record, form, text, row }}
            onProblem={(why) => setRefused({ version: record.version, why })}
          />
        )}
    </>
  );
}

interface PictureProperties extends Pick<Properties, "record" | "bytes"> {
  readonly children: ComponentChildren;
}

/** An SVG can also be shown as an image; its scripts do not run in an image. */
function Picture({ record: { path, mimeType }, bytes, children }: PictureProperties) {
  const [isPicture, setPicture] = useState(false);
  if (mimeType !== "image/svg+xml") return <>{children}</>;
  return (
    <>
      <button type="button" class="toggle" aria-pressed={isPicture} onClick={() => setPicture(!isPicture)}>
        Show as picture
      </button>
      {isPicture ? <ImagePreview {...{ path, bytes, mimeType }} /> : children}
    </>
  );
}

/** Each form is loaded when it is first shown. */
function InForm(properties: FormProperties) {
  const { form } = properties;
  const { data: View, error } = useLoad(`form ${form}`, () => loadForm(form));
  return View === undefined ? <Pending error={error} what="the text" /> : <View {...properties} />;
}

async function loadForm(form: Form) {
  if (form === "markdown") return (await import("./markdown/markdown_view.tsx")).MarkdownView;
  if (form === "json") return (await import("./tree/tree_view.tsx")).TreeView;
  return (await import("./table/table_view.tsx")).TableView;
}
