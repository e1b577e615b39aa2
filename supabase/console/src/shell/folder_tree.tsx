/** The folder tree. A branch is loaded when it is opened, unless a list has loaded it already. */
import { useEffect, useState } from "preact/hooks";
import { isCode, reasonOf } from "../api/failure.ts";
import { joinPath, visible } from "../format.ts";
import { Icon } from "../components/icon.tsx";
import { addFolders, foldersIn, loadFolders } from "../state/folders.ts";
import { useLive } from "../state/live.ts";
import { notifyProblem } from "../state/notices.ts";
import { currentDirectory } from "../state/projects.ts";
import { hrefOf, place } from "../state/router.ts";

interface BranchProperties {
  readonly projectId: string;
  readonly directory: string;
}

export function FolderTree({ projectId }: { readonly projectId: string }) {
  const names = foldersIn(projectId, "");
  useEffect(() => {
    // The view of the root folder loads its folders itself.
    const isListed = place.value.name === "files" && place.value.directory === "";
    if (names === undefined && !isListed) loadFolders(projectId, "").catch(() => {});
  }, []);
  useLive(projectId, (changes) => addFolders(projectId, changes ?? []));
  if (names === undefined || names.length === 0) return <div class="tree" />;
  return (
    <nav class="tree" aria-label="Folders">
      <Branch projectId={projectId} directory="" />
    </nav>
  );
}

function Branch({ projectId, directory }: BranchProperties) {
  const names = foldersIn(projectId, directory) ?? [];
  return (
    <ul>
      {names.map((name) => (
        <Folder key={name} projectId={projectId} name={name} directory={joinPath(directory, name)} />
      ))}
    </ul>
  );
}

function Folder({ projectId, name, directory }: BranchProperties & { readonly name: string }) {
  const here = currentDirectory();
  const leadsHere = here === directory || here.startsWith(`${directory}/`);
  const [isOpen, setOpen] = useState(leadsHere);
  const isKnown = foldersIn(projectId, directory) !== undefined;
  useEffect(() => {
    if (leadsHere) setOpen(true);
  }, [leadsHere]);
  useEffect(() => {
    // The view of the current folder already lists it.
    if (!isOpen || isKnown || here === directory) return;
    loadFolders(projectId, directory).catch((error) => {
      // The banner and the sign-in page report these errors.
      if (!isCode(error, "OFFLINE", "INVALID_SESSION")) notifyProblem(reasonOf(error));
    });
  }, [isOpen, isKnown, here]);
  const isLeaf = foldersIn(projectId, directory)?.length === 0;
  return (
    <li>
      <div class="tree-row">
        <button
          type="button"
          class="twist"
          aria-label={`${isOpen ? "Close" : "Open"} ${visible(directory)}`}
          aria-expanded={isOpen}
          disabled={isLeaf}
          onClick={() => setOpen(!isOpen)}
        >
          {!isLeaf && <Icon name="chevron" />}
        </button>
        <a
          href={hrefOf({ name: "files", projectId, directory })}
          aria-current={here === directory ? "true" : undefined}
        >
          <Icon name="folder" />
          {visible(name)}
        </a>
      </div>
      {isOpen && isKnown && <Branch projectId={projectId} directory={directory} />}
    </li>
  );
}
