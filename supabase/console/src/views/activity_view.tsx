/** @jsxImportSource preact */
/// <reference lib="dom" />
/** The latest writes in the project, reloaded periodically while the page is visible. */
import { useEffect } from "preact/hooks";
import { listActivity } from "../api/projects.ts";
import type { ActivityEntry } from "../api/records.ts";
import { moveInList } from "../components/list_navigation.ts";
import { describeOperation, formatBytes } from "../format.ts";
import { ACTIVITY_POLL_MILLISECONDS } from "../limits.ts";
import { Age } from "../components/age.tsx";
import { Said } from "../components/said.tsx";
import { Icon } from "../components/icon.tsx";
import { Empty, Loading, Problem } from "../components/states.tsx";
import { ensureKeys, writerName } from "../state/keys.ts";
import { useLoad } from "../state/use_load.ts";
import { hrefOf } from "../state/router.ts";

export function ActivityView({ projectId }: { readonly projectId: string }) {
  const { data, error, reload } = useLoad(
    `activity ${projectId}`,
    (signal) => listActivity(projectId, signal),
  );
  useEffect(() => void ensureKeys(projectId), [projectId]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") reload();
    }, ACTIVITY_POLL_MILLISECONDS);
    return () => clearInterval(timer);
  }, [reload]);
  return (
    <section class="view" aria-labelledby="activity-title">
      <div class="view-head">
        <h1 id="activity-title">Activity</h1>
        <button type="button" onClick={reload}>
          <Icon name="rotate" />Refresh
        </button>
      </div>
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      {data === undefined
        ? error === undefined && <Loading what="the activity" />
        : data.length === 0
        ? (
          <Empty icon="activity" title="Nothing has been written yet.">
            <p>Writes by your agents and by this console appear here, the latest first.</p>
          </Empty>
        )
        : <Table projectId={projectId} entries={data} />}
    </section>
  );
}

interface TableProperties {
  readonly projectId: string;
  readonly entries: readonly ActivityEntry[];
}

function Table({ projectId, entries }: TableProperties) {
  return (
    <table class="list">
      <caption class="visually-hidden">Latest writes</caption>
      <thead>
        <tr>
          <th scope="col">File</th>
          <th scope="col" class="extra">What</th>
          <th scope="col" class="writer">Written by</th>
          <th scope="col" class="when">Time</th>
          <th scope="col" class="number extra">Size</th>
        </tr>
      </thead>
      <tbody onKeyDown={moveInList}>
        {entries.map((entry) => <Row key={`${entry.fileId} ${entry.version}`} {...{ projectId, entry }} />)}
      </tbody>
    </table>
  );
}

interface RowProperties {
  readonly projectId: string;
  readonly entry: ActivityEntry;
}

function Row({ projectId, entry }: RowProperties) {
  const { path, version, size, createdAt, keyId, deleted: isDeleted = false } = entry;
  const place = isDeleted
    ? hrefOf({ name: "file", projectId, path, tab: "history" })
    : hrefOf({ name: "file", projectId, path, tab: "content", version });
  return (
    <tr>
      <td class="name">
        <a class="row-link" href={place}>
          <Icon name={isDeleted ? "trash" : "file"} />
          {path}
        </a>
      </td>
      <td class="extra">
        {describeOperation(path, entry)}, version {version}
      </td>
      <td class="writer">
        {writerName(projectId, keyId)}
        <Said {...entry} projectId={projectId} />
      </td>
      <td class="when">
        <Age iso={createdAt} />
      </td>
      <td class="number extra">{isDeleted ? "" : formatBytes(size)}</td>
    </tr>
  );
}
