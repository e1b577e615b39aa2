/** The files of a run, each with what the run changed in it. */
import { useState } from "preact/hooks";
import { readDiff } from "../../api/files.ts";
import { reasonOf } from "../../api/failure.ts";
import type { RunDetails, RunFile } from "../../api/runs.ts";
import { fileIcon } from "../../components/file_icon.ts";
import { Icon } from "../../components/icon.tsx";
import { moveInList, RowLink } from "../../components/list.tsx";
import { Loading } from "../../components/states.tsx";
import { Counts, type LineCounts } from "../../components/line_counts.tsx";
import { describeOperation, visible } from "../../format.ts";
import { RUN_DIFFS_OPEN } from "../../limits.ts";
import { hrefOf } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";
import { DiffLines } from "../../components/unified_diff.tsx";
import { useTurn } from "../../components/use_seen.ts";
import { inNaturalOrder } from "../../components/natural_order.ts";

interface Properties {
  readonly projectId: string;
  readonly run: RunDetails;
  /** The lines of each file whose changes were read, by its id. */
  readonly counts: ReadonlyMap<string, LineCounts>;
  readonly onCounted: (fileId: string, counts: LineCounts) => void;
}

export function RunFiles({ projectId, run, counts, onCounted }: Properties) {
  // The API sorts the files by id, so that pages are stable.
  const files = inNaturalOrder(run.files, ({ path }) => path, "asc");
  return (
    <ol class="run-files" aria-label={`Files of ${run.runId}`} onKeyDown={moveInList}>
      {files.map((file, index) => (
        <File
          key={file.fileId}
          {...{ projectId, file }}
          counts={counts.get(file.fileId)}
          isFirst={index < RUN_DIFFS_OPEN}
          onCounted={(counts) => onCounted(file.fileId, counts)}
        />
      ))}
    </ol>
  );
}

interface FileProperties {
  readonly projectId: string;
  readonly file: RunFile;
  readonly counts: LineCounts | undefined;
  /** Its changes are loaded with the page; those of the others once they are scrolled to. */
  readonly isFirst: boolean;
  readonly onCounted: (counts: LineCounts) => void;
}

function File({ projectId, file, counts, isFirst, onCounted }: FileProperties) {
  const { path, firstVersion, lastVersion, operation } = file;
  // What the person opened or closed stays so, even if the file's place in the list changes.
  const [chosen, choose] = useState<boolean>();
  const { room, may } = useTurn<HTMLDivElement>(projectId);
  const isOpen = chosen ?? may !== false;
  const isLoaded = isFirst || chosen !== undefined || may !== undefined;
  const place = { name: "file", projectId, path } as const;
  const name = visible(path);
  return (
    <li class="run-file">
      <div class="run-file-head">
        <button
          type="button"
          class="twist"
          aria-label={`Changes in ${name}`}
          aria-expanded={isOpen}
          onClick={() => choose(!isOpen)}
        >
          <Icon name="chevron" />
        </button>
        <RowLink
          to={{ ...place, tab: "history" }}
          icon={operation === "delete" ? "trash" : fileIcon(file)}
          text={path}
        />
        <span class="hint">{describeOperation(path, { operation })}</span>
        {counts && <Counts counts={counts} />}
        {firstVersion > 1 && operation !== "delete" && (
          <a
            class="run-file-compare"
            aria-label={`Compare ${name}, versions ${firstVersion - 1} and ${lastVersion}`}
            href={hrefOf({ ...place, tab: "compare", from: firstVersion - 1, to: lastVersion })}
          >
            Compare
          </a>
        )}
      </div>
      {isOpen && (isLoaded
        ? <Changes {...{ projectId, file, onCounted }} />
        // Keeps their place.
        : <div ref={room} class="run-file-later" />)}
    </li>
  );
}

function Changes(
  { projectId, file, onCounted }: Pick<FileProperties, "projectId" | "file" | "onCounted">,
) {
  const { path, firstVersion, lastVersion } = file;
  const { data, error } = useLoad(
    `run diff ${projectId} ${path} ${firstVersion} ${lastVersion}`,
    async (signal) => {
      const versions = { from: firstVersion - 1, to: lastVersion, toPath: undefined };
      const diff = await readDiff({ projectId, path }, versions, signal);
      onCounted(diff);
      return diff;
    },
  );
  if (error !== undefined) return <p class="hint run-file-note">{reasonOf(error)}</p>;
  if (data === undefined) return <Loading what="the changes" />;
  if (data.diff === "") return <p class="hint run-file-note">The content is the same as before.</p>;
  return <DiffLines diff={data} label={`Changes in ${path}`} />;
}
