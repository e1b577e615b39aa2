/** What can be done with an unfinished branch, and the dialogs of it. */
import { may } from "../../state/projects.ts";
import { type BranchDetails, changeBranch, type MergeKind } from "../../api/branches.ts";
import { reasonOf } from "../../api/failure.ts";
import { useCommands } from "../../components/commands.ts";
import { Icon } from "../../components/icon.tsx";
import { MenuButton } from "../../components/menu_button.tsx";
import { notify, notifyProblem } from "../../state/notices.ts";
import { CloseDialog } from "./close_dialog.tsx";
import { KeyDialog } from "./key_dialog.tsx";
import { MergeDialog } from "./merge_dialog.tsx";
import type { Resolutions } from "./resolutions.ts";

/** The open dialog. */
export interface Open {
  readonly what: MergeKind | "key" | "close";
  /** The files that are merged; left out for all of them. */
  readonly paths?: readonly string[];
}

interface ToolsProperties {
  readonly projectId: string;
  readonly branch: BranchDetails;
  readonly reload: () => void;
  readonly onOpen: (what: Open["what"]) => void;
}

export function BranchTools({ projectId, branch: { name, state }, reload, onOpen }: ToolsProperties) {
  const mark = async (state: "open" | "ready") => {
    try {
      await changeBranch(projectId, name, { state });
      notify(`The branch is ${state}.`);
      reload();
    } catch (failure) {
      notifyProblem(reasonOf(failure));
    }
  };
  const merging = [
    { text: "Merge …", icon: "branch", run: () => onOpen("merge") },
    { text: "Update …", icon: "download", run: () => onOpen("update") },
  ] as const;
  const key = { text: "Key …", icon: "key", run: () => onOpen("key") } as const;
  const main = [...merging, ...may("admin") ? [key] : []];
  const more = [
    state === "ready"
      ? { text: "Mark as not ready", run: () => void mark("open") }
      : { text: "Mark as ready", run: () => void mark("ready") },
    { text: "Close …", isDangerous: true, run: () => onOpen("close") },
  ];
  useCommands([
    ...main.map((command) => ({ ...command, id: `branch ${command.text}`, about: name })),
    ...more.map(({ text, run }) =>
      ({ text, run, icon: "branch", id: `branch ${text}`, about: name }) as const
    ),
  ]);
  return (
    <>
      {main.map(({ text, icon, run }) => (
        <button key={text} type="button" class={icon === "branch" ? "primary" : ""} onClick={run}>
          <Icon name={icon} />
          {text}
        </button>
      ))}
      <MenuButton label={`Actions for ${name}`} actions={more} class="">
        <Icon name="more" />
      </MenuButton>
    </>
  );
}

interface DialogProperties {
  readonly projectId: string;
  readonly branch: BranchDetails;
  /** The cursor at which the branch was read. */
  readonly cursor: string;
  readonly open: Open;
  readonly resolutions: Resolutions;
  readonly reload: () => void;
  readonly onClose: () => void;
  readonly onMerged: () => void;
}

export function BranchDialog(properties: DialogProperties) {
  const { projectId, branch, cursor, open, resolutions, reload, onClose, onMerged } = properties;
  switch (open.what) {
    case "key":
      return <KeyDialog {...{ projectId, branch, onClose }} />;
    case "close":
      return <CloseDialog {...{ projectId, onClose }} names={[branch.name]} onDone={reload} />;
    default:
      return (
        <MergeDialog
          {...{ projectId, branch, onClose }}
          kind={open.what}
          paths={open.paths}
          resolutions={resolutions.all}
          expected={cursor}
          onDone={onMerged}
          onStale={reload}
        />
      );
  }
}
