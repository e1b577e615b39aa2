/** A file as it was at a time, to read and to restore. */
import { Allowed } from "../../components/allowed.tsx";
import { readRecord } from "../../api/files.ts";
import { Breadcrumbs } from "../../components/breadcrumbs.tsx";
import { Icon } from "../../components/icon.tsx";
import { PastBanner } from "../../components/past_banner.tsx";
import { Pending } from "../../components/states.tsx";
import { formatBytes } from "../../format.ts";
import { restore } from "../../state/remove_file.ts";
import { type FilePlace, goTo, hrefOf } from "../../state/router.ts";
import { download } from "../../state/transfers.ts";
import { useLoad } from "../../state/use_load.ts";
import { ContentTab } from "./content_tab.tsx";

export function PastFileView({ place, at }: { readonly place: FilePlace; readonly at: string }) {
  const { projectId, path } = place;
  const { data, error, reload } = useLoad(
    `past record ${projectId} ${path} ${at}`,
    (signal) => readRecord(place, { at }, signal),
  );
  const restoreIt = async (version: number) => {
    if (await restore(place, version)) goTo({ name: "file", projectId, path, tab: "content" });
  };
  return (
    <section class="view" aria-label="File as it was">
      <PastBanner
        at={at}
        placeAt={(time) => ({ name: "file", projectId, path, tab: "content", at: time })}
      >
        {data && (
          <>
            <Allowed right="write">
              <button type="button" onClick={() => restoreIt(data.version)}>
                <Icon name="restore" />Restore this version
              </button>
            </Allowed>
            <button type="button" onClick={() => download(place, data.version)}>
              <Icon name="download" />Download
            </button>
          </>
        )}
      </PastBanner>
      <div class="view-head">
        <Breadcrumbs projectId={projectId} path={path} at={at} />
      </div>
      {data === undefined ? <Pending {...{ error, reload }} what="the file as it was" /> : (
        <>
          <p class="facts">
            <span>{data.mimeType}</span>
            <span>{formatBytes(data.size)}</span>
            <a href={hrefOf({ name: "file", projectId, path, tab: "history" })}>version {data.version}</a>
          </p>
          <ContentTab place={{ ...place, version: data.version }} latest={data} />
        </>
      )}
    </section>
  );
}
