/** The actions of a folder, on its row and on its own page. */
import { may } from "../../state/projects.ts";
import { useCommands } from "../../components/commands.ts";
import { Icon } from "../../components/icon.tsx";
import { MenuButton } from "../../components/menu_button.tsx";
import { NewBranchDialog } from "../../components/new_branch_dialog.tsx";
import { TimeDialog } from "../../components/time_dialog.tsx";
import { directoryOf, nameOf, visible } from "../../format.ts";
import { downloadFolder } from "../../state/archive.ts";
import { goTo } from "../../state/router.ts";
import { DeleteSelectedDialog } from "./selected_dialogs.tsx";
import { type FolderChangeKind, FolderDialog } from "./folder_dialog.tsx";

/** A choice in the menu of a folder that opens a dialog. */
export interface FolderQuestion {
  readonly what: FolderChangeKind | "delete" | "time" | "branch";
  readonly path: string;
  /** The menu is on the folder's own page, which follows the folder when it moves. */
  readonly isPage: boolean;
}

interface MenuProperties {
  readonly projectId: string;
  /** Empty for the root, which can only be downloaded, viewed at a past time, and copied to a branch. */
  readonly path: string;
  readonly isPage?: boolean;
  readonly onAsk: (question: FolderQuestion) => void;
}

export function FolderMenu({ projectId, path, isPage = false, onAsk }: MenuProperties) {
  const ask = (what: FolderQuestion["what"]) => () => onAsk({ what, path, isPage });
  const change = [
    { text: "Rename …", run: ask("rename") },
    { text: "Move …", run: ask("move") },
    { text: "Copy …", run: ask("copy") },
  ];
  const actions = [
    ...(path !== "" && may("write") ? change : []),
    { text: "Download as ZIP", run: () => downloadFolder(projectId, path) },
    { text: "View at a past time …", run: ask("time") },
    ...(isInBranch(path) || !may("write") ? [] : [{ text: "New branch …", run: ask("branch") }]),
    ...(path === "" || !may("write") ? [] : [{ text: "Delete …", isDangerous: true, run: ask("delete") }]),
  ];
  useCommands(
    isPage
      ? actions.map(({ text, run }) => ({
        id: `folder ${text}`,
        text,
        about: titleOf(path),
        icon: "folder",
        run,
      }))
      : [],
  );
  return (
    <MenuButton
      label={`Actions for ${visible(titleOf(path))}`}
      actions={actions}
      class={isPage ? "" : "icon-button"}
    >
      <Icon name="more" />
    </MenuButton>
  );
}

interface DialogProperties {
  readonly projectId: string;
  readonly question: FolderQuestion;
  readonly onClose: () => void;
}

/** The dialog for a choice. It is rendered outside of the list, so that the list's keys and styles do not apply to it. */
export function FolderQuestionDialog({ projectId, question, onClose }: DialogProperties) {
  const { what, path, isPage } = question;
  const show = (directory: string) => isPage && goTo({ name: "files", projectId, directory });
  if (what === "time") {
    return (
      <TimeDialog
        title={`View ${visible(titleOf(path))} at a past time`}
        onChoose={(at) => goTo({ name: "files", projectId, directory: path, at })}
        onClose={onClose}
      />
    );
  }
  if (what === "branch") return <NewBranchDialog {...{ projectId, onClose }} directory={path} />;
  if (what === "delete") {
    return (
      <DeleteSelectedDialog
        {...{ projectId, onClose }}
        selected={{ files: [], folders: [path] }}
        onDone={() => show(directoryOf(path))}
      />
    );
  }
  return <FolderDialog kind={what} {...{ projectId, path, onClose }} onDone={show} />;
}

/** A branch of a branch is refused. */
function isInBranch(path: string): boolean {
  return `${path}/`.startsWith(".branches/");
}

function titleOf(path: string): string {
  return path === "" ? "the project" : nameOf(path);
}
