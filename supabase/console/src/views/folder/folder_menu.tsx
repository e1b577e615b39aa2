/** @jsxImportSource preact */
/// <reference lib="dom" />
/** What can be done with a folder: on its row, and on its own page. */
import { useState } from "preact/hooks";
import { Icon } from "../../components/icon.tsx";
import { MenuButton } from "../../components/menu_button.tsx";
import { TimeDialog } from "../../components/time_dialog.tsx";
import { directoryOf, nameOf } from "../../format.ts";
import { downloadFolder } from "../../state/archive.ts";
import { goTo } from "../../state/router.ts";
import { DeleteSelectedDialog } from "./delete_selected_dialog.tsx";
import { type FolderChangeKind, FolderDialog } from "./folder_dialog.tsx";

interface Properties {
  readonly projectId: string;
  /** Empty for the root, which can only be downloaded and looked at as it was. */
  readonly path: string;
  /** On its own page, which goes along when the folder does. */
  readonly isPage?: boolean;
}

export function FolderMenu({ projectId, path, isPage = false }: Properties) {
  const [open, setOpen] = useState<FolderChangeKind | "delete" | "time" | null>(null);
  const show = (directory: string) => isPage && goTo({ name: "files", projectId, directory });
  const name = path === "" ? "the project" : nameOf(path);
  const change = [
    { text: "Rename …", run: () => setOpen("rename") },
    { text: "Move …", run: () => setOpen("move") },
    { text: "Copy …", run: () => setOpen("copy") },
  ];
  const actions = [
    ...(path === "" ? [] : change),
    { text: "Download as ZIP", run: () => downloadFolder(projectId, path) },
    { text: "As it was …", run: () => setOpen("time") },
    ...(path === "" ? [] : [{ text: "Delete …", isDangerous: true, run: () => setOpen("delete") }]),
  ];
  const onClose = () => setOpen(null);
  return (
    <>
      <MenuButton label={`Actions for ${name}`} actions={actions} class={isPage ? "" : "icon-button"}>
        <Icon name="more" />
      </MenuButton>
      {open === "delete" && (
        <DeleteSelectedDialog
          {...{ projectId, onClose }}
          selected={{ files: [], folders: [path] }}
          onDone={() => show(directoryOf(path))}
        />
      )}
      {open === "time" && (
        <TimeDialog
          title={`Look at ${name} as it was`}
          onChoose={(at) => goTo({ name: "files", projectId, directory: path, at })}
          onClose={onClose}
        />
      )}
      {(open === "rename" || open === "move" || open === "copy") && (
        <FolderDialog kind={open} {...{ projectId, path, onClose }} onDone={show} />
      )}
    </>
  );
}
