/** An image of the project, loaded with the person's session when it scrolls into view. */
import { useState } from "preact/hooks";
import { reasonOf } from "../../../../api/failure.ts";
import { readLatest } from "../../../../api/files.ts";
import { useSeen } from "../../../../components/use_seen.ts";
import { IMAGE_PREVIEW_BYTES_MAX } from "../../../../limits.ts";
import type { FilePlace } from "../../../../state/router.ts";
import { useLoad } from "../../../../state/use_load.ts";
import { mayBeShown, useObjectUrl } from "../../media_preview.tsx";
import { shownType } from "../../../../components/shown_type.ts";

interface Properties {
  readonly place: FilePlace;
  readonly alt: string;
  readonly title: string | undefined;
}

export function ProjectImage({ place, alt, title }: Properties) {
  const { projectId, path } = place;
  const { room, isSeen } = useSeen<HTMLSpanElement>();
  const { data: blob, error } = useLoad(
    `image ${projectId} ${path} ${isSeen}`,
    async (signal) => isSeen ? await loadImage(place, signal) : null,
  );
  const url = useObjectUrl(blob);
  const [isBroken, setBroken] = useState(false);
  if (error !== undefined || isBroken) {
    const isDamaged = mayBeShown(blob?.type ?? "");
    const why = error !== undefined
      ? reasonOf(error)
      : isDamaged
      ? "The file is broken."
      : "This browser cannot show it.";
    return <span class="image-missing" title={why}>{alt === "" ? path : alt} (image not shown: {why})</span>;
  }
  if (url === null) return <span class="image-missing" ref={room}>{alt === "" ? "Image" : alt} …</span>;
  return <img src={url} alt={alt} title={title ?? path} onError={() => setBroken(true)} />;
}

/** Loads only files of image types; an `img` element executes no scripts. Throws an error with the sentence to show. */
async function loadImage(place: FilePlace, signal: AbortSignal): Promise<Blob> {
  const read = await readLatest(place, IMAGE_PREVIEW_BYTES_MAX, signal);
  if (read === null) throw new Error("It is too large.");
  const type = shownType({ path: place.path, mimeType: read.mimeType });
  if (!type.startsWith("image/")) throw new Error(`Its type is ${type}.`);
  return new Blob([read.bytes], { type });
}
