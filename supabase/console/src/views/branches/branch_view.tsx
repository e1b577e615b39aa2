/** A branch: what has changed in it, its conflicts with a choice for each, and its merge or update. */
import { may } from "../../state/projects.ts";
import { Allowed } from "../../components/allowed.tsx";
import { useState } from "preact/hooks";
import { type BranchDetails, isUnfinished, readBranch } from "../../api/branches.ts";
import { readCursor } from "../../api/changes.ts";
import { Icon } from "../../components/icon.tsx";
import { Age } from "../../components/list.tsx";
import { Empty, Pending } from "../../components/states.tsx";
import { type Selection, SelectionBar, useSelection } from "../../components/selection.tsx";
import { formatCount, visible } from "../../format.ts";
import { announceChange } from "../../state/changes.ts";
import { type BranchPlace, goTo, hrefOf, replaceWith } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";
import { BranchDialog, BranchTools, type Open } from "./branch_tools.tsx";
import { authorName, StateTag } from "./branch_state.tsx";
import { ChangeDialog } from "./change_dialog.tsx";
import { ChangesTable } from "./changes_table.tsx";
import { MergedRuns } from "./merged_runs.tsx";
import { type Resolutions, useResolutions } from "./resolutions.ts";

export function BranchView({ place }: { readonly place: BranchPlace }) {
  const { projectId, branch: name, after } = place;
  const [open, setOpen] = useState<Open | null>(null);
  const { data, error, reload } = useLoad(`branch ${projectId} ${name} ${after}`, async (signal) => {
    // Read first, so that a change after it is never taken for one that the person has seen.
    const cursor = await readCursor(projectId, signal);
    return { branch: await readBranch(projectId, name, { after }, signal), cursor };
  });
  const branch = data?.branch;
  const resolutions = useResolutions(branch?.changes ?? []);
  const selection = useSelection((branch?.changes ?? []).map(({ path }) => path));
  const merged = () => {
    selection.clear();
    resolutions.clear();
    announceChange({});
    reload();
  };
  return (
    <section class="view" aria-labelledby="branch-title">
      <div class="view-head">
        <h1 id="branch-title">Branch {name}</h1>
        <div class="tools">
          <button type="button" onClick={reload}>
            <Icon name="rotate" />Refresh
          </button>
          {branch && isUnfinished(branch) && may("write") && (
            <BranchTools
              {...{ projectId, branch, reload }}
              onOpen={(what) => setOpen({ what })}
            />
          )}
        </div>
      </div>
      {branch === undefined ? <Pending {...{ error, reload }} what="the branch" /> : (
        <>
          <Summary {...{ projectId, branch }} />
          {branch.state === "merged" && <MergedRuns {...{ projectId, branch }} />}
          {isUnfinished(branch) && <Changes {...{ place, branch, selection, resolutions }} />}
        </>
      )}
      <SelectionBar selection={selection}>
        <Allowed right="write">
          <button type="button" onClick={() => setOpen({ what: "merge", paths: selection.chosen })}>
            Merge these …
          </button>
        </Allowed>
      </SelectionBar>
      {data && open && (
        <BranchDialog
          {...{ projectId, open, reload, resolutions }}
          {...data}
          onClose={() => setOpen(null)}
          onMerged={merged}
        />
      )}
    </section>
  );
}

interface SummaryProperties {
  readonly projectId: string;
  readonly branch: BranchDetails;
}

function Summary({ projectId, branch }: SummaryProperties) {
  const { title, note, state, directory, path, fileCount, createdAt, updatedAt, expiresAt, mergedBy } =
    branch;
  // Nothing is known of merges before this was recorded.
  const isMergerKnown = (mergedBy?.keyName ?? mergedBy?.account) !== undefined;
  const folder = (directory: string, text: string) => (
    <a href={hrefOf({ name: "files", projectId, directory })}>{visible(text)}</a>
  );
  return (
    <>
      {title && <p>{visible(title)}</p>}
      <p class="facts">
        <StateTag state={state} />
        <span>{formatCount(fileCount, "file")} of {folder(directory, directory || "the project")}</span>
        <span>by {authorName(branch.createdBy)}</span>
        {mergedBy && isMergerKnown && <span>merged by {authorName(mergedBy)}</span>}
        <span>
          created <Age iso={createdAt} />, changed <Age iso={updatedAt} />
        </span>
        {isUnfinished(branch) && (
          <>
            <span>
              closes <Age iso={expiresAt} />
            </span>
            <span>{folder(path, "Open its files")}</span>
          </>
        )}
      </p>
      {note && <p class="note">{visible(note)}</p>}
    </>
  );
}

interface ChangesProperties {
  readonly place: BranchPlace;
  readonly branch: BranchDetails;
  readonly selection: Selection;
  readonly resolutions: Resolutions;
}

function Changes({ place, branch, selection, resolutions }: ChangesProperties) {
  const { projectId, after, file } = place;
  const { changes, counts: { added, modified, deleted, conflicts } } = branch;
  const shown = changes.find(({ path }) => path === file);
  if (changes.length === 0) {
    const title = after === undefined ? "Nothing has changed here yet." : "There are no more changes.";
    return <Empty icon="branch" {...{ title }} />;
  }
  return (
    <>
      <p class="facts" role="status">
        <span>{added} added, {modified} modified, {deleted} deleted</span>
        {conflicts > 0 && (
          <span class="removed-count">
            {formatCount(conflicts, "conflict")}: open a file to resolve it
          </span>
        )}
      </p>
      <ChangesTable {...{ place, changes, selection, resolutions }} />
      {branch.hasMore && (
        <button
          type="button"
          onClick={() => goTo({ ...place, after: changes.at(-1)?.path, file: undefined })}
        >
          More changes
        </button>
      )}
      {shown && (
        <ChangeDialog
          {...{ projectId, branch }}
          change={shown}
          resolution={resolutions.of(shown)}
          onResolve={(resolution) => resolutions.set(shown, resolution)}
          onClose={() => replaceWith({ ...place, file: undefined })}
        />
      )}
    </>
  );
}
