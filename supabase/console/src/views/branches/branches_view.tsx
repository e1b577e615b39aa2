/** The branches of the project, newest first: what waits, what has been merged, and closing many at once. */
import { may } from "../../state/projects.ts";
import { Allowed } from "../../components/allowed.tsx";
import { useState } from "preact/hooks";
import { type Branch, isUnfinished, listBranches } from "../../api/branches.ts";
import { useCommands } from "../../components/commands.ts";
import { SelectField } from "../../components/form.tsx";
import { Icon } from "../../components/icon.tsx";
import { Age, ListTable, RowLink } from "../../components/list.tsx";
import { NewBranchDialog } from "../../components/new_branch_dialog.tsx";
import {
  keepFocus,
  Pick,
  PickAll,
  type Selection,
  SelectionBar,
  useSelection,
} from "../../components/selection.tsx";
import { Empty, Pending } from "../../components/states.tsx";
import { formatCount, formatNumber, visible } from "../../format.ts";
import { type BranchesPlace, goTo } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";
import { authorName, STATES, StateTag } from "./branch_state.tsx";
import { CloseDialog } from "./close_dialog.tsx";
import { type Counts, useCounts } from "./use_counts.ts";

export function BranchesView({ place }: { readonly place: BranchesPlace }) {
  const { projectId, state, after } = place;
  const [open, setOpen] = useState<"new" | "close" | null>(null);
  const { data, error, reload } = useLoad(
    `branches ${projectId} ${state} ${after}`,
    (signal) => listBranches(projectId, { state, after }, signal),
  );
  const branches = data?.branches ?? [];
  // The others cannot be closed.
  const selection = useSelection(branches.filter(isUnfinished).map(({ name }) => name));
  useCommands(
    may("write")
      ? [{ id: "new-branch", text: "New branch …", icon: "branch", run: () => setOpen("new") }]
      : [],
  );
  const closed = () => {
    selection.clear();
    keepFocus(selection.chosen);
    reload();
  };
  return (
    <section class="view" aria-labelledby="branches-title">
      <div class="view-head">
        <h1 id="branches-title">Branches</h1>
        <div class="tools">
          <Allowed right="write">
            <button type="button" class="primary" onClick={() => setOpen("new")}>
              <Icon name="plus" />New branch
            </button>
          </Allowed>
          <button type="button" onClick={reload}>
            <Icon name="rotate" />Refresh
          </button>
        </div>
      </div>
      <div class="filter">
        <SelectField
          label="State"
          value={state ?? ""}
          onChange={(chosen) =>
            goTo({ ...place, after: undefined, state: STATES.find((one) => one === chosen) })}
          options={[["", "all"], ...STATES.map((one) => [one, one] as const)]}
        />
      </div>
      {data === undefined
        ? <Pending {...{ error, reload }} what="the branches" />
        : branches.length === 0
        ? <NoBranches isFiltered={state !== undefined || after !== undefined} />
        : <Table {...{ projectId, branches, selection }} />}
      {data?.hasMore && (
        <button type="button" onClick={() => goTo({ ...place, after: data.cursor })}>Older branches</button>
      )}
      <SelectionBar selection={selection}>
        <Allowed right="write">
          <button type="button" class="danger" onClick={() => setOpen("close")}>Close …</button>
        </Allowed>
      </SelectionBar>
      {open === "new" && <NewBranchDialog {...{ projectId }} directory="" onClose={() => setOpen(null)} />}
      {open === "close" && (
        <CloseDialog
          {...{ projectId }}
          names={selection.chosen}
          onClose={() => setOpen(null)}
          onDone={closed}
        />
      )}
    </section>
  );
}

function NoBranches({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty icon="branch" title="No matching branches." />;
  return (
    <Empty icon="branch" title="There are no branches yet.">
      <p>A branch is a copy of a folder, in which an agent works apart until a person merges it.</p>
    </Empty>
  );
}

interface TableProperties {
  readonly projectId: string;
  readonly branches: readonly Branch[];
  readonly selection: Selection;
}

function Table({ projectId, branches, selection }: TableProperties) {
  const counts = useCounts(projectId, branches);
  return (
    <ListTable
      class="list branches"
      caption="Branches, newest first"
      before={<PickAll selection={selection} what="unfinished branches" />}
      columns={[
        ["Branch"],
        ["State", "status"],
        ["By", "extra"],
        ["Files", "number extra"],
        ["Changes", "counts"],
        ["Created", "when"],
      ]}
      onKeyDown={selection.onKeyDown}
    >
      {branches.map((branch) => (
        <Row
          key={branch.name}
          {...{ projectId, branch, selection }}
          counts={counts.get(branch.name)}
        />
      ))}
    </ListTable>
  );
}

interface RowProperties {
  readonly projectId: string;
  readonly branch: Branch;
  readonly counts: Counts | undefined;
  readonly selection: Selection;
}

function Row({ projectId, branch, counts, selection }: RowProperties) {
  const { name, title, directory, fileCount, createdAt } = branch;
  return (
    <tr data-key={name} class={isUnfinished(branch) ? "" : "faded"}>
      {isUnfinished(branch)
        ? (
          <Pick
            {...{ name }}
            isChosen={selection.has(name)}
            onChoose={(isRange) => selection.choose(name, isRange)}
          />
        )
        : <td class="pick" />}
      <td class="name">
        <RowLink to={{ name: "branch", projectId, branch: name }} icon="branch" text={name} />
        <p class="hint">
          {title && `${visible(title)} · `}of {directory === "" ? "the project" : visible(directory)}
        </p>
      </td>
      <td class="status">
        <StateTag state={branch.state} />
      </td>
      <td class="extra">{authorName(branch.createdBy)}</td>
      <td class="number extra">{formatNumber(fileCount)}</td>
      <td class="counts">
        {counts && formatNumber(counts.added + counts.modified + counts.deleted)}
        {counts && counts.conflicts > 0 && (
          <span class="tag danger">{formatCount(counts.conflicts, "conflict")}</span>
        )}
      </td>
      <td class="when">
        <Age iso={createdAt} />
      </td>
    </tr>
  );
}
