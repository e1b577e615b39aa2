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
import { RedactDialog } from "../erase/redact_dialog.tsx";
import { usePaced } from "../../state/paced.ts";
import { useLoad } from "../../state/use_load.ts";
import { CameFrom } from "./came_from.tsx";
import { EarlierHistory, originOf } from "./earlier_history.tsx";
import { type FilePlace, goTo, hrefOf } from "../../state/router.ts";

interface Properties {
  readonly place: FilePlace;
  /** Null: deleted. */
  readonly latest: number | null;
}

export function HistoryTab({ place, latest }: Properties) {
  const { projectId, path, first: offset = 0 } = place;
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const [erased, setErased] = useState<readonly number[] | null>(null);
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
    setChosen(isChosen ? [...chosen, version] : chosen.filter((one) => one !== version));
  if (error !== undefined) return <Problem error={error} onRetry={reload} />;
  if (data === undefined) return <Loading what="the history" />;
  const origin = originOf(path, data.versions);
  const turnTo = (first: number) => goTo({ ...place, first });
  return (
    <>
      <div class="history-tools">
        <p class="hint">Choose two versions to compare them, or any but the latest to erase what they say.</p>
        <div class="tools">
          <button type="button" disabled={chosen.length !== 2} onClick={compare}>Compare</button>
          <button
            type="button"
            class="danger"
            disabled={chosen.length === 0 || latest !== null && chosen.includes(latest)}
            onClick={() => setErased(chosen)}
          >
            Erase content …
          </button>
        </div>
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
      {erased !== null && (
        <RedactDialog
          {...{ projectId, path }}
          versions={erased}
          onErased={() => {
            setChosen([]);
            reload();
          }}
          onClose={() => setErased(null)}
        />
      )}
      {origin !== undefined && <EarlierHistory {...{ projectId, origin }} />}
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
  const { version, size, createdAt, deleted: isDeleted = false, redactedAt, keyId } = entry;
  const isReadable = !isDeleted && redactedAt === undefined;
  return (
    <tr>
      <td class="pick">
        {isReadable && (
          <input
            type="checkbox"
            aria-label={`Compare version ${version}`}
            checked={chosen.includes(version)}
            onChange={({ currentTarget }) => choose(version, currentTarget.checked)}
          />
        )}
      </td>
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
        <CameFrom {...{ projectId, path, entry }} />
      </td>
      <td class="extra">{describeOperation(path, entry)}</td>
      <td class="writer">
        {writerName(projectId, keyId)}
        <Said {...entry} projectId={projectId} />
      </td>
      <td class="when">
        <Age iso={createdAt} />
      </td>
      <td class="number">{isReadable ? formatBytes(size) : ""}</td>
      <td class="actions">
        {isReadable && version !== latest && (
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
