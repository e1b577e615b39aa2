/** @jsxImportSource preact */
/// <reference lib="dom" />
import { useEffect, useState } from "preact/hooks";
import type { FileRecord } from "../../api/records.ts";

interface Properties {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly record: FileRecord;
}

/** An `img` element executes no scripts, whatever the file contains. */
export function ImagePreview({ bytes, record }: Properties) {
  const [url, setUrl] = useState<string | null>(null);
  const [size, setSize] = useState("");
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type: record.mimeType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, record.mimeType]);
  if (isBroken) return <p class="problem" role="alert">The browser cannot show this image.</p>;
  if (url === null) return null;
  return (
    <figure class="picture">
      <img
        src={url}
        alt={`Preview of ${record.path}`}
        onLoad={({ currentTarget }) =>
          setSize(`${currentTarget.naturalWidth} × ${currentTarget.naturalHeight}`)}
        onError={() => setBroken(true)}
      />
      <figcaption>{size}</figcaption>
    </figure>
  );
}
