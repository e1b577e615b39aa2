import { useEffect, useState } from "preact/hooks";

interface Properties {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly path: string;
  readonly mimeType: string;
}

/** An `img` element executes no scripts, whatever the file contains. */
export function ImagePreview({ bytes, path, mimeType }: Properties) {
  const [url, setUrl] = useState<string | null>(null);
  const [size, setSize] = useState("");
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type: mimeType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, mimeType]);
  if (isBroken) {
    return (
      <p class="problem" role="alert">This browser cannot show {mimeType}. Download the file to see it.</p>
    );
  }
  if (url === null) return null;
  return (
    <figure class="picture">
      <img
        src={url}
        alt={`Preview of ${path}`}
        onLoad={({ currentTarget }) =>
          setSize(`${currentTarget.naturalWidth} × ${currentTarget.naturalHeight}`)}
        onError={() => setBroken(true)}
      />
      <figcaption>{size}</figcaption>
    </figure>
  );
}
