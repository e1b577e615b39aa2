/** The history beside the content, as a timeline. Two versions can be compared, and any can be restored. */
import { may } from "../../state/projects.ts";
import { Allowed } from "../../components/allowed.tsx";
import { useEffect, useRef, useState } from "preact/hooks";
import { listVersions } from "../../api/files.ts";
import { VERSIONS_PER_PAGE } from "../../limits.ts";
import { Pager } from "../../components/pager.tsx";
import { Pending } from "../../components/states.tsx";
import { ensureKeys } from "../../state/keys.ts";
import { RedactDialog } from "../erase/redact_dialog.tsx";
import { usePaced } from "../../state/paced.ts";
import { useLoad } from "../../state/use_load.ts";
import { EarlierHistory, originOf } from "./earlier_history.tsx";
import { type FilePlace, goTo } from "../../state/router.ts";
import { Timeline } from "./timeline.tsx";

interface Properties {
  readonly place: FilePlace;
  /** Null: the file is deleted. */
  readonly latest: number | null;
}

export function HistoryPanel({ place, latest }: Properties) {
  const { projectId, path, first: offset = 0 } = place;
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const [erased, setErased] = useState<readonly number[] | null>(null);
  const key = `versions ${projectId} ${path} ${offset}`;
  const { data, error, reload } = useLoad(key, (signal) => listVersions({ projectId, path }, offset, signal));
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
  const shown = place.version ?? latest;
  if (data === undefined) return <Pending {...{ error, reload }} what="the history" />;
  const origin = originOf(path, data.versions);
  return (
    <section class="history" aria-labelledby="history-title">
      <h2 id="history-title">History</h2>
      <div class="history-tools">
        <p class="hint">Select two versions to compare{may("admin") && ", or older versions to erase"}.</p>
        <div class="tools">
          <button type="button" disabled={chosen.length !== 2} onClick={compare}>Compare</button>
          <Allowed right="admin">
            <button
              type="button"
              class="danger"
              disabled={chosen.length === 0 || latest !== null && chosen.includes(latest)}
              onClick={() => setErased(chosen)}
            >
              Erase content …
            </button>
          </Allowed>
        </div>
      </div>
      <Timeline
        {...{ projectId, path }}
        mimeType={data.file.mimeType}
        versions={data.versions}
        choice={{ latest, shown, chosen, choose }}
      />
      <Pager
        label="Pages of versions"
        first={offset}
        count={data.versions.length}
        perPage={VERSIONS_PER_PAGE}
        total={data.total}
        hasNext={offset + data.versions.length < data.total}
        onShow={(first) => goTo({ ...place, first })}
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
    </section>
  );
}
