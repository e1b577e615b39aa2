/** Images, audio and video from memory, because the address of an element cannot carry the session. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { type FileRecord, readBytes } from "../../api/files.ts";
import { Pending } from "../../components/states.tsx";
import { formatBytes } from "../../format.ts";
import { MEDIA_UNASKED_BYTES_MAX } from "../../limits.ts";
import { useLoad } from "../../state/use_load.ts";

/** Returns an address of the bytes in memory; null until they are loaded. */
export function useObjectUrl(blob: Blob | null | undefined): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!blob) return;
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url;
}

interface ShownBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly path: string;
  readonly mimeType: string;
}

function useShown({ bytes, mimeType }: ShownBytes) {
  const blob = useMemo(() => new Blob([bytes], { type: mimeType }), [bytes, mimeType]);
  const [isBroken, setBroken] = useState(false);
  return { url: useObjectUrl(blob), isBroken, onError: () => setBroken(true) };
}

/** An `img` element executes no scripts, whatever the file contains. */
export function ImagePreview(shown: ShownBytes) {
  const { url, isBroken, onError } = useShown(shown);
  const [size, setSize] = useState("");
  if (isBroken) return <Broken what="show" {...shown} />;
  if (url === null) return null;
  return (
    <figure class="picture">
      <img
        src={url}
        alt={`Preview of ${shown.path}`}
        onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
          setSize(`${naturalWidth} × ${naturalHeight}`)}
        onError={onError}
      />
      <figcaption>{size}</figcaption>
    </figure>
  );
}

interface Properties {
  readonly projectId: string;
  readonly record: FileRecord;
  readonly mimeType: string;
  readonly isFilm: boolean;
}

export function MediaPreview({ projectId, record, mimeType, isFilm }: Properties) {
  const { path, version, size } = record;
  const [isWanted, setWanted] = useState(size <= MEDIA_UNASKED_BYTES_MAX);
  const { data, error, reload } = useLoad(
    `media ${projectId} ${path} ${version} ${isWanted}`,
    async (signal) => isWanted ? (await readBytes({ projectId, path }, version, signal)).bytes : null,
  );
  if (data === undefined) return <Pending {...{ error, reload }} what={isFilm ? "the video" : "the audio"} />;
  if (data !== null) return <Player bytes={data} {...{ path, mimeType, isFilm }} />;
  return (
    <div class="picture">
      <button type="button" onClick={() => setWanted(true)}>Load and play ({formatBytes(size)})</button>
    </div>
  );
}

function Player({ isFilm, ...shown }: ShownBytes & { readonly isFilm: boolean }) {
  const { url, isBroken, onError } = useShown(shown);
  if (isBroken) return <Broken what="play" {...shown} />;
  if (url === null) return null;
  const shared = { controls: true, src: url, "aria-label": `Player of ${shown.path}`, onError };
  return <div class="picture">{isFilm ? <video playsInline {...shared} /> : <audio {...shared} />}</div>;
}

/** Whether every browser shows images of this type, so that one that it does not show is broken. */
export function mayBeShown(mimeType: string): boolean {
  return /^image\/(apng|bmp|gif|jpeg|png|svg\+xml|webp|x-icon)$/.test(mimeType);
}

function Broken({ what, mimeType }: { readonly what: "show" | "play"; readonly mimeType: string }) {
  return (
    <p class="problem" role="alert">
      {mayBeShown(mimeType)
        ? `This file is broken, or it is not ${mimeType}. Download the file to examine it.`
        : (
          `This browser cannot ${what} ${mimeType}. Download the file to ${
            what === "show" ? "see" : "play"
          } it.`
        )}
    </p>
  );
}
