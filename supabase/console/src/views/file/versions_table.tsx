/** Versions of a file with their writers, times and operations. Some tables allow choosing versions, or restoring one. */
import type { Version } from "../../api/files.ts";
import { Age, type Column, ListTable } from "../../components/list.tsx";
import { Icon } from "../../components/icon.tsx";
import { Provenance } from "../../components/provenance.tsx";
import { describeOperation, formatBytes, visible } from "../../format.ts";
import { writerName } from "../../state/keys.ts";
import { restore } from "../../state/remove_file.ts";
import { hrefOf } from "../../state/router.ts";

interface VersionsTableProperties {
  readonly projectId: string;
  readonly path: string;
  readonly versions: readonly Version[];
  /** Null: the file is deleted. */
  readonly latest?: number | null;
  readonly choice?: {
    readonly chosen: readonly number[];
    readonly choose: (version: number, isChosen: boolean) => void;
  };
}

const COLUMNS: readonly Column[] = [
  ["Version"],
  ["What", "extra"],
  ["Written by", "writer"],
  ["Time", "when"],
  ["Size", "number"],
];

export function VersionsTable({ versions, ...rest }: VersionsTableProperties) {
  return (
    <ListTable
      class="list history"
      caption={`Versions of ${rest.path}`}
      columns={rest.choice ? [["Compare", "pick"], ...COLUMNS, ["Actions", "actions"]] : COLUMNS}
    >
      {versions.map((entry) => <Row key={entry.version} entry={entry} {...rest} />)}
    </ListTable>
  );
}

function Row({ entry, projectId, path, latest, choice }:
  & Omit<VersionsTableProperties, "versions">
  & { readonly entry: Version }) {
  const { version, size, createdAt, deleted: isDeleted = false, redactedAt, keyId } = entry;
  const isReadable = !isDeleted && redactedAt === undefined;
  return (
    <tr>
      {choice && (
        <td class="pick">
          {isReadable && (
            <input
              type="checkbox"
              aria-label={`Compare version ${version}`}
              checked={choice.chosen.includes(version)}
              onChange={({ currentTarget }) => choice.choose(version, currentTarget.checked)}
            />
          )}
        </td>
      )}
      <td>
        {!isReadable
          ? (
            <>
              Version {version} <span class="tag danger">{isDeleted ? "deleted" : "erased"}</span>
            </>
          )
          : <a href={hrefOf({ name: "file", projectId, path, tab: "content", version })}>Version {version}
          </a>}
        {version === latest && <span class="tag">latest</span>}
        {choice && <CameFrom {...{ projectId, path, entry }} />}
      </td>
      <td class="extra">{describeOperation(path, entry)}</td>
      <td class="writer">
        {writerName(projectId, keyId)}
        <Provenance {...entry} projectId={projectId} />
      </td>
      <td class="when">
        <Age iso={createdAt} />
      </td>
      <td class="number">{isReadable ? formatBytes(size) : ""}</td>
      {choice && (
        <td class="actions">
          {isReadable && version !== latest && (
            <button
              type="button"
              aria-label={`Restore version ${version}`}
              onClick={() => restore({ projectId, path }, version)}
            >
              <Icon name="restore" />Restore
            </button>
          )}
        </td>
      )}
    </tr>
  );
}

interface CameFromProperties {
  readonly projectId: string;
  readonly path: string;
  readonly entry: Version;
}

/** Renders nothing for a version that was written at this path. */
function CameFrom({ projectId, path, entry: { operation, from } }: CameFromProperties) {
  if (from === undefined || from.path === path) return null;
  return (
    <div class="came-from">
      {operation === "move" ? "moved" : operation === "copy" ? "copied" : "came"} from{" "}
      <a href={hrefOf({ name: "file", projectId, path: from.path, tab: "history" })}>{visible(from.path)}</a>
    </div>
  );
}
