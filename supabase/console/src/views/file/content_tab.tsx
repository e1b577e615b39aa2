/** The content of a version, displayed by its type and never executed. */
import { Allowed } from "../../components/allowed.tsx";
import { type FileRecord, readBytes, readRecord } from "../../api/files.ts";
import { restore } from "../../state/remove_file.ts";
import { formatBytes } from "../../format.ts";
import {
  DATA_PREVIEW_BYTES_MAX,
  IMAGE_PREVIEW_BYTES_MAX,
  MEDIA_BYTES_MAX,
  PDF_PREVIEW_BYTES_MAX,
  TEXT_PREVIEW_BYTES_MAX,
} from "../../limits.ts";
import { useRef } from "preact/hooks";
import { usePaced } from "../../state/paced.ts";
import { Icon } from "../../components/icon.tsx";
import { Empty, Pending } from "../../components/states.tsx";
import { useLoad } from "../../state/use_load.ts";
import { type FilePlace, goTo, hrefOf } from "../../state/router.ts";
import { download } from "../../state/transfers.ts";
import { FollowView } from "./follow_view.tsx";
import { ImagePreview, MediaPreview } from "./media_preview.tsx";
import { PdfPreview } from "./pdf_preview.tsx";
import { decodeText, type Kind, previewKind, shownType } from "../../components/shown_type.ts";
import { formOf, isData, mayGrow } from "./reading/form.ts";
import { LargeText } from "./reading/large_text.tsx";
import { asksForSource, Reader } from "./reading/reader.tsx";

interface Properties {
  readonly place: FilePlace;
  readonly latest: FileRecord | null;
}

const BYTES_MAX: Record<Exclude<Kind, "text" | "binary">, number> = {
  image: IMAGE_PREVIEW_BYTES_MAX,
  pdf: PDF_PREVIEW_BYTES_MAX,
  audio: MEDIA_BYTES_MAX,
  video: MEDIA_BYTES_MAX,
};

export function ContentTab({ place, latest: newest }: Properties) {
  const { projectId, path } = place;
  const latest = usePaced(projectId, newest);
  const version = place.version ?? latest?.version;
  const isFollowed = place.follow === true && latest !== null && canFollow(place, latest);
  // The source of a large text is read in parts, but its table or tree needs the whole text.
  const { data, error, reload } = useLoad(
    `content ${projectId} ${path} ${isFollowed ? "followed" : version} ${
      latest !== null && isInParts(place, latest)
    }`,
    // A followed file is read only at its end.
    async (signal) => isFollowed ? null : await loadPreview(place, latest, signal),
  );
  // The previous version stays on screen until the next one is loaded.
  const kept = useRef<Loaded | null>(null);
  if (data !== undefined) kept.current = data;
  const isOld = place.version !== undefined && place.version !== latest?.version;
  const shown = data ?? (place.version === undefined ? kept.current : null);
  return (
    <>
      {isOld && <OldVersion {...{ place, latest }} />}
      {isFollowed
        ? <FollowView projectId={projectId} record={latest} />
        : error !== undefined || shown === null
        ? <Pending {...{ error, reload }} what="the content" />
        : <Preview place={place} {...shown} />}
    </>
  );
}

/** Whether the end of the file can be followed. */
export function canFollow({ tab, version }: FilePlace, latest: FileRecord): boolean {
  return tab === "content" && version === undefined && mayGrow(latest);
}

interface Loaded {
  readonly record: FileRecord;
  /** Null if the content is not shown, or if its own component loads it. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
  readonly isTooLarge: boolean;
}

/** Returns whether the text is loaded in parts. */
function isInParts(place: FilePlace, record: FileRecord): boolean {
  if (previewKind(shownType(record)) !== "text" || record.size <= TEXT_PREVIEW_BYTES_MAX) return false;
  const form = formOf(record);
  return !isData(form) || asksForSource(place, form) || record.size > DATA_PREVIEW_BYTES_MAX;
}

async function loadPreview(
  place: FilePlace,
  latest: FileRecord | null,
  signal: AbortSignal,
): Promise<Loaded> {
  const { version } = place;
  const record = latest && (version === undefined || version === latest.version)
    ? latest
    : await readRecord(place, { version }, signal);
  const kind = previewKind(shownType(record));
  const isTooLarge = kind !== "text" && kind !== "binary" && record.size > BYTES_MAX[kind];
  const isElsewhere = kind === "audio" || kind === "video" || kind === "binary" || isInParts(place, record);
  if (isElsewhere || isTooLarge) return { record, bytes: null, isTooLarge };
  const { bytes } = await readBytes(place, record.version, signal);
  return { record, bytes, isTooLarge };
}

function Preview({ place, record, bytes, isTooLarge }: Loaded & { readonly place: FilePlace }) {
  const { projectId } = place;
  const mimeType = shownType(record);
  const kind = previewKind(mimeType);
  const id = `${record.path} ${record.version}`;
  const nothing = <NoPreview {...{ projectId, record, isTooLarge }} />;
  if (isTooLarge) return nothing;
  if (kind === "audio" || kind === "video") {
    return <MediaPreview key={id} {...{ projectId, record, mimeType }} isFilm={kind === "video"} />;
  }
  if (kind === "text" && bytes === null) {
    return <LargeText key={id} {...{ place, record }} form={formOf(record)} notText={nothing} />;
  }
  if (bytes === null) return nothing;
  if (kind === "image") return <ImagePreview key={id} path={record.path} {...{ bytes, mimeType }} />;
  if (kind === "pdf") return <PdfPreview key={id} bytes={bytes} />;
  const text = decodeText(bytes);
  return text === null ? nothing : <Reader key={record.path} {...{ place, record, bytes, text }} />;
}

interface NoPreviewProperties {
  readonly projectId: string;
  readonly record: FileRecord;
  readonly isTooLarge: boolean;
}

function NoPreview({ projectId, record, isTooLarge }: NoPreviewProperties) {
  return (
    <Empty
      icon="file"
      title={isTooLarge ? "The file is too large for a preview." : "There is no preview for this content."}
    >
      <p>{record.mimeType}, {formatBytes(record.size)}</p>
      <button type="button" onClick={() => download({ projectId, path: record.path }, record.version)}>
        <Icon name="download" />Download
      </button>
    </Empty>
  );
}

function OldVersion({ place, latest }: Properties) {
  const { projectId, path, tab, version = 1 } = place;
  const newest: FilePlace = { name: "file", projectId, path, tab };
  const restoreIt = async () => {
    if (await restore(place, version)) goTo(newest);
  };
  return (
    <div class="note" role="status">
      <span>
        Version {version}
        {latest ? ` of ${latest.version}` : ", of a deleted file"}.
      </span>
      <Allowed right="write">
        <button type="button" onClick={restoreIt}>
          <Icon name="restore" />Restore this version
        </button>
      </Allowed>
      {latest && <a href={hrefOf(newest)}>Show the latest</a>}
    </div>
  );
}
