import type { BranchChange, Resolution } from "../../api/branches.ts";
import { fileIcon } from "../../components/file_icon.ts";
import { ListTable, RowLink } from "../../components/list.tsx";
import { Pick, PickAll, type Selection } from "../../components/selection.tsx";
import type { BranchPlace } from "../../state/router.ts";
import { describeChoice } from "./change_dialog.tsx";
import type { Resolutions } from "./resolutions.ts";

interface Properties {
  readonly place: BranchPlace;
  readonly changes: readonly BranchChange[];
  readonly selection: Selection;
  readonly resolutions: Resolutions;
}

/** The link of a row leads to both sides of its file, and to the choices for its conflict. */
export function ChangesTable({ place, changes, selection, resolutions }: Properties) {
  return (
    <ListTable
      caption="Changes in the branch"
      before={<PickAll selection={selection} what="changes" />}
      columns={[["File"], ["Change", "status"], ["Versions", "number extra"]]}
      onKeyDown={selection.onKeyDown}
    >
      {changes.map((change) => {
        const { path } = change;
        return (
          <tr key={path} data-key={path}>
            <Pick
              name={path}
              isChosen={selection.has(path)}
              onChoose={(isRange) => selection.choose(path, isRange)}
            />
            <td class="name">
              <RowLink
                to={{ ...place, file: path }}
                icon={change.change === "deleted" ? "trash" : fileIcon({ path })}
                text={path}
              />
            </td>
            <td class="status">
              {change.change} <Conflict change={change} choice={resolutions.of(change)} />
            </td>
            <td class="number extra">{versionsText(change)}</td>
          </tr>
        );
      })}
    </ListTable>
  );
}

interface ConflictProperties {
  readonly change: BranchChange;
  readonly choice: Resolution | undefined;
}

function Conflict({ change, choice }: ConflictProperties) {
  if (change.conflict !== true) return null;
  if (choice === undefined) return <span class="tag danger">conflict</span>;
  return <span class="tag active">{describeChoice(choice, change)}</span>;
}

/** `2, folder 4`: its version in the branch and that in the folder. */
function versionsText({ branch, current }: BranchChange): string {
  return `${branch ?? "–"}, folder ${current ?? "–"}`;
}
