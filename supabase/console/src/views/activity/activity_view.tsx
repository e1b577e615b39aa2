/** All writes in the project, newest first; new writes appear automatically. */
import { useEffect } from "preact/hooks";
import type { Change } from "../../api/changes.ts";
import { Age, changedClass, ChangedMark, ListTable, moveInList, RowLink } from "../../components/list.tsx";
import { fileIcon } from "../../components/file_icon.ts";
import { Provenance } from "../../components/provenance.tsx";
import { Empty, Loading, Problem } from "../../components/states.tsx";
import { describeOperation, formatBytes, formatNumber } from "../../format.ts";
import { ACTIVITY_ENTRIES } from "../../limits.ts";
import { ensureKeys, writerName } from "../../state/keys.ts";
import { isMarked } from "../../state/live.ts";
import { type ActivityPlace, goTo } from "../../state/router.ts";
import { ActivityFilters, hasFilters } from "./activity_filters.tsx";
import { type Activity, useActivity } from "./use_activity.ts";

export function ActivityView({ place }: { readonly place: ActivityPlace }) {
  const { projectId } = place;
  const { activity, error, isRunning, reload, readFurther } = useActivity(place);
  useEffect(() => void ensureKeys(projectId), [projectId]);
  return (
    <section class="view" aria-labelledby="activity-title">
      <div class="view-head">
        <h1 id="activity-title">Activity</h1>
      </div>
      <ActivityFilters place={place} />
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      {activity === null
        ? error === undefined && <Loading what="the activity" />
        : activity.entries.length === 0
        ? !isRunning && activity.next === null && <Nothing place={place} />
        : <Table projectId={projectId} entries={activity.entries} />}
      {activity !== null && <Pages {...{ place, activity, isRunning, readFurther }} />}
    </section>
  );
}

function Nothing({ place }: { readonly place: ActivityPlace }) {
  if (hasFilters(place)) return <Empty icon="search" title="No write passes these filters." />;
  if (place.before !== undefined) return <Empty icon="activity" title="There are no older writes." />;
  return (
    <Empty icon="activity" title="Nothing has been written yet.">
      <p>Writes by your agents and by this console appear here, the latest first.</p>
    </Empty>
  );
}

interface PagesProperties {
  readonly place: ActivityPlace;
  readonly activity: Activity;
  readonly isRunning: boolean;
  readonly readFurther: () => void;
}

/** Links to older pages. If the filters have paused before a full page, tells how many writes they examined. */
function Pages({ place, activity, isRunning, readFurther }: PagesProperties) {
  const { next, entries, examined } = activity;
  const isPaused = next !== null && entries.length < ACTIVITY_ENTRIES;
  if (place.before === undefined && next === null) return null;
  return (
    <nav class="pager" aria-label="Pages of the activity">
      <button
        type="button"
        disabled={place.before === undefined}
        onClick={() => goTo({ ...place, before: undefined })}
      >
        Newest
      </button>
      <span role="status">
        {isPaused &&
          (isRunning ? "Looking through older writes …" : `Looked at ${formatNumber(examined)} writes.`)}
      </span>
      {isPaused
        ? <button type="button" disabled={isRunning} onClick={readFurther}>Look further</button>
        : (
          <button
            type="button"
            disabled={next === null}
            onClick={() => next !== null && goTo({ ...place, before: next })}
          >
            Older
          </button>
        )}
    </nav>
  );
}

function Table({ projectId, entries }: { readonly projectId: string; readonly entries: readonly Change[] }) {
  return (
    <ListTable
      caption="Latest writes"
      columns={[["File"], ["What", "extra"], ["Written by", "writer"], ["Time", "when"], [
        "Size",
        "number extra",
      ]]}
      onKeyDown={moveInList}
    >
      {entries.map((entry) => <Row key={`${entry.fileId} ${entry.version}`} {...{ projectId, entry }} />)}
    </ListTable>
  );
}

function Row({ projectId, entry }: { readonly projectId: string; readonly entry: Change }) {
  const { path = "", fileId, version, size, createdAt, keyId, deleted: isDeleted = false } = entry;
  const isPurged = entry.path === undefined;
  const isChanged = isMarked(fileId, version);
  const file = { name: "file", projectId, path } as const;
  return (
    <tr class={changedClass(isChanged)}>
      <td class="name">
        {isPurged ? <span class="purged">A purged file</span> : (
          <RowLink
            to={isDeleted ? { ...file, tab: "history" } : { ...file, tab: "content", version }}
            icon={isDeleted ? "trash" : fileIcon({ path, mimeType: entry.mimeType })}
            text={path}
          />
        )}
      </td>
      <td class="extra">
        {describeOperation(path, entry)}, version {version}
      </td>
      <td class="writer">
        {writerName(projectId, keyId)}
        <Provenance {...entry} projectId={projectId} />
      </td>
      <td class="when">
        <Age iso={createdAt} />
        <ChangedMark isChanged={isChanged} />
      </td>
      <td class="number extra">{isDeleted || isPurged ? "" : formatBytes(size)}</td>
    </tr>
  );
}
