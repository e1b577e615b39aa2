/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import type { FileRecord } from "../../api/records.ts";
import { CodeView } from "../../code/code_view.tsx";
import { Empty } from "../../components/states.tsx";
import { ImagePreview } from "./image_preview.tsx";

interface Properties {
  readonly text: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly record: FileRecord;
}

/** The source text. An SVG can also be shown as an image, in which its scripts do not run. */
export function TextPreview({ text, bytes, record }: Properties) {
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
      {isPicture ? <ImagePreview bytes={bytes} record={record} /> : (
        <CodeView
          id={`${record.path} ${record.version}`}
          text={text}
          mimeType={record.mimeType}
          label={`Content of ${record.path}`}
        />
      )}
    </>
  );
}
