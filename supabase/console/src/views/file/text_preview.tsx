/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import type { FileRecord } from "../../api/records.ts";
import { CodeView } from "../../code/code_view.tsx";
import { Empty } from "../../components/states.tsx";
import { shownType } from "./shown_type.ts";
import { ImagePreview } from "./image_preview.tsx";

interface Properties {
  readonly text: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly record: FileRecord;
  /** The line to show, from 1. */
  readonly line?: number | undefined;
}

/** The source text. An SVG can also be shown as an image, in which its scripts do not run. */
export function TextPreview({ text, bytes, record, line }: Properties) {
  const [isPicture, setPicture] = useState(false);
  if (text === "") return <Empty icon="file" title="The file is empty." />;
  const toggle = record.mimeType === "image/svg+xml" && (
    <button
      type="button"
      class="toggle"
      aria-pressed={isPicture}
      onClick={() => setPicture(!isPicture)}
    >
      Show as picture
    </button>
  );
  return (
    <>
      {toggle}
      {isPicture ? <ImagePreview bytes={bytes} path={record.path} mimeType={record.mimeType} /> : (
        <CodeView
          id={`${record.path} ${line}`}
          text={text}
          line={line}
          mimeType={shownType(record)}
          label={`Content of ${record.path}`}
        />
      )}
    </>
  );
}
