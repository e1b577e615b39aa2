/** The toolbar of a file: one primary action, the download, and a menu. */
import { may } from "../../state/projects.ts";
import { useState } from "preact/hooks";
import type { FileRecord } from "../../api/files.ts";
import { useCommands } from "../../components/commands.ts";
import { Icon } from "../../components/icon.tsx";
import { MenuButton } from "../../components/menu_button.tsx";
import { mayBeEdited } from "../../components/shown_type.ts";
import { directoryOf, nameOf, visible } from "../../format.ts";
import { remove } from "../../state/remove_file.ts";
import { type FilePlace, type FileTab, goTo, hrefOf } from "../../state/router.ts";
import { download } from "../../state/transfers.ts";
import { PurgeDialog } from "../erase/purge_dialog.tsx";
import { canFollow } from "./content_tab.tsx";
import { LinksDialog, PathDialog } from "./file_dialogs.tsx";
import { FollowToggle } from "./follow_view.tsx";

type Question = "links" | "move" | "copy" | "erase";

interface Properties {
  readonly place: FilePlace;
  readonly record: FileRecord;
}

export function FileTools({ place, record }: Properties) {
  const { projectId, path } = place;
  const [question, ask] = useState<Question | null>(null);
  const isEditable = may("write") && mayBeEdited(record);
  const deleteFile = async () => {
    if (await remove(place)) goTo({ name: "files", projectId, directory: directoryOf(path) });
  };
  const downloadShown = () => download(place, place.version ?? record.version);
  const show = (tab: FileTab) => () => goTo({ name: "file", projectId, path, tab });
  const writing = [
    { text: "Links …", icon: "link", run: () => ask("links") },
    { text: "Move or rename …", icon: "edit", run: () => ask("move") },
    { text: "Copy …", icon: "copy", run: () => ask("copy") },
    { text: "Delete", icon: "trash", isDangerous: true, run: () => void deleteFile() },
  ] as const;
  const erasing = [
    { text: "Erase for good …", icon: "trash", isDangerous: true, isApart: true, run: () => ask("erase") },
  ] as const;
  const actions = [
    { text: "Compare versions", icon: "copy", run: show("compare") } as const,
    ...may("write") ? writing : [],
    ...may("admin") ? erasing : [],
  ];
  const direct = [
    ...isEditable ? [{ text: "Edit", icon: "edit", run: show("edit") } as const] : [],
    { text: "Download", icon: "download", run: downloadShown },
    { text: "History", icon: "history", run: show("history") },
  ] as const;
  const about = nameOf(path);
  useCommands(
    [...direct, ...actions].map(({ text, icon, run }) => ({ id: `file ${text}`, text, about, icon, run })),
  );
  return (
    <div class="tools">
      {canFollow(place, record) && <FollowToggle place={place} />}
      <button type="button" class={isEditable ? "" : "primary"} onClick={downloadShown}>
        <Icon name="download" />Download
      </button>
      {isEditable && (
        <a class="button primary" href={hrefOf({ name: "file", projectId, path, tab: "edit" })}>
          <Icon name="edit" />Edit
        </a>
      )}
      <MenuButton label={`Actions for ${visible(about)}`} actions={actions} class="icon-button framed">
        <Icon name="more" />
      </MenuButton>
      {question && <QuestionDialog {...{ place, record, question }} onClose={() => ask(null)} />}
    </div>
  );
}

interface QuestionProperties extends Properties {
  readonly question: Question;
  readonly onClose: () => void;
}

function QuestionDialog(
  { place: { projectId, path, version }, record, question, onClose }: QuestionProperties,
) {
  if (question === "links") {
    return <LinksDialog {...{ projectId, path, onClose }} version={version ?? record.version} />;
  }
  if (question !== "erase") return <PathDialog kind={question} {...{ projectId, path, onClose }} />;
  return (
    <PurgeDialog
      {...{ projectId, path, onClose }}
      onErased={() => goTo({ name: "files", projectId, directory: directoryOf(path) })}
    />
  );
}
