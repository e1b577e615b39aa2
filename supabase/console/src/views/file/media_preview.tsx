/** Pictures, sound and film, from memory: the address of an element cannot carry the session. */
import { useEffect, useState } from "preact/hooks";
import { type FileRecord, readBytes } from "../../api/files.ts";
import { Pending } from "../../components/states.tsx";
import { formatBytes } from "../../format.ts";
import { MEDIA_UNASKED_BYTES_MAX } from "../../limits.ts";
import { useLoad } from "../../state/use_load.ts";

interface MediaPreviewProperties {
  readonly projectId: string;
  readonly record: FileRecord;
  readonly mimeType: string;
  readonly isFilm: boolean;
}

/** Plays sound or film from memory: the address of an element cannot carry the session. */
export function MediaPreview({ projectId, record, mimeType, isFilm }: MediaPreviewProperties) {
  const { path, version, size } = record;
  const [isWanted, setWanted] = useState(size <= MEDIA_UNASKED_BYTES_MAX);
  const { data, error, reload } = useLoad(
    `media ${projectId} ${path} ${version} ${isWanted}`,
    async (signal) => {
      return isWanted ? (await readBytes(projectId, path, version, signal)).bytes : null;
    },
  );
  if (data === undefined) return <Pending {...{ error, reload }} what={isFilm ? "the video" : "the audio"} />;
  if (data !== null) return <Player bytes={data} {...{ path, mimeType, isFilm }} />;
  return (
    <div class="picture">
      <button type="button" onClick={() => setWanted(true)}>Load and play ({formatBytes(size)})</button>
    </div>
  );
}

interface PlayerProperties extends Pick<MediaPreviewProperties, "mimeType" | "isFilm"> {
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

function Player({ bytes, path, mimeType, isFilm }: PlayerProperties) {
  const [url, setUrl] = useState<string | null>(null);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type: mimeType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, mimeType]);
  if (isBroken) {
    return (
      <p class="problem" role="alert">This browser cannot play {mimeType}. Download the file to play it.</p>
    );
  }
  if (url === null) return null;
  const shared = {
    controls: true,
    src: url,
    "aria-label": `Player of ${path}`,
    onError: () => setBroken(true),
  };
  return <div class="picture">{isFilm ? <video playsInline {...shared} /> : <audio {...shared} />}</div>;
}

interface ImagePreviewProperties {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly path: string;
  readonly mimeType: string;
}

/** An `img` element executes no scripts, whatever the file contains. */
export function ImagePreview({ bytes, path, mimeType }: ImagePreviewProperties) {
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
