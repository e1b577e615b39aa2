/** Versions of a file, the newest first, with their writers, times and operations. A version can be picked or restored. */
import { may } from "../../state/projects.ts";
import { type FileAt, readDiff, type Version } from "../../api/files.ts";
import { Age } from "../../components/list.tsx";
import { Icon } from "../../components/icon.tsx";
import { Counts } from "../../components/line_counts.tsx";
import { Provenance } from "../../components/provenance.tsx";
import { previewKind, shownType } from "../../components/shown_type.ts";
import { useTurn } from "../../components/use_seen.ts";
import { describeOperation, formatBytes, visible } from "../../format.ts";
import { TEXT_PREVIEW_BYTES_MAX } from "../../limits.ts";
import { writerName } from "../../state/keys.ts";
import { restore } from "../../state/remove_file.ts";
import { type FileTab, hrefOf } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";

interface TimelineProperties {
  readonly projectId: string;
  readonly path: string;
  readonly mimeType: string;
  readonly versions: readonly Version[];
  /** Left out for versions at an earlier path, which can only be opened. */
  readonly choice?: Choice | undefined;
}

interface Choice {
  /** Null: the file is deleted. */
  readonly latest: number | null;
  /** The version on screen. */
  readonly shown: number | null;
  readonly chosen: readonly number[];
  readonly choose: (version: number, isChosen: boolean) => void;
}

export function Timeline({ versions, ...rest }: TimelineProperties) {
  return (
    <ol class="timeline" aria-label={`Versions of ${rest.path}`}>
      {versions.map((entry, index) => (
        <Entry key={entry.version} entry={entry} before={versions[index + 1]} {...rest} />
      ))}
    </ol>
  );
}

interface EntryProperties extends Omit<TimelineProperties, "versions"> {
  readonly entry: Version;
  /** The version before it, if the page has it. */
  readonly before: Version | undefined;
}

function Entry({ entry, before, projectId, path, mimeType, choice }: EntryProperties) {
  const { version, createdAt, keyId } = entry;
  return (
    <li class={choice?.shown === version ? "shown" : ""}>
      <span class="point">
        {choice && isReadable(entry) && (
          <input
            type="checkbox"
            aria-label={`Compare version ${version}`}
            checked={choice.chosen.includes(version)}
            onChange={({ currentTarget }) => choice.choose(version, currentTarget.checked)}
          />
        )}
      </span>
      <p class="entry-head">
        <Name {...{ entry, projectId, path, choice }} />
        <Age iso={createdAt} />
      </p>
      <p class="hint">
        {describeOperation(path, entry)} by {writerName(projectId, keyId, entry.account)}
        {isReadable(entry) && ` · ${sizeText(entry, before)} `}
        {isReadable(entry) && hasLines(entry, before, shownType({ path, mimeType })) && (
          <Lines {...{ projectId, path, version }} />
        )}
      </p>
      {choice && <CameFrom {...{ projectId, path, entry }} />}
      <Provenance {...entry} projectId={projectId} />
      {choice && isReadable(entry) && version !== choice.latest && may("write") && (
        <button
          type="button"
          class="link"
          aria-label={`Restore version ${version}`}
          onClick={() => restore({ projectId, path }, version)}
        >
          <Icon name="restore" />Restore
        </button>
      )}
    </li>
  );
}

/** Whether the version has content, which nobody has erased. */
export function isReadable({ deleted, redactedAt }: Version): boolean {
  return deleted !== true && redactedAt === undefined;
}

/** Whether the versions are small texts, whose lines the service compares. */
function hasLines(entry: Version, before: Version | undefined, type: string): boolean {
  return previewKind(type) === "text" && Math.max(entry.size, before?.size ?? 0) <= TEXT_PREVIEW_BYTES_MAX;
}

/** The lines that the version added and removed, read once it is in view: one costly request. */
function Lines({ projectId, path, version }: FileAt & { readonly version: number }) {
  const { room, may } = useTurn<HTMLSpanElement>(projectId);
  return <span ref={room}>{may && <ReadLines {...{ projectId, path, version }} />}</span>;
}

/** Renders nothing if no line differs, or if the version before is erased or was removed. */
function ReadLines({ projectId, path, version }: FileAt & { readonly version: number }) {
  const { data } = useLoad(
    `lines ${projectId} ${path} ${version}`,
    (signal) => readDiff({ projectId, path }, { from: version - 1, to: version, toPath: undefined }, signal),
  );
  return data !== undefined && data.diff !== "" ? <Counts counts={data} /> : null;
}

/** `1.2 KB (+120 B)`: the size, and its difference to the version before. */
function sizeText({ version, size }: Version, before: Version | undefined): string {
  const text = formatBytes(size);
  if (before === undefined || !isReadable(before) || before.version !== version - 1) return text;
  const more = size - before.size;
  return more === 0 ? text : `${text} (${more > 0 ? "+" : "−"}${formatBytes(Math.abs(more))})`;
}

function Name({ entry, projectId, path, choice }: Omit<EntryProperties, "before" | "mimeType">) {
  const { version, deleted: isDeleted = false } = entry;
  // Within the history of a file, its versions are shown beside it.
  const tab: FileTab = choice ? "history" : "content";
  return (
    <span>
      {isReadable(entry)
        ? (
          <a
            href={hrefOf({ name: "file", projectId, path, tab, version })}
            aria-current={choice?.shown === version ? "true" : undefined}
          >
            Version {version}
          </a>
        )
        : (
          <>
            Version {version} <span class="tag danger">{isDeleted ? "deleted" : "erased"}</span>
          </>
        )}
      {version === choice?.latest && <span class="tag">latest</span>}
    </span>
  );
}

/** Renders nothing for a version that was written at this path. */
function CameFrom(
  { projectId, path, entry: { operation, from } }: Omit<EntryProperties, "before" | "mimeType">,
) {
  if (from === undefined || from.path === path) return null;
  return (
    <p class="came-from">
      {operation === "move" ? "moved" : operation === "copy" ? "copied" : "came"} from{" "}
      <a href={hrefOf({ name: "file", projectId, path: from.path, tab: "history" })}>{visible(from.path)}</a>
    </p>
  );
}
