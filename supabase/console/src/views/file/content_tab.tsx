/** @jsxImportSource preact */
/// <reference lib="dom" />
/** The content of a version, shown as its type allows and never executed. */
import { readBytes, readRecord } from "../../api/files.ts";
import type { FileRecord } from "../../api/records.ts";
import { restore } from "../../state/remove_file.ts";
import { formatBytes } from "../../format.ts";
import {
  IMAGE_PREVIEW_BYTES_MAX,
  MEDIA_BYTES_MAX,
  PDF_PREVIEW_BYTES_MAX,
  TEXT_PART_BYTES,
  TEXT_PREVIEW_BYTES_MAX,
} from "../../limits.ts";
import { useRef } from "preact/hooks";
import { usePaced } from "../../state/paced.ts";
import { Icon } from "../../components/icon.tsx";
import { Empty, Loading, Problem } from "../../components/states.tsx";
import { useLoad } from "../../state/use_load.ts";
import { type FilePlace, goTo, hrefOf } from "../../state/router.ts";
import { download } from "../../state/transfers.ts";
import { FollowToggle, FollowView } from "./follow_view.tsx";
import { ImagePreview } from "./image_preview.tsx";
import { MediaPreview } from "./media_preview.tsx";
import { PdfPreview } from "./pdf_preview.tsx";
import { shownType } from "./shown_type.ts";
import { decodeFirstText, decodeText, type Kind, previewKind } from "./text.ts";
import { TextPreview } from "./text_preview.tsx";

interface Properties {
  readonly place: FilePlace;
  readonly latest: FileRecord | null;
}

const BYTES_MAX: Record<Kind, number> = {
  text: TEXT_PREVIEW_BYTES_MAX,
  image: IMAGE_PREVIEW_BYTES_MAX,
  pdf: PDF_PREVIEW_BYTES_MAX,
  audio: MEDIA_BYTES_MAX,
  video: MEDIA_BYTES_MAX,
  binary: 0,
};

export function ContentTab({ place, latest: newest }: Properties) {
  const { projectId, path } = place;
  const latest = usePaced(projectId, newest);
  const version = place.version ?? latest?.version;
  const { data, error, reload } = useLoad(
    `content ${projectId} ${path} ${place.follow ? "followed" : version}`,
    // Who follows the file reads its end alone.
    async (signal) => place.follow ? null : await loadPreview(place, latest, signal),
  );
  // Until the next version is there, the one before stays.
  const kept = useRef<Loaded | null>(null);
  if (data !== undefined) kept.current = data;
  const isOld = place.version !== undefined && place.version !== latest?.version;
  const shown = data ?? (place.version === undefined ? kept.current : null);
  const canFollow = latest !== null && place.version === undefined &&
    previewKind(shownType(latest)) === "text";
  return (
    <>
      {isOld && <OldVersion {...{ place, latest }} />}
      {canFollow && <FollowToggle place={place} />}
      {canFollow && place.follow
        ? <FollowView projectId={projectId} record={latest} />
        : error !== undefined
        ? <Problem error={error} onRetry={reload} />
        : shown === null
        ? <Loading what="the content" />
        : <Preview projectId={projectId} line={place.line} {...shown} />}
    </>
  );
}

interface Loaded {
  readonly record: FileRecord;
  /** Null if the content is not shown, or loaded by its player. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
  readonly isPart: boolean;
}

async function loadPreview(
  { projectId, path, version }: FilePlace,
  latest: FileRecord | null,
  signal: AbortSignal,
): Promise<Loaded> {
  const record = latest && (version === undefined || version === latest.version)
    ? latest
    : await readRecord(projectId, path, version, signal);
  const kind = previewKind(shownType(record));
  const isPart = kind !== "binary" && record.size > BYTES_MAX[kind];
  const isElsewhere = kind === "audio" || kind === "video" || kind === "binary";
  if (isElsewhere || (isPart && kind !== "text")) return { record, bytes: null, isPart };
  const part = isPart ? { firstBytes: TEXT_PART_BYTES } : {};
  const { bytes } = await readBytes(projectId, path, record.version, { ...part, signal });
  return { record, bytes, isPart };
}

interface PreviewProperties extends Loaded {
  readonly projectId: string;
  readonly line: number | undefined;
}

function Preview({ projectId, line, record, bytes, isPart }: PreviewProperties) {
  const mimeType = shownType(record);
  const kind = previewKind(mimeType);
  const id = `${record.path} ${record.version}`;
  if ((kind === "audio" || kind === "video") && !isPart) {
    return <MediaPreview key={id} {...{ projectId, record, mimeType }} isFilm={kind === "video"} />;
  }
  if (bytes === null) return <NoPreview {...{ projectId, record, isPart }} />;
  if (kind === "image") return <ImagePreview key={id} path={record.path} {...{ bytes, mimeType }} />;
  if (kind === "pdf") return <PdfPreview key={id} bytes={bytes} />;
  const text = isPart ? decodeFirstText(bytes) : decodeText(bytes);
  if (text === null) return <NoPreview {...{ projectId, record, isPart: false }} />;
  return (
    <>
      {isPart && (
        <p class="note" role="status">
          This is the beginning: {formatBytes(bytes.length)} of{" "}
          {formatBytes(record.size)}. Download the file to see the rest.
        </p>
      )}
      <TextPreview key={record.path} {...{ text, bytes, record, line }} />
    </>
  );
}

interface NoPreviewProperties {
  readonly projectId: string;
  readonly record: FileRecord;
  readonly isPart: boolean;
}

function NoPreview({ projectId, record, isPart }: NoPreviewProperties) {
  return (
    <Empty
      icon="file"
      title={isPart ? "The file is too large for a preview." : "There is no preview for this content."}
    >
      <p>{record.mimeType}, {formatBytes(record.size)}</p>
      <button type="button" onClick={() => download(projectId, record.path, record.version)}>
        <Icon name="download" />Download
      </button>
    </Empty>
  );
}

function OldVersion({ place, latest }: Properties) {
  const { projectId, path, version = 1 } = place;
  const restoreIt = async () => {
    if (await restore(projectId, path, version)) goTo({ name: "file", projectId, path, tab: "content" });
  };
  return (
    <div class="note" role="status">
      <span>
        Version {version}
        {latest ? ` of ${latest.version}` : ", of a deleted file"}.
      </span>
      <button type="button" onClick={restoreIt}>
        <Icon name="restore" />Restore this version
      </button>
      {latest && <a href={hrefOf({ name: "file", projectId, path, tab: "content" })}>Show the latest</a>}
    </div>
  );
}
