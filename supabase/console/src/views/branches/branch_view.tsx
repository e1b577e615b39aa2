/** A branch: what has changed in it, its conflicts with a choice for each, and its merge or update. */
import { useState } from "preact/hooks";
import { type BranchDetails, changeBranch, isUnfinished, type MergeKind, readBranch } from "../../api/branches.ts";
import { readCursor } from "../../api/changes.ts";
import { reasonOf } from "../../api/failure.ts";
import { useCommands } from "../../components/commands.ts";
import { Icon } from "../../components/icon.tsx";
import { Age } from "../../components/list.tsx";
import { MenuButton } from "../../components/menu_button.tsx";
import { Empty, Pending } from "../../components/states.tsx";
import { SelectionBar, useSelection } from "../../components/selection.tsx";
import { formatCount, visible } from "../../format.ts";
import { announceChange } from "../../state/changes.ts";
import { notify, notifyProblem } from "../../state/notices.ts";
import { type BranchPlace, goTo, hrefOf, replaceWith } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";
import { creatorOf, StateTag } from "./branch_state.tsx";
import { ChangeDialog } from "./change_dialog.tsx";
import { ChangesTable } from "./changes_table.tsx";
import { CloseDialog } from "./close_dialog.tsx";
import { KeyDialog } from "./key_dialog.tsx";
import { MergeDialog } from "./merge_dialog.tsx";
import { MergedRuns } from "./merged_runs.tsx";
import { useResolutions } from "./resolutions.ts";

type Open =
  | { readonly what: "key" | "close" }
  | { readonly what: MergeKind; readonly paths?: readonly string[] };

export function BranchView({ place }: { readonly place: BranchPlace }) {
  const { projectId, branch: name, after, file } = place;
  const [open, setOpen] = useState<Open | null>(null);
  const { data, error, reload } = useLoad(`branch ${projectId} ${name} ${after}`, async (signal) => {
    // Read first, so that a change after it is never taken for one that the person has seen.
    const cursor = await readCursor(projectId, signal);
    return { branch: await readBranch(projectId, name, { after }, signal), cursor };
  });
  const branch = data?.branch;
  const resolutions = useResolutions(branch?.changes ?? []);
  const selection = useSelection((branch?.changes ?? []).map(({ path }) => path));
  const canMerge = branch !== undefined && isUnfinished(branch);
  const close = () => setOpen(null);
  const mark = async (state: "open" | "ready") => {
    try {
      await changeBranch(projectId, name, { state });
      notify(`The branch is ${state}.`);
      reload();
    } catch (failure) {
      notifyProblem(reasonOf(failure));
    }
  };
  const more = [
    branch?.state === "ready"
      ? { text: "Not ready yet", run: () => void mark("open") }
      : { text: "Ready to merge", run: () => void mark("ready") },
    { text: "Close …", isDangerous: true, run: () => setOpen({ what: "close" }) },
  ];
  const main = [
    { text: "Merge …", icon: "branch" as const, run: () => setOpen({ what: "merge" }) },
    { text: "Update …", icon: "download" as const, run: () => setOpen({ what: "update" }) },
    { text: "Key …", icon: "key" as const, run: () => setOpen({ what: "key" }) },
  ];
  useCommands(
    canMerge
      ? [...main, ...more].map((command) => ({
        icon: "branch",
        ...command,
        id: `branch ${command.text}`,
        about: name,
      }))
      : [],
  );
  const shown = branch?.changes.find(({ path }) => path === file);
  return (
    <section class="view" aria-labelledby="branch-title">
      <div class="view-head">
        <h1 id="branch-title">Branch {name}</h1>
        <div class="tools">
          {canMerge &&
            main.map(({ text, icon, run }) => (
              <button key={text} type="button" class={icon === "branch" ? "primary" : ""} onClick={run}>
                <Icon name={icon} />
                {text}
              </button>
            ))}
          <button type="button" onClick={reload}>
            <Icon name="rotate" />Refresh
          </button>
          {canMerge && (
            <MenuButton label={`Actions for ${name}`} actions={more} class="">
              <Icon name="more" />
            </MenuButton>
          )}
        </div>
      </div>
      {branch === undefined ? <Pending {...{ error, reload }} what="the branch" /> : (
        <>
          <Summary {...{ projectId, branch }} />
          {branch.state === "merged" && <MergedRuns {...{ projectId, branch }} />}
          {canMerge && (
            <Changes
              {...{ branch, after, selection }}
              choiceOf={(change) => resolutions.of(change)}
              placeOf={(path) => ({ ...place, file: path })}
            />
          )}
          {branch.hasMore && (
            <button
              type="button"
              onClick={() => goTo({ ...place, after: branch.changes.at(-1)?.path })}
            >
              More changes
            </button>
          )}
        </>
      )}
      <SelectionBar selection={selection}>
        <button type="button" onClick={() => setOpen({ what: "merge", paths: selection.chosen })}>
          Merge these …
        </button>
      </SelectionBar>
      {branch && shown && (
        <ChangeDialog
          {...{ projectId, branch }}
          change={shown}
          resolution={resolutions.of(shown)}
          onResolve={(resolution) => resolutions.set(shown, resolution)}
          onClose={() => replaceWith({ ...place, file: undefined })}
        />
      )}
      {data && (open?.what === "merge" || open?.what === "update") && (
        <MergeDialog
          {...{ projectId, branch: data.branch, expected: data.cursor, onClose: close }}
          kind={open.what}
          paths={open.paths}
          resolutions={resolutions.all}
          onDone={() => {
            selection.clear();
            resolutions.clear();
            announceChange({});
            reload();
          }}
          onStale={reload}
        />
      )}
      {branch && open?.what === "key" && <KeyDialog {...{ projectId, branch, onClose: close }} />}
      {open?.what === "close" && (
        <CloseDialog {...{ projectId, onClose: close }} names={[name]} onDone={reload} />
      )}
    </section>
  );
}

interface SummaryProperties {
  readonly projectId: string;
  readonly branch: BranchDetails;
}

function Summary({ projectId, branch }: SummaryProperties) {
  const { title, note, state, directory, path, fileCount, createdAt, updatedAt, expiresAt } = branch;
  const folder = (directory: string, text: string) => (
    <a href={hrefOf({ name: "files", projectId, directory })}>{visible(text)}</a>
  );
  return (
    <>
      {title && <p>{visible(title)}</p>}
      <p class="facts">
        <StateTag state={state} />
        <span>{formatCount(fileCount, "file")} of {folder(directory, directory || "the project")}</span>
        <span>by {creatorOf(branch)}</span>
        <span>
          created <Age iso={createdAt} />, changed <Age iso={updatedAt} />
        </span>
        {isUnfinished(branch) && (
          <>
            <span>
              closes <Age iso={expiresAt} />
            </span>
            <span>{folder(path, "Its files")}</span>
          </>
        )}
      </p>
      {note && <p class="note">{visible(note)}</p>}
    </>
  );
}

interface ChangesProperties extends Omit<Parameters<typeof ChangesTable>[0], "changes"> {
  readonly branch: BranchDetails;
  readonly after: string | undefined;
}

function Changes({ branch, after, ...table }: ChangesProperties) {
  const { added, modified, deleted, conflicts } = branch.counts;
  if (branch.changes.length === 0) {
    return (
      <Empty
        icon="branch"
        title={after === undefined ? "Nothing has changed here yet." : "There are no more changes."}
      >
        <p>A key for the branch lets an agent work in it.</p>
      </Empty>
    );
  }
  return (
    <>
      <p class="facts" role="status">
        <span>{added} added, {modified} modified, {deleted} deleted</span>
        {conflicts > 0 && (
          <span class="removed-count">
            {formatCount(conflicts, "conflict")}: open a file to choose what it becomes
          </span>
        )}
      </p>
      <ChangesTable changes={branch.changes} {...table} />
    </>
  );
}
