/** All writes in the project, newest first; new writes appear automatically. */
import { useEffect } from "preact/hooks";
import { Empty, Loading, Problem } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { ACTIVITY_ENTRIES } from "../../limits.ts";
import { ensureKeys } from "../../state/keys.ts";
import { type ActivityPlace, goTo, hrefOf } from "../../state/router.ts";
import { AddFilter, FilterChips, hasFilters, useFilters } from "./activity_filters.tsx";
import { ActivityTable } from "./activity_table.tsx";
import { type Activity, useActivity } from "./use_activity.ts";

export function ActivityView({ place }: { readonly place: ActivityPlace }) {
  const { projectId } = place;
  const { activity, error, isRunning, reload, readFurther } = useActivity(place);
  const filters = useFilters(place);
  useEffect(() => void ensureKeys(projectId), [projectId]);
  return (
    <section class="view" aria-labelledby="activity-title">
      <div class="view-head">
        <h1 id="activity-title">Activity</h1>
        <FilterChips {...filters} />
        <AddFilter {...filters} />
      </div>
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      {activity === null
        ? error === undefined && <Loading what="the activity" />
        : activity.entries.length === 0
        ? !isRunning && activity.next === null && <Nothing place={place} />
        : <ActivityTable projectId={projectId} entries={activity.entries} />}
      {activity !== null && <Pages {...{ place, activity, isRunning, readFurther }} />}
    </section>
  );
}

function Nothing({ place }: { readonly place: ActivityPlace }) {
  if (hasFilters(place)) return <Empty icon="search" title="No matching writes." />;
  if (place.before !== undefined) return <Empty icon="activity" title="There are no older writes." />;
  return (
    <Empty icon="activity" title="Nothing has been written yet.">
      <p>Writes by your agents and by this console appear here, the latest first.</p>
      <p>
        <a href={hrefOf({ name: "connect", projectId: place.projectId })}>Connect an agent</a>
      </p>
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
          (isRunning ? "Searching older writes …" : `Searched ${formatCount(examined, "write")}.`)}
      </span>
      {isPaused
        ? <button type="button" disabled={isRunning} onClick={readFurther}>Search further</button>
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
