/** Versions of a file, the newest first, with their writers, times and operations. A version can be picked or restored. */
import type { Version } from "../../api/files.ts";
import { Age } from "../../components/list.tsx";
import { Icon } from "../../components/icon.tsx";
import { Provenance } from "../../components/provenance.tsx";
import { describeOperation, formatBytes, visible } from "../../format.ts";
import { writerName } from "../../state/keys.ts";
import { restore } from "../../state/remove_file.ts";
import { type FileTab, hrefOf } from "../../state/router.ts";

interface TimelineProperties {
  readonly projectId: string;
  readonly path: string;
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

function Entry({ entry, before, projectId, path, choice }: EntryProperties) {
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
        {describeOperation(path, entry)} by {writerName(projectId, keyId)}
        {isReadable(entry) && ` · ${sizeText(entry, before)}`}
      </p>
      {choice && <CameFrom {...{ projectId, path, entry }} />}
      <Provenance {...entry} projectId={projectId} />
      {choice && isReadable(entry) && version !== choice.latest && (
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

/** `1.2 KB (+120 B)`: the size, and its difference to the version before. */
function sizeText({ version, size }: Version, before: Version | undefined): string {
  const text = formatBytes(size);
  if (before === undefined || !isReadable(before) || before.version !== version - 1) return text;
  const more = size - before.size;
  return more === 0 ? text : `${text} (${more > 0 ? "+" : "−"}${formatBytes(Math.abs(more))})`;
}

function Name({ entry, projectId, path, choice }: Omit<EntryProperties, "before">) {
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
function CameFrom({ projectId, path, entry: { operation, from } }: Omit<EntryProperties, "before">) {
  if (from === undefined || from.path === path) return null;
  return (
    <p class="came-from">
      {operation === "move" ? "moved" : operation === "copy" ? "copied" : "came"} from{" "}
      <a href={hrefOf({ name: "file", projectId, path: from.path, tab: "history" })}>{visible(from.path)}</a>
    </p>
  );
}
