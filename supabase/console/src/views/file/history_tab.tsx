/** @jsxImportSource preact */
/// <reference lib="dom" />
/** All versions with writer, time and size; two can be compared, any can be restored. */
import { useEffect, useRef, useState } from "preact/hooks";
import { listVersions } from "../../api/files.ts";
import type { Version } from "../../api/records.ts";
import { restore } from "../../state/remove_file.ts";
import { describeOperation, formatBytes } from "../../format.ts";
import { VERSIONS_PER_PAGE } from "../../limits.ts";
import { Age } from "../../components/age.tsx";
import { Said } from "../../components/said.tsx";
import { Icon } from "../../components/icon.tsx";
import { Pager } from "../../components/pager.tsx";
import { Loading, Problem } from "../../components/states.tsx";
import { ensureKeys, writerName } from "../../state/keys.ts";
import { usePaced } from "../../state/paced.ts";
import { useLoad } from "../../state/use_load.ts";
import { type FilePlace, goTo, hrefOf } from "../../state/router.ts";

interface Properties {
  readonly place: FilePlace;
  /** Null: deleted. */
  readonly latest: number | null;
}

export function HistoryTab({ place, latest }: Properties) {
  const { projectId, path, first: offset = 0 } = place;
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const key = `versions ${projectId} ${path} ${offset}`;
  const { data, error, reload } = useLoad(key, (signal) => listVersions(projectId, path, offset, signal));
  const paced = usePaced(projectId, latest);
  const loaded = useRef(paced);
  useEffect(() => {
    if (loaded.current !== paced) reload();
    loaded.current = paced;
  }, [paced]);
  useEffect(() => void ensureKeys(projectId), [projectId]);
  const [from, to] = [...chosen].sort((a, b) => a - b);
  const compare = () => {
    if (from !== undefined && to !== undefined) {
      goTo({ name: "file", projectId, path, tab: "compare", from, to });
    }
  };
  const choose = (version: number, isChosen: boolean) =>
    setChosen(isChosen ? [...chosen, version].slice(-2) : chosen.filter((one) => one !== version));
  if (error !== undefined) return <Problem error={error} onRetry={reload} />;
  if (data === undefined) return <Loading what="the history" />;
  const turnTo = (first: number) => goTo({ ...place, first });
  return (
    <>
      <div class="history-tools">
        <p class="hint">Choose two versions to compare them.</p>
        <button type="button" disabled={chosen.length < 2} onClick={compare}>Compare</button>
      </div>
      <Table {...{ place, latest, chosen, choose, versions: data.versions }} />
      <Pager
        label="Pages of versions"
        first={offset}
        count={data.versions.length}
        total={data.total}
        hasNext={offset + data.versions.length < data.total}
        onPrevious={() => turnTo(Math.max(0, offset - VERSIONS_PER_PAGE))}
        onNext={() => turnTo(offset + VERSIONS_PER_PAGE)}
      />
    </>
  );
}

interface TableProperties {
  readonly place: FilePlace;
  readonly latest: number | null;
  readonly versions: readonly Version[];
  readonly chosen: readonly number[];
  readonly choose: (version: number, isChosen: boolean) => void;
}

function Table({ versions, ...rest }: TableProperties) {
  return (
    <table class="list history">
      <caption class="visually-hidden">Versions of {rest.place.path}</caption>
      <thead>
        <tr>
          <th scope="col" class="pick">
            <span class="visually-hidden">Compare</span>
          </th>
          <th scope="col">Version</th>
          <th scope="col" class="extra">What</th>
          <th scope="col" class="writer">Written by</th>
          <th scope="col" class="when">Time</th>
          <th scope="col" class="number">Size</th>
          <th scope="col" class="actions">
            <span class="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {versions.map((entry) => <Row key={entry.version} entry={entry} {...rest} />)}
      </tbody>
    </table>
  );
}

function Row({ entry, place, latest, chosen, choose }:
  & Omit<TableProperties, "versions">
  & { readonly entry: Version }) {
  const { projectId, path } = place;
  const { version, size, createdAt, deleted: isDeleted = false, keyId } = entry;
  return (
    <tr>
      <td class="pick">
        {!isDeleted && (
          <input
            type="checkbox"
            aria-label={`Compare version ${version}`}
            checked={chosen.includes(version)}
            onChange={({ currentTarget }) => choose(version, currentTarget.checked)}
          />
        )}
      </td>
      <td>
        {isDeleted
          ? (
            <>
              Version {version} <span class="tag danger">deleted</span>
            </>
          )
          : <a href={hrefOf({ name: "file", projectId, path, tab: "content", version })}>Version {version}
          </a>}
        {version === latest && <span class="tag">latest</span>}
      </td>
      <td class="extra">{describeOperation(path, entry)}</td>
      <td class="writer">
        {writerName(projectId, keyId)}
        <Said {...entry} projectId={projectId} />
      </td>
      <td class="when">
        <Age iso={createdAt} />
      </td>
      <td class="number">{isDeleted ? "" : formatBytes(size)}</td>
      <td class="actions">
        {!isDeleted && version !== latest && (
          <button
            type="button"
            aria-label={`Restore version ${version}`}
            onClick={() => restore(projectId, path, version)}
          >
            <Icon name="restore" />Restore
          </button>
        )}
      </td>
    </tr>
  );
}
